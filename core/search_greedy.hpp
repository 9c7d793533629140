// Hill climbing and tabu search over DAGs.
#pragma once

#include <cstdint>
#include <vector>

#include "allowed.hpp"
#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

struct GreedyRequest {
    std::vector<std::vector<int>> start;                 // parents per child, sorted; acyclic and allowed
    const Allowed& allowed;
    int tabu = 0;                                        // how many past DAGs may not be visited again; 0: hill climbing
    int patience = 0;                                    // tabu: steps without a new best before it ends
    int restarts = 0;                                    // shakes in a row without a new best before it ends
    int shake = 4;                                       // covered edges turned in each walk through the class
    std::uint64_t seed = 0;
};

struct GreedyResult {
    std::vector<std::vector<int>> parents;
    double score = 0;
    std::vector<double> local;                           // per child: what the score is the sum of
    std::vector<std::pair<double, double>> trace;        // (seconds, best score so far)
};

GreedyResult greedy(LocalScores& scores, const GreedyRequest& request, Team& team, Control& control);

}  // namespace spinney
