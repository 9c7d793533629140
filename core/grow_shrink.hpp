// The parents that a variable takes of those available: grown one by one, each time the one that gains most, then shrunk; again
// until neither brings anything. Then one is exchanged for another where that gains, of a few parents or of as many as may be: greedy
// growing takes what stands for two true parents before either of them, and gets stuck there. Of many parents that costs more than all else.
//
// A tree per variable remembers the way (Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld 2023): its nodes are parent sets,
// each with the steps that gain there, best first. The first step whose variable is available is taken, so a way that was gone
// before is a few looks and no scores. Steps are ranked by scores that are nearly right, where there are such; a set's own is exact. A way is a function of what is available: not of what was asked before.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "allowed.hpp"
#include "local_scores.hpp"
#include "set_key.hpp"

namespace spinney {

struct Grown {
    double score = 0;
    std::vector<int> parents;                            // sorted
    std::vector<int> taken;                              // available ones on the way: without one of them it leads elsewhere
    std::vector<int> missed;                             // others that would have been taken: with one of them it leads elsewhere
};

class GrowShrinkTree {
public:
    static constexpr std::size_t few = 4;
    static constexpr double lowest = -1e18;              // stands for minus infinity, so that differences are numbers

    // `held` counts the steps that all trees remember; both must outlive this.
    GrowShrinkTree(int child, const Allowed& allowed, std::atomic<std::size_t>& held) : child_(child), allowed_(allowed), held_(held) {}

    // Throws Stopped.  REQUIRES: required parents are available. Threads may ask at the same time.
    template <class Available>
    Grown grow(LocalScores& scores, const Available& available) {
        std::lock_guard guard(lock_);
        forget_if_large();
        Grown grown;
        Node* node = &root(scores);
        for (Step* step; (step = next(scores, *node, available, grown)) && step->to->score > node->score;) node = step->to;
        grown.score = node->score;
        grown.parents = node->set;
        return grown;
    }

private:
    struct Node;
    struct Step {
        double score;                                    // of the set it leads to, nearly
        int add, drop;                                   // -1: none
        Node* to;
    };
    struct Node {
        std::vector<int> set;                            // sorted
        double score = 0;
        bool grown = false, shrunk = false, exchanged = false;       // are its steps known?
        std::vector<Step> additions, exchanges;          // best first
        std::vector<Step> removal;                       // the best one, if it gains
    };

    template <class Available>
    Step* next(LocalScores& scores, Node& node, const Available& available, Grown& grown) {
        auto first = [&](std::vector<Step>& steps) -> Step* {
            for (Step& step : steps) {
                if (available(step.add)) {
                    grown.taken.push_back(step.add);
                    return reach(scores, node, step);
                }
                grown.missed.push_back(step.add);
            }
            return nullptr;
        };
        const bool full = static_cast<int>(node.set.size()) >= allowed_.most[child_];
        if (!full && !node.grown) add(scores, node);
        if (Step* step = first(node.additions)) return step;
        if (!node.shrunk) remove(scores, node);
        if (!node.removal.empty()) return &node.removal[0];
        if ((full || node.set.size() <= few) && !node.exchanged) exchange(scores, node);
        return first(node.exchanges);
    }
    Node& root(LocalScores& scores);
    Node& at(LocalScores& scores, std::vector<int> set);
    Step* reach(LocalScores& scores, const Node& node, Step& step);
    void add(LocalScores& scores, Node& node);
    void remove(LocalScores& scores, Node& node);
    void exchange(LocalScores& scores, Node& node);
    void forget_if_large();
    double slack(double score) const { return score > lowest ? 1e-10 * (1 + std::abs(score)) : 0; }

    const int child_;
    const Allowed& allowed_;
    std::atomic<std::size_t>& held_;
    std::size_t own_ = 0;                                // of what is held
    std::deque<Node> nodes_;
    std::unordered_map<SetKey, Node*, SetKeyHash> known_;
    std::vector<int> candidates_;                        // scratch
    std::vector<double> found_;
    std::mutex lock_;
};

}  // namespace spinney
