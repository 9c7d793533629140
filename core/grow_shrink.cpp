#include "grow_shrink.hpp"

#include <algorithm>
#include <cmath>

#include "near_scores.hpp"

namespace spinney {

namespace {

constexpr std::size_t most_steps = std::size_t{32} << 20;        // remembered by all trees: 768 MiB
constexpr std::size_t per_node = 8;                              // what a node takes beside its steps, in steps

void best_first(auto& steps) {                                   // equal scores: the earlier variable
    std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
        return a.score != b.score ? a.score > b.score : std::pair(a.add, a.drop) < std::pair(b.add, b.drop);
    });
}

}  // namespace

GrowShrinkTree::Node& GrowShrinkTree::root(LocalScores& scores) {
    return nodes_.empty() ? at(scores, allowed_.required[child_]) : nodes_.front();
}

GrowShrinkTree::Node& GrowShrinkTree::at(LocalScores& scores, std::vector<int> set) {
    const SetKey key = key_of(set);
    if (const auto known = known_.find(key); known != known_.end()) return *known->second;
    const double score = scores.score(child_, set);      // before anything is kept: it may be stopped
    Node& node = nodes_.emplace_back();
    node.set = std::move(set);
    node.score = std::max(score, lowest);
    known_[key] = &node;
    own_ += per_node, held_ += per_node;
    return node;
}

GrowShrinkTree::Step* GrowShrinkTree::reach(LocalScores& scores, const Node& node, Step& step) {
    if (step.to) return &step;
    std::vector<int> set = with(node.set, step.add);
    if (step.drop >= 0) std::erase(set, step.drop);
    step.to = &at(scores, std::move(set));
    return &step;
}

void GrowShrinkTree::add(LocalScores& scores, Node& node) {
    candidates_.clear();
    std::set_difference(allowed_.candidates(child_).begin(), allowed_.candidates(child_).end(), node.set.begin(), node.set.end(),
                        std::back_inserter(candidates_));
    found_.assign(candidates_.size(), lowest);
    if (auto* near = dynamic_cast<NearScores*>(&scores)) near->near(child_, node.set, candidates_, node.score, found_.data());
    else scores.extend(child_, node.set, candidates_, found_.data());

    for (std::size_t i = 0; i < candidates_.size(); ++i)
        if (found_[i] > node.score + slack(node.score)) node.additions.push_back({found_[i], candidates_[i], -1, nullptr});
    best_first(node.additions);
    node.additions.shrink_to_fit();
    own_ += node.additions.size(), held_ += node.additions.size();
    node.grown = true;
}

void GrowShrinkTree::remove(LocalScores& scores, Node& node) {
    const auto& required = allowed_.required[child_];
    auto fewer = [&](std::size_t i) {
        std::vector<int> set = node.set;
        set.erase(set.begin() + static_cast<std::ptrdiff_t>(i));
        return set;
    };
    auto* near = dynamic_cast<NearScores*>(&scores);
    found_.resize(node.set.size());
    if (!near || !near->near_without(child_, node.set, found_.data()))
        for (std::size_t i = 0; i < node.set.size(); ++i) {
            const auto known = known_.find(key_of(fewer(i)));        // most often the way led through there
            found_[i] = known != known_.end() ? known->second->score : scores.score(child_, fewer(i));
        }
    const double least = node.score + slack(node.score);
    std::size_t best = node.set.size();
    for (std::size_t i = 0; i < node.set.size(); ++i)
        if (found_[i] > (best < node.set.size() ? found_[best] : least) && !std::binary_search(required.begin(), required.end(), node.set[i])) best = i;
    if (best < node.set.size())
        if (Node& to = at(scores, fewer(best)); to.score > least) node.removal.push_back({to.score, -1, -1, &to});
    node.shrunk = true;
}

void GrowShrinkTree::exchange(LocalScores& scores, Node& node) {
    const auto& required = allowed_.required[child_];
    std::vector<Step> steps;
    for (int p : node.set) {
        if (std::binary_search(required.begin(), required.end(), p)) continue;
        std::vector<int> fewer = node.set;
        std::erase(fewer, p);
        Node& without = at(scores, std::move(fewer));
        if (!without.grown) add(scores, without);
        for (const Step& step : without.additions) {
            if (step.score <= node.score + slack(node.score)) break;
            steps.push_back({step.score, step.add, p, step.to});
        }
    }
    best_first(steps);
    node.exchanges = std::move(steps);
    own_ += node.exchanges.size(), held_ += node.exchanges.size();
    node.exchanged = true;
}

// When all trees together have grown too large, those forget that have more than their share.
void GrowShrinkTree::forget_if_large() {
    if (held_ <= most_steps || own_ <= most_steps / allowed_.variables()) return;
    known_.clear();
    nodes_.clear();
    held_ -= own_;
    own_ = 0;
}

}  // namespace spinney
