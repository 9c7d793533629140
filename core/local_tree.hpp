// The best decision tree over a parent set, exactly: PCART (Talvitie, Eggeling and Koivisto 2019).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leaf.hpp"

namespace spinney {

enum class VariableKind { categorical, ordinal, continuous };

// One column as trees see it. As a child: level codes, or values. As a parent: level codes, or the finest dyadic cell.
struct TreeColumn {
    VariableKind kind = VariableKind::categorical;
    int levels = 0;                                      // discrete: declared levels; continuous: halvings s of its range
    const std::uint16_t* codes = nullptr;                // levels, or cells 0 .. 2^s - 1
    const double* values = nullptr;                      // continuous child: values less `centre`
    double centre = 0;                                   // so that squares do not swallow the spread
    // A discrete parent whose levels are grouped: the group of every level. `levels` then counts groups.
    std::span<const std::uint16_t> group{};
    std::size_t at(std::size_t row) const { return group.empty() ? codes[row] : group[codes[row]]; }
};

// The finest cells of a column as a parent.
inline std::size_t cells_of(const TreeColumn& column) {
    return column.kind == VariableKind::continuous ? std::size_t{1} << column.levels : column.levels;
}

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
    // The marginal likelihood when leaf_of[row] (below `leaves`) gives every row its leaf, of a table of `cells` in all.
    virtual double partitioned(std::span<const std::uint32_t> leaf_of, std::size_t leaves, double cells) = 0;
    virtual std::vector<double> sums(std::span<const std::uint32_t> rows) = 0;
};

// Does the prior of this child's leaves depend on their part of the parents' configurations?
inline bool shares(const LeafOptions& options, const TreeColumn& child) {
    return options.ess > 0 && child.kind == VariableKind::categorical;
}

std::unique_ptr<TreeScorer> make_tree_scorer(const TreeColumn& child, std::size_t rows, LeafOptions options);

}  // namespace spinney
