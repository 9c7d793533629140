// Listed parent sets, laid out for the question "the best set within the predecessors".
#pragma once

#include <cstdint>
#include <vector>

#include "local_scores.hpp"

namespace spinney {

inline std::uint64_t bit(int i) { return std::uint64_t{1} << (i & 63); }

// Made once, read by any number of searches.
class OrderTables {
public:
    explicit OrderTables(const ListedSets& sets);        // REQUIRES: sets outlive this
    int variables() const { return static_cast<int>(children_.size()); }

private:
    friend class OrderSearch;
    struct Relation {                                    // another variable that may be a parent or a child
        int other;
        int as_parent = -1;                              // its bit among this variable's candidates
        int as_child = -1;                               // this variable's bit among its candidates
        int best_as_parent = 0, best_as_child = 0;       // the best set that makes it so
    };
    struct Child {
        std::vector<int> candidates;                     // everyone in one of its sets; bit i of a mask is candidates[i]
        int words = 1;
        std::vector<std::uint64_t> masks;                // per set, best first; ends with an empty one, the lack of a set
        std::vector<double> scores;
        std::vector<int> holding, holding_from;          // per candidate: the sets that hold it, best first
        std::vector<int> best_holding;                   // the first of these, or past the end
        std::vector<std::uint64_t> names;                // per candidate, for hashing
        int first_gain = 0;                              // where its candidates' gains are kept
        std::vector<Relation> relations;

        const std::uint64_t* mask(int set) const { return masks.data() + std::size_t(set) * words; }
        bool holds(int set, int candidate) const { return mask(set)[candidate / 64] >> (candidate % 64) & 1; }
    };

    const ListedSets& sets_;
    std::vector<Child> children_;
    int pairs_ = 0;
    double slack_ = 0;                                   // totals within this are equal
};

}  // namespace spinney
