// Random forests that rank the parents of a child (Breiman 2001; by what splits explain of rows outside the tree: Li, Wang, Basu,
// Kumbier and Yu 2019).
//
// Each tree is grown on five eighths of the rows, drawn without replacement: as many as a bootstrap sample has different ones, but
// each counts once. A node is split where the squared error of the child (of its indicators, if it has classes) falls most, over a
// random third of the columns. What a split lowers the error of rows that are not in the tree is the gain of its column.
//
// The idea that makes it quick: all columns are codes of a byte, rows stand side by side, and what a split needs to know of the rows
// of one code fits a word, which one addition per row and column fills: a count and a sum, or four counts of classes. Rows of a node
// that no row outside the tree comes to are not split: nothing could be gained there.
//
// Columns without an order take that of the child's mean in their levels; of several classes, along the first principal component of
// their shares (Coppersmith, Hong and Hosking 1999). The rows of each child stand in an order that their cells alone decide, and each
// forest has the same seed: neither threads nor names nor the order of rows decide anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data.hpp"

namespace spinney {

struct ForestSpec {
    int trees = 50;
    double seconds = 0;                                  // of one child, at the most: it then has fewer trees; 0: no limit
    std::uint64_t seed = 0;
    int leaf = 3;                                        // rows at the least
    std::size_t rows = 2000;                             // of a tree, at the most; and of those that it is judged by
};

struct ForestColumn {
    Column codes;                                        // of a continuous column: of intervals
    const std::int32_t* numbers = nullptr;               // of a continuous column as the child, within 2^17
    bool ordered = false;
};

struct ForestChild {
    int child;
    std::vector<int> columns;
};

// Per child the gains of its columns, where there was time for them. `control` hears of every child that is done.
std::vector<std::optional<std::vector<double>>> forest_gains(std::span<const ForestColumn> table, std::size_t rows,
                                                             std::span<const ForestChild> children, const ForestSpec& spec, Team& team,
                                                             Control& control);

}  // namespace spinney
