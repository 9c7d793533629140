// Greedy equivalence search: over classes of Markov equivalent DAGs, for any scores.
#pragma once

#include <vector>

#include "allowed.hpp"
#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

struct GesRequest {
    std::vector<std::vector<int>> start;                 // parents per child, sorted; acyclic and allowed
    const Allowed& allowed;
    bool equivalent = true;                              // the scores are equal on Markov equivalent DAGs
    bool extended = true;                                // force deletes, too
};

struct GesResult {
    std::vector<std::vector<int>> parents;               // of the member
    std::vector<std::vector<int>> directed, undirected;  // the class, per variable: compelled parents; neighbours that come before it
    double score = 0;                                    // of the member
    std::vector<double> local;
    std::vector<std::pair<double, double>> trace;        // (seconds, score so far)
    std::size_t steps = 0;                               // operators applied
};

GesResult ges(LocalScores& scores, const GesRequest& request, Team& team, Control& control);

}  // namespace spinney
