// Listed parent sets laid out flat, and what can be said of them without bounds: which sets another one dominates, which
// variables can lie on a common cycle.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "local_scores.hpp"

namespace spinney {

// Families in the order of their children. A cost is the loss against the child's best listed set, so it is never
// negative, and its digits are those of the differences, however large the scores.
struct Families {
    int variables = 0;
    std::vector<int> first;                              // child -> its first family; one more at the end
    std::vector<int> child;                              // family -> child
    std::vector<double> cost;
    std::vector<int> at;                                 // family -> its first parent; one more at the end
    std::vector<int> members;                            // parents, one family after another

    int size() const { return static_cast<int>(child.size()); }
    std::span<const int> parents(int family) const {
        return {members.data() + at[family], static_cast<std::size_t>(at[family + 1] - at[family])};
    }
};

Families flat(const ListedSets& sets);

// Sets of few numbers: is one of them within a given one? A look per subset, where comparing with each would take a second for
// ten thousand sets.
class SmallSets {
public:
    // Whether it is one to ask about.  REQUIRES: sorted, as everywhere here.
    static bool small(std::span<const int> set) { return set.size() <= 4 && (set.empty() || set.back() < 0xffff); }
    void add(std::span<const int> set) {
        if (small(set)) packed_.insert(pack(set, ~0u));
    }
    bool one_within(std::span<const int> set) const {    // REQUIRES: small(set)
        for (unsigned chosen = 0; chosen < 1u << set.size(); ++chosen)
            if (packed_.contains(pack(set, chosen))) return true;
        return false;
    }

private:
    static std::uint64_t pack(std::span<const int> set, unsigned chosen) {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < set.size(); ++i)
            if (chosen >> i & 1) word = word << 16 | static_cast<std::uint64_t>(set[i] + 1);
        return word;
    }
    std::unordered_set<std::uint64_t> packed_;
};

// Per child the places of the sets that no listed subset equals or beats. REQUIRES: best first; among equals the smaller first.
std::vector<std::vector<int>> undominated(const ListedSets& sets);

// Strongly connected components of child -> parent over all listed sets: parents' components come first, members sorted.
std::vector<std::vector<int>> components(const std::vector<std::vector<int>>& graph);

// The best family of every child whose parents come before it; -1 where there is none.
std::vector<int> along(const Families& families, const std::vector<int>& order);

// Of the families with `alive`, those that close a cycle with edges that all alive families of some child share. All of a child's
// may be among them: there is no DAG.
std::vector<int> closing(const Families& families, std::vector<char> alive);

}  // namespace spinney
