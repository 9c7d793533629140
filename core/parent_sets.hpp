// Step 1: all parent sets up to a size, scored, bounded, pruned.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "allowed.hpp"
#include "known.hpp"
#include "table_score.hpp"
#include "threads.hpp"

namespace spinney {

// Part of Step 1, whose smaller sets are known: sets of one size. Where sets of variables are walked (the table scores), tasks
// [begin, end) of walk_tasks; else sets [begin, end) of one child, in lexicographic order.
struct Block {
    int size = -1, child = -1;
    std::uint64_t begin = 0, end = 0;
};

struct SetsRequest {
    const Allowed& allowed;
    bool prune = true;                                   // drop a set that is no better than one of its subsets
    bool bounds = true;                                  // do not score sets that provably would be dropped
    bool partial = false;                                // after a stop, hand out what was scored before it
    double most_bytes = 0;                               // of one family, where families can be left out; 0: no limit
    const KnownScores* known = nullptr;                  // scored already: taken as they are
    FamilyLog* log = nullptr;                            // what is scored is told here, a lane per thread
    const Block* block = nullptr;                        // nothing but this; what is found stands in the log alone
    bool only_known = false;                             // score nothing: the sets among what is known
};

class KeptSets {                                         // of one child
public:
    void clear() { sets_.clear(), first_.clear(), members_.clear(); }
    // REQUIRES: sizes do not fall; lexicographic within a size.
    void add(double score, std::span<const int> parents) {
        while (first_.size() <= parents.size()) first_.push_back(static_cast<std::uint32_t>(sets_.size()));
        sets_.emplace_back(score, static_cast<std::uint32_t>(sets_.size()));
        members_.insert(members_.end(), parents.begin(), parents.end());
    }
    // Best first; among equal scores the order in which they came.
    void sort();
    std::size_t size() const { return sets_.size(); }
    std::size_t members() const { return members_.size(); }
    void write(double* scores, std::int32_t* sizes, std::int32_t* parents) const;

private:
    std::vector<std::pair<double, std::uint32_t>> sets_; // score, when it came
    std::vector<std::uint32_t> first_;                   // [k]: how many came with fewer than k parents
    std::vector<std::int32_t> members_;
};

struct ScoredSets {                                      // of all children, one after another in three arrays
    std::unique_ptr<double[]> scores;
    std::unique_ptr<std::int32_t[]> sizes, parents;
    std::vector<std::size_t> sets_end, parents_end;      // per child
    std::uint64_t families = 0, scored = 0;              // how many there are, how many were counted and scored
    std::uint64_t known = 0;                             // how many had been scored before
    std::uint64_t looked = 0;                            // how many were scored or proven needless before a stop
    std::uint64_t left_out = 0;                          // how many would have needed too much memory

    void reserve(std::span<const std::pair<std::size_t, std::size_t>> needed);       // per child: how many sets, parents in all
    void put(std::size_t child, const KeptSets& kept);   // children may come at the same time
    void pack(std::vector<KeptSets>&& children, Team& team);
};

// Two scores count as equal within this share of their size plus the number of rows: rounding must not decide.
constexpr double tie = 1e-12;

// The tasks of one size over sets of variables: the first variable, or the first two (else -1) where that is too few to share.
std::vector<std::pair<int, int>> walk_tasks(const Allowed& allowed, int size, bool pairs);
// For blocks the same on every machine.
inline bool by_pairs(const Allowed& allowed) { return allowed.variables() < 128; }

ScoredSets score_parent_sets(const Data& data, const ScoreSpec& spec, const SetsRequest& request, Team& team, Control& control);

}  // namespace spinney
