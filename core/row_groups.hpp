// The rows of a table by the joint levels of some discrete columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

struct PolyColumn {
    int levels = 0;                                      // 0: continuous
    const std::uint16_t* codes = nullptr;                // discrete
    const double* values = nullptr;                      // continuous, shifted and divided at will
    double log_scale = 0;                                // log of what the values were divided by: likelihoods are in the units before
};

// A cell: the rows of one joint level that occurs. A discrete child sorts the rows of a cell: its levels are runs of them.
struct RowCell {
    std::uint32_t begin, end;                            // places in the order
    std::uint32_t first_run, last_run;                   // places in the runs; none where the child is continuous
    std::size_t rows() const { return end - begin; }
};

struct LevelRun {
    int level;
    std::uint32_t begin, end;
    std::size_t rows() const { return end - begin; }
};

struct RowGroups {
    std::vector<std::uint32_t> order;                    // row numbers, cell after cell
    std::vector<RowCell> cells;
    std::vector<LevelRun> runs;
};

// Cells stand in the order of their joint levels, the first column counting most; rows of a run, or of a cell, in their own order.
RowGroups group_rows(std::span<const PolyColumn* const> discrete, const PolyColumn* child, std::size_t rows);

}  // namespace spinney
