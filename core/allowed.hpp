// What the user's constraints leave: who may be whose parent.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "varset.hpp"

namespace spinney {

class Allowed {
public:
    using Lists = std::vector<std::vector<int>>;
    Allowed(Lists own_candidates, Lists own_required, std::vector<int> own_most)
        : candidates(std::move(own_candidates)), required(std::move(own_required)), most(std::move(own_most)),
          child_of(most.size(), VarSet(variables())), place_(most.size() * most.size(), -1) {
        for (int v = 0; v < variables(); ++v) {
            child_of[v].insert(v);
            for (std::size_t i = 0; i < candidates[v].size(); ++i) {
                child_of[candidates[v][i]].insert(v);
                place_[v * most.size() + candidates[v][i]] = static_cast<int>(candidates[v].size() - 1 - i);
            }
        }
    }
    int variables() const { return static_cast<int>(most.size()); }
    // A variable's place among the candidates of a child, counted from the last; -1 if it is none of them.
    int place(int child, int variable) const { return place_[child * most.size() + variable]; }
    double families() const {                            // how many parent sets, over all children
        double all = 0;
        for (std::size_t v = 0; v < most.size(); ++v) {
            double sets = 1, own = 1;
            for (int size = 1; size <= most[v]; ++size) own += sets *= (candidates[v].size() - size + 1.0) / size;
            all += std::round(own);
        }
        return all;
    }

    Lists candidates;                                    // per child, sorted, without the child
    Lists required;                                      // per child, sorted, a subset of its candidates
    std::vector<int> most;                               // per child: number of parents at the most
    std::vector<VarSet> child_of;                        // per variable: itself, and the children that may have it as a parent

private:
    std::vector<int> place_;
};

}  // namespace spinney
