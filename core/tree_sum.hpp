// The sum over all decision trees over a parent set, where local_tree.hpp has the best one.
#pragma once

#include <memory>
#include <span>

#include "leaf.hpp"

namespace spinney {

// One worker for one child. Not shared between threads; its scratch is kept from parent set to parent set.
class TreeSum {
public:
    virtual ~TreeSum() = default;
    // The log of the sum over all trees T of e^(leaves(T) * price + log marginal likelihood).
    virtual double total(std::span<const TreeColumn> parents, double price) = 0;
};

// REQUIRES: leaves that share no pseudo-count.
std::unique_ptr<TreeSum> make_tree_sum(const TreeColumn& child, std::size_t rows, LeafOptions options);

}  // namespace spinney
