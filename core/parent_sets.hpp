// Step 1: all parent sets up to a size, scored, bounded, pruned.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "table_score.hpp"
#include "threads.hpp"

namespace spinney {

struct SetsRequest {
    std::vector<std::vector<int>> candidates;            // per child, sorted, without the child
    std::vector<std::vector<int>> required;              // per child, sorted, a subset of its candidates
    std::vector<int> most;                               // per child: number of parents at the most
    bool prune = true;                                   // drop a set that is no better than one of its subsets
    bool bounds = true;                                  // do not score sets that provably would be dropped
};

struct KeptSets {                                        // of one child, best first
    struct Set { double score; std::int32_t size; std::size_t first; };
    std::vector<Set> sets;
    std::vector<std::int32_t> members;                   // a set's parents start at its `first`
};

struct ScoredSets {                                      // of all children, one after another in three arrays
    std::unique_ptr<double[]> scores;
    std::unique_ptr<std::int32_t[]> sizes, parents;
    std::vector<std::size_t> sets_end, parents_end;      // per child
    std::uint64_t families = 0, scored = 0;              // how many there are, how many were counted and scored

    void pack(std::vector<KeptSets>&& children, Team& team);
};

double count_families(const SetsRequest& request);

// Two scores count as equal within this share of their size plus the number of rows: rounding must not decide.
constexpr double tie = 1e-12;

ScoredSets score_parent_sets(const Data& data, const ScoreSpec& spec, const SetsRequest& request, Team& team, Control& control);

}  // namespace spinney
