// One column of a table, as trees and their leaves see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace spinney {

enum class VariableKind { categorical, ordinal, continuous };

// As a child: level codes, or values. As a parent: level codes, or the finest dyadic cell.
struct TreeColumn {
    VariableKind kind = VariableKind::categorical;
    int levels = 0;                                      // discrete: declared levels; continuous: halvings s of its range
    const std::uint16_t* codes = nullptr;                // levels, or cells 0 .. 2^s - 1
    const double* values = nullptr;                      // continuous: values less `centre`
    double centre = 0;                                   // so that squares do not swallow the spread
    // A discrete parent whose levels are grouped: the group of every level. `levels` then counts groups.
    std::span<const std::uint16_t> group{};
    std::size_t at(std::size_t row) const { return group.empty() ? codes[row] : group[codes[row]]; }
};

// The finest cells of a column as a parent.
inline std::size_t cells_of(const TreeColumn& column) {
    return column.kind == VariableKind::continuous ? std::size_t{1} << column.levels : column.levels;
}

}  // namespace spinney
