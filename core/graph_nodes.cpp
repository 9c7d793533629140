#include "graph_nodes.hpp"

#include <algorithm>

namespace spinney {

int GraphBuilder::node(const GraphNode& node) {
    auto word = [](int x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)); };
    auto [at, fresh] = known_.try_emplace({word(node.parent), word(node.left), word(node.right), node.goes_left, word(node.leaf)},
                                          static_cast<int>(nodes_.size()));
    if (fresh) nodes_.push_back(node);
    return at->second;
}

int GraphBuilder::leaf(int number) {
    GraphNode own;
    own.leaf = number;
    return node(own);
}

int GraphBuilder::split(int parent, std::vector<std::pair<LevelSet, int>> groups) {
    std::vector<std::pair<LevelSet, int>> apart;         // levels that lead to one place, together
    for (auto& [levels, below] : groups) {
        auto same = std::find_if(apart.begin(), apart.end(), [place = below](auto& group) { return group.second == place; });
        if (same != apart.end() && data_.columns[parent].ordered && same + 1 != apart.end()) same = apart.end();
        if (same == apart.end()) apart.emplace_back(levels, below);
        else same->first |= levels;
    }
    int right = apart.back().second;
    for (std::size_t i = apart.size() - 1; i-- > 0;) {
        GraphNode own;
        own.parent = parent, own.left = apart[i].second, own.right = right, own.goes_left = apart[i].first;
        right = node(own);
    }
    return right;
}

std::vector<GraphNode> GraphBuilder::finish(int root, std::vector<int>& numbers) const {
    std::vector<int> place(nodes_.size(), -1), order;
    std::vector<int> waiting{root};
    while (!waiting.empty()) {
        const int at = waiting.back();
        waiting.pop_back();
        if (place[at] >= 0) continue;
        place[at] = static_cast<int>(order.size());
        order.push_back(at);
        if (nodes_[at].parent >= 0) waiting.push_back(nodes_[at].right), waiting.push_back(nodes_[at].left);
    }
    std::vector<GraphNode> out;
    for (int at : order) {
        GraphNode node = nodes_[at];
        if (node.parent >= 0) {
            node.left = place[node.left], node.right = place[node.right];
        } else {
            numbers.push_back(node.leaf);
            node.leaf = static_cast<int>(numbers.size()) - 1;
        }
        out.push_back(node);
    }
    return out;
}

}  // namespace spinney
