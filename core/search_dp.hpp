// The best DAG over listed parent sets by dynamic programming over all subsets of variables.
#pragma once

#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

constexpr int most_dp_variables = 32;

struct DpResult {
    std::vector<std::vector<int>> parents;
    double score = 0;
    bool feasible = true, stopped = false;
};

// Bytes that dp() will allocate.
double dp_bytes(int variables, int threads);

// REQUIRES: at most most_dp_variables children; sets best first.
DpResult dp(const ListedSets& sets, Team& team, Control& control);

}  // namespace spinney
