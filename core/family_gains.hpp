// Scores of families, remembered, and which further parents of a family gain: what greedy equivalence search asks.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allowed.hpp"
#include "local_scores.hpp"
#include "set_key.hpp"
#include "threads.hpp"

namespace spinney {

struct Extension {                                       // of a family by one parent more
    double score = 0;
    std::vector<std::pair<int, double>> gains;           // (parent, gain) of those that gain
};
using SharedExtension = std::shared_ptr<const Extension>;
using Reduction = std::vector<double>;                   // what a family gains without each of its parents
using SharedReduction = std::shared_ptr<const Reduction>;

// All sets are sorted. Whatever scores throws Stopped when the control says stop.
class FamilyGains {
public:
    using Set = std::vector<int>;

    FamilyGains(LocalScores& scores, const Allowed& allowed, Team& team, Control& control);

    // Scores these families, one per child, which tells what differences are rounding; then, of the children without parents, who
    // gains as the only one. Until all_pairs() no other parent is offered to a child (Ramsey 2015).
    void begin(const std::vector<Set>& families);
    void all_pairs();

    double score(int child, const Set& parents);
    double score_with(int child, const Set& parents, int more);      // REQUIRES: not among them
    double score_without(int child, const Set& parents, int less);   // REQUIRES: among them
    // Clamped, so that sums of them are numbers.
    double gain_of(double after, double before) const;
    // A gain in units below which differences are rounding; 0 for minus infinity.
    std::int64_t rank_of(double gain) const;

    SetKey key(const Set& set) const;
    SharedExtension extension(int child, const Set& parents);
    SharedReduction reduction(int child, const Set& parents);
    // Extensions of many, by all threads, to be asked for later.
    void prepare(const std::vector<std::pair<int, Set>>& families);
    bool known(int child, const Set& parents) const { return extensions_.count({child, key(parents)}) > 0; }

private:
    struct FamilyKey {
        int child;
        SetKey set;
        bool operator==(const FamilyKey&) const = default;
    };
    struct FamilyHash {
        std::size_t operator()(const FamilyKey& key) const { return key.set.low ^ mixed_bits(key.child + 1); }
    };
    LocalScores& of_thread(int thread);
    template <class Make> double score(int child, const SetKey& parents, Make make);
    SharedExtension extend(LocalScores& scores, int child, const Set& parents) const;
    void make_room(std::size_t gains);
    void remember(int child, const SetKey& parents, SharedExtension extension);

    LocalScores& scores_;
    const Allowed& allowed_;
    Team& team_;
    Control& control_;
    const int n_;
    bool full_ = true;                                   // all are offered as parents, not only those that gain alone
    std::vector<Set> near_;                              // per variable: who gains as its only parent
    std::vector<SetKey> keys_;
    SetCache<double> families_;
    std::unordered_map<FamilyKey, SharedExtension, FamilyHash> extensions_;
    std::unordered_map<FamilyKey, SharedReduction, FamilyHash> reductions_;
    std::size_t remembered_ = 0;                         // gains in them
    std::vector<std::unique_ptr<LocalScores>> others_;   // per thread
    double quantum_ = 1e-11;
};

}  // namespace spinney
