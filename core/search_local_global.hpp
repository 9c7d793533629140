// One greedy search over the decision graphs of all nodes and the arcs between them.
#pragma once

#include <utility>
#include <vector>

#include "allowed.hpp"
#include "decision_graph.hpp"
#include "threads.hpp"

namespace spinney {

struct LocalGlobalResult {
    std::vector<std::vector<int>> parents;
    std::vector<Graph> graphs;                           // their values are without the prior on parent sets
    std::vector<std::pair<double, double>> trace;        // (seconds, score)
};

// Chickering, Heckerman and Meek (1997), Figure 5; and an arc goes when a merge has made its parent unneeded.
// A stop leaves the network of that moment: every step gains.
LocalGlobalResult local_global(const GraphData& data, const GraphSpec& spec, const Allowed& allowed, Team& team,
                               Control& control);

}  // namespace spinney
