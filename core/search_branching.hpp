// The best tree, or forest, in which every variable has at most one parent: maximum branching (Edmonds 1967).
#pragma once

#include <span>
#include <vector>

namespace spinney {

struct BranchingRequest {
    int variables = 0;
    std::span<const double> weights;                     // [child * variables + parent]; -infinity: not allowed
    std::vector<bool> may_be_root;                       // may it be without a parent?
    bool forest = false;                                 // leave out what weighs 0 or less; else one root only
    double tie = 0;                                      // weights that differ by less count as equal
};

// The parent of every variable, -1 for a root; nothing where there is no such tree. Among equals: roots with earlier
// numbers, then parents with earlier ones.
std::vector<int> best_branching(const BranchingRequest& request);

}  // namespace spinney
