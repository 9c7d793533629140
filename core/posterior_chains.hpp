// Posterior probabilities of edges by Markov chains, over listed parent sets of too many variables for exact sums.
#pragma once

#include <cstdint>
#include <vector>

#include "local_scores.hpp"
#include "threads.hpp"

namespace spinney {

constexpr int most_chain_variables = 512;

struct ChainRequest {
    bool orders = false;                                 // every order counts, with all graphs that it allows; else every graph once
    int chains = 2;
    std::uint64_t burn_in = 0, samples = 1000;           // sweeps: one move per variable, and graph moves
    std::uint64_t seed = 0;
    int networks = 0;                                    // of each chain, evenly spread over its samples
};

struct Chain {
    std::uint64_t samples = 0, batch_length = 1;
    std::vector<std::vector<double>> batches;            // sums over batch_length samples each: of edge [parent * n + child]
    std::vector<std::vector<double>> sets;               // sums over all samples: per child, per listed set
    std::vector<double> scores;                          // of a graph, per sample
    std::vector<std::vector<std::vector<int>>> networks;
    std::uint64_t moves = 0, moved = 0, reversals = 0, reversed = 0;
};

struct ChainResult {
    std::vector<Chain> chains;
    bool feasible = true, stopped = false;
};

// Each chain has its own seed; the team runs them side by side.  REQUIRES: at most most_chain_variables children; best first.
ChainResult posterior_chains(const ListedSets& sets, const ChainRequest& request, Team& team, Control& control);

}  // namespace spinney
