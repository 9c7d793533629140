// Best order score search: local search over orders of the variables, with scores asked as they are needed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "allowed.hpp"
#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

struct BossRequest {
    const Allowed& allowed;
    std::vector<std::vector<int>> start;                 // parents per child, sorted; acyclic and allowed; empty: none
    int runs = 1;
    int patience = 0;                                    // shakes per variable without a better order before a run ends
    std::uint64_t seed = 0;
};

struct BossResult {
    std::vector<std::vector<int>> parents;
    std::vector<int> order;
    double score = 0;
    std::vector<double> local;                           // per child: what the score is the sum of
    std::vector<std::pair<double, double>> trace;        // (seconds, best score so far)
};

// Runs from different orders, each by its own seed, on the team's threads; then the better parts of all in one.
BossResult boss(LocalScores& scores, const BossRequest& request, Team& team, Control& control);

// The parents that every variable takes of those before it.  REQUIRES: required parents come before.
BossResult project_order(LocalScores& scores, const Allowed& allowed, const std::vector<int>& order);

}  // namespace spinney
