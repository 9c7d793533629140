// What the user's constraints leave: who may be whose parent.
#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "varset.hpp"

namespace spinney {

class Allowed {
public:
    using Lists = std::vector<std::vector<int>>;
    using Candidates = std::vector<std::optional<std::vector<int>>>;    // per child, sorted, without the child; nothing: all others
    Allowed(Candidates own_candidates, Lists own_required, std::vector<int> own_most)
        : required(std::move(own_required)), most(std::move(own_most)), given_(std::move(own_candidates)) {}

    int variables() const { return static_cast<int>(most.size()); }
    bool may(int child, int parent) const {
        const auto& own = given_[child];
        return own ? std::binary_search(own->begin(), own->end(), parent) : parent != child;
    }
    bool everybody(int child) const { return !given_[child]; }
    int count(int child) const { return given_[child] ? static_cast<int>(given_[child]->size()) : variables() - 1; }
    double families() const {                            // how many parent sets, over all children
        double all = 0;
        for (int v = 0; v < variables(); ++v) {
            double sets = 1, own = 1;
            for (int size = 1; size <= most[v]; ++size) own += sets *= (count(v) - size + 1.0) / size;
            all += std::round(own);
        }
        return all;
    }

    // The same as tables over all pairs of variables, made when first asked for: searches over thousands of variables do not ask.
    const std::vector<int>& candidates(int child) const { return pairs().candidates[child]; }
    // Per variable: itself, and the children that may have it as a parent.
    const std::vector<VarSet>& child_of() const { return pairs().child_of; }
    // A variable's place among the candidates of a child, counted from the last; -1 if it is none of them.
    int place(int child, int variable) const { return pairs().place[child * most.size() + variable]; }

    const Lists required;                                // per child, sorted, a subset of its candidates
    const std::vector<int> most;                         // per child: number of parents at the most

private:
    struct Pairs {
        Lists candidates;
        std::vector<VarSet> child_of;
        std::vector<int> place;
    };
    const Pairs& pairs() const {
        std::call_once(made_, [this] {
            const int n = variables();
            pairs_ = {Lists(n), std::vector<VarSet>(n, VarSet(n)), std::vector<int>(most.size() * most.size(), -1)};
            for (int v = 0; v < n; ++v) {
                auto& own = pairs_.candidates[v];
                if (given_[v]) own = *given_[v];
                else
                    for (int u = 0; u < n; ++u)
                        if (u != v) own.push_back(u);
                pairs_.child_of[v].insert(v);
                for (std::size_t i = 0; i < own.size(); ++i) {
                    pairs_.child_of[own[i]].insert(v);
                    pairs_.place[v * most.size() + own[i]] = static_cast<int>(own.size() - 1 - i);
                }
            }
        });
        return pairs_;
    }
    const Candidates given_;
    mutable std::once_flag made_;
    mutable Pairs pairs_;
};

}  // namespace spinney
