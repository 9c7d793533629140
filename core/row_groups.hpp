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

struct RowCell {                                         // the rows of one joint level that occurs
    std::uint32_t begin, end;                            // places in the order
    std::size_t rows() const { return end - begin; }
};

struct RowGroups {
    std::vector<std::uint32_t> order;                    // row numbers, cell after cell
    std::vector<RowCell> cells;
};

// Cells stand in the order of their joint levels, the first column counting most; rows of a cell in their own order.
RowGroups group_rows(std::span<const PolyColumn* const> discrete, std::size_t rows);

}  // namespace spinney
