// The rows of the table, split by the joint levels of a stack of variables.
//
// A cell is a joint level that occurs. It holds its rows as a bitmap when they are many and as a list when they are
// few, so that a crowded table costs AND + popcount and a sparse one never more than a pass over the rows; cells
// without rows are never made, so the product of the levels may be of any size. Pushing a variable splits
// every cell; popping it is free. `count` then gives, for a list of further variables at once, how many rows of every
// cell have which level: the sufficient statistics of all families {stack, w}.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data.hpp"

namespace spinney {

class Cells {
public:
    explicit Cells(const Data& data);

    void push(int variable);
    void clear() { depth_ = 0; }
    void set(std::span<const int> variables);            // keeps what the stack already shares with them

    int variable(int position) const { return stack_[position + 1].variable; }
    int size() const { return static_cast<int>(top().count.size()); }
    const std::vector<std::uint32_t>& counts() const { return top().count; }

    // Level of the variable at a position, per cell; and the cell's number once that variable is left out of the stack.
    struct Without {
        std::vector<std::uint32_t> value, group;
        int groups = 0;
    };
    const Without& without(int position) { return without(depth_, position); }

    // out[i] is a matrix cells x levels(others[i]), row by row, of counts; all in one buffer owned by this object.
    void count(std::span<const int> others, std::vector<const std::uint32_t*>& out);
    // How many of these variables, at least one, to count at once so that the matrices stay small.
    std::size_t at_once(std::span<const int> others) const;

private:
    struct Cell {
        const Word* bits = nullptr;                      // set for large cells
        std::size_t first = 0;                           // else rows [first, first + count) of the list
    };
    struct Layer {
        int variable = -1;
        std::vector<std::uint32_t> count;
        std::vector<Cell> cell;
        std::vector<std::uint32_t> rows, parent, value;
        WordBuffer bits;
        std::vector<Without> without;
        std::vector<char> known;
    };

    Layer& top() { return stack_[depth_]; }
    const Layer& top() const { return stack_[depth_]; }
    const Without& without(int layer, int position);
    std::span<const std::uint32_t> rows_of(const Layer& layer, int cell, std::vector<std::uint32_t>& scratch) const;
    void add(Layer& layer, int parent, int value, std::uint32_t count, Cell cell);

    const Data& data_;
    std::uint32_t small_;                                // cells with fewer rows are lists
    std::vector<Layer> stack_;                           // stack_[0] is the one cell of all rows
    int depth_ = 0;
    std::vector<std::uint32_t> scratch_, starts_, table_, levels_of_, thin_rows_, thin_cells_;
    std::vector<std::size_t> offsets_;
    std::vector<const Word*> bitmaps_;
    std::vector<std::int32_t> relabel_;
};

}  // namespace spinney
