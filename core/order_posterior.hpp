// Exact posterior probabilities of edges and of parent sets, over listed parent sets.
#pragma once

#include <vector>

#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

constexpr int most_posterior_variables = 28;

struct ExactPosterior {
    double log_sum = 0;                                  // log of the sum of e^score over all graphs, or over all orders and graphs
    std::vector<std::vector<double>> sets;               // per child, per listed set: its probability
    double rounding = 0;                                 // no probability is off by more
    bool feasible = true, stopped = false;
};

// Bytes that exact_posterior() will allocate.
double exact_posterior_bytes(int variables, bool orders, int threads);

// `orders`: every order of the variables counts, with all graphs that it allows; else every acyclic graph counts once.
// REQUIRES: at most most_posterior_variables children; no set listed twice; best first.
ExactPosterior exact_posterior(const ListedSets& sets, bool orders, Team& team, Control& control);

}  // namespace spinney
