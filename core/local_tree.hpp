// The best decision tree over a parent set, exactly: PCART (Talvitie, Eggeling and Koivisto 2019).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leaf.hpp"

namespace spinney {

struct TreeNode {
    int parent = -1;                                     // index into the family's parents; -1: a leaf
    int left = -1, right = -1;                           // node numbers
    int cut = 0;                                         // continuous: codes >= cut (of 2^s) go right
    std::vector<char> goes_left;                         // discrete: per level
    int leaf = -1;
    std::vector<double> sums;                            // of a leaf
    double part = 1;                                     // of a leaf: its part of the parents' configurations, where it matters
};

struct Tree {
    double value = 0;                                    // leaves * log gamma + log marginal likelihood
    int leaves = 0;
    std::vector<TreeNode> nodes;                         // nodes[0] is the root
};

constexpr int most_continuous = 6;                       // parents: beyond, depth vectors are out of reach

struct TreePrior {
    double leaf = 0;                                     // log gamma
    double normaliser = 0;                               // log c(P)
};
TreePrior tree_prior(std::span<const TreeColumn> parents);

// One worker for one child. Not shared between threads; its scratch is kept from parent set to parent set.
class TreeScorer {
public:
    virtual ~TreeScorer() = default;
    // max over all trees T of leaves(T) * price + log marginal likelihood.
    virtual double best(std::span<const TreeColumn> parents, double price) = 0;
    virtual Tree fit(std::span<const TreeColumn> parents, double price) = 0;
    // Sums up the rows by the joint finest cells of these parents; back comes how many points there are, points.hpp.
    virtual std::size_t gather(std::span<const TreeColumn> parents) = 0;
    virtual const std::uint16_t* codes(std::size_t parent) const = 0;       // of the points
    // The marginal likelihood when leaf_of[point] (below `leaves`) gives every point its leaf, of a table of `cells` in all.
    virtual double partitioned(std::span<const std::uint32_t> leaf_of, std::size_t leaves, double cells) = 0;
};

// Does the prior of this child's leaves depend on their part of the parents' configurations?
inline bool shares(const LeafOptions& options, const TreeColumn& child) {
    return options.ess > 0 && child.kind == VariableKind::categorical;
}

std::unique_ptr<TreeScorer> make_tree_scorer(const TreeColumn& child, std::size_t rows, LeafOptions options);

}  // namespace spinney
