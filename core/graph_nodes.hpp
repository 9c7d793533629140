// A finished decision graph: binary nodes, each once.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "graph_leaf.hpp"

namespace spinney {

struct GraphNode {
    int parent = -1;                                     // a column; -1: a leaf
    int left = -1, right = -1;                           // node numbers
    LevelSet goes_left = 0;
    int leaf = -1;
};

struct Graph {
    double value = 0;                                    // the sum over the leaves
    std::vector<GraphNode> nodes;                        // nodes[0] is the root; every node once, however many lead to it
    std::vector<std::vector<double>> exponents;          // per leaf and level of a discrete child
};

// Nodes without repetition: two that ask the same and lead to the same are one, and one that leads to one place is none.
class GraphBuilder {
public:
    explicit GraphBuilder(const GraphData& data) : data_(data) {}
    int leaf(int number);
    // REQUIRES: of an ordered parent, low levels first.
    int split(int parent, std::vector<std::pair<LevelSet, int>> groups);
    // The nodes from this one on; leaves numbered as they are met. `numbers`: what they were called.
    std::vector<GraphNode> finish(int root, std::vector<int>& numbers) const;

private:
    int node(const GraphNode& node);
    const GraphData& data_;
    std::vector<GraphNode> nodes_;
    std::map<std::array<std::uint64_t, 5>, int> known_;
};

}  // namespace spinney
