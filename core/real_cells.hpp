// The best tree over continuous parents only: the value of every dyadic cell that holds two points or more (points.hpp; called rows here).
//
// Idea. Rows are numbered in the order of the last parent's finest cells and stay in that order. Halving them along
// the other parents, one after another and depth by depth, gives *groups*: the rows of a cell that is whole along the last
// parent. The cells of a group are then runs of its rows, and the runs of all depths form a binary tree: neighbours
// whose codes differ in the lowest bits only join first. A run's halves along another parent are runs too, of the rows with
// that parent's bit 0 or 1, so how many rows they have and which is the first takes two looks. Values are kept under a
// cell's first row, all depths of the last parent side by side. Groups are walked from the finest to the coarsest: the
// halves of a cell have their values when it is its turn. Most cells are small, and most small ones gain from no split
// whatever: they are leaves without a look at their halves.
#pragma once

#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "local_tree.hpp"
#include "threads.hpp"

namespace spinney {

template <class Leaf>
class RealCells {
    using Number = typename Leaf::Number;

public:
    RealCells(Leaf& leaf, std::size_t most) : leaf_(leaf), most_(most) {}       // never more rows than that

    // `sums` and `alone`: of every row by itself, its sums and its leaf. Depth vectors are numbered with these weights, the
    // last parent's depth running fastest.
    void find(const Number* sums, const double* alone, std::size_t rows, const std::vector<TreeColumn>& parents,
              const std::vector<std::size_t>& weight, double price) {
        rows_ = rows;
        if (parents.size() > most_others + 1) throw std::length_error("more continuous parents than trees can have");
        others_ = parents.size() - 1;
        levels_ = parents.back().levels;
        depths_ = levels_ + 1;
        price_ = price;
        of_parent_.resize(others_);
        number_rows(parents, sums, alone);
        std::size_t groups = 1;
        lists_.resize(others_);
        for (std::size_t k = 0; k < others_; ++k) {
            of_parent_[k].step = weight[k] / depths_ * rows_ * depths_;
            lists_[k].resize(parents[k].levels + 1);
            of_parent_[k].levels = parents[k].levels;
            groups *= parents[k].levels + 1;
        }
        if (kept_size_ < groups * rows_ * depths_) {     // families have more rows or fewer: room for any of this shape
            double cells = 1;
            for (const TreeColumn& parent : parents) cells *= static_cast<double>(cells_of(parent));
            kept_size_ = groups * static_cast<std::size_t>(std::min(cells, static_cast<double>(most_))) * depths_;
            kept_.reset();
            kept_.reset(new double[kept_size_]);         // written before it is read
        }
        if (rows_ < 2) return;
        Groups all;
        all.ends.push_back(static_cast<std::uint32_t>(rows_));
        for (std::uint32_t row = 0; row < rows_; ++row) all.rows.push_back(row);
        refine(0, all, 0);
    }

    double value(std::size_t vector, const std::vector<std::uint32_t>& rows) const {
        if (rows.empty()) return price_;
        std::uint32_t first = rank_[rows[0]];
        if (rows.size() == 1) return value_[first];
        for (std::uint32_t row : rows) first = std::min(first, rank_[row]);
        return kept_[(vector / depths_ * rows_ + first) * depths_ + vector % depths_];
    }

private:
    static constexpr std::size_t most_others = most_continuous - 1;
    static constexpr std::uint32_t no_part = ~std::uint32_t{0};

    struct Groups {
        std::vector<std::uint32_t> rows, ends;           // group after group, and where each ends
    };
    // One of the other parents, and the rows of all groups at hand parted by the bit that tells its halves.
    struct Other {
        std::vector<std::uint16_t> codes;
        int levels = 0, shift = 0;                       // shift of that bit; -1: the finest cells have no halves
        std::size_t step = 0;                            // in kept_, from a depth to the next
        std::vector<std::uint32_t> ones;                 // how many of the first i rows have bit 1
        std::vector<std::uint32_t> with[2];              // the rows by their bit
    };
    // A run of rows that is a cell from `height` halvings above the finest cells to below `top`, where it joins the next
    // run. Its parts, along the last parent at the lowest height, are rows or, numbered after the rows, earlier cells.
    struct Cell {
        std::uint32_t begin, end, left, right;
        int height, top;
    };
    // A run that waits for its right neighbour: a row or a cell. `gap`: the height where it joins what follows.
    struct Open {
        std::uint32_t begin, number;
        int gap;
    };

    void number_rows(const std::vector<TreeColumn>& parents, const Number* sums, const double* alone) {
        const std::uint16_t* last = parents.back().codes;
        std::vector<std::uint32_t> starts((std::size_t{1} << levels_) + 1, 0);
        rank_.resize(rows_);
        for (std::size_t row = 0; row < rows_; ++row) ++starts[last[row] + 1];
        for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
        for (std::size_t row = 0; row < rows_; ++row) rank_[row] = starts[last[row]]++;
        const std::size_t width = leaf_.width();
        last_.resize(rows_);
        spare_.resize(rows_);
        cells_.resize(rows_);
        value_.resize(2 * rows_);
        runs_.resize(2 * rows_ * width);
        for (std::size_t row = 0; row < rows_; ++row) {
            last_[rank_[row]] = last[row];
            value_[rank_[row]] = price_ + alone[row];
            for (std::size_t k = 0; k < width; ++k) runs_[2 * rows_ * k + rank_[row]] = sums[row * width + k];
        }
        for (std::size_t k = 0; k < others_; ++k) {
            Other& other = of_parent_[k];
            other.codes.resize(rows_);
            other.ones.resize(rows_ + 1);
            for (auto& with : other.with) with.resize(rows_ + 1);
            for (std::size_t row = 0; row < rows_; ++row) other.codes[rank_[row]] = parents[k].codes[row];
        }
    }

    // `kept`: where the values of the cells at these depths begin.
    void refine(std::size_t level, const Groups& groups, std::size_t kept) {
        if (level == others_) return settle(groups, kept_.get() + kept);
        Other& parent = of_parent_[level];
        auto& lists = lists_[level];                     // [0] is not used: those are the groups that came in
        for (int depth = 0; depth < parent.levels; ++depth)
            halve(depth == 0 ? groups : lists[depth], parent.codes.data(), parent.levels - depth - 1, lists[depth + 1]);
        for (int depth = parent.levels; depth >= 0; --depth) {
            parent.shift = parent.levels - depth - 1;
            refine(level + 1, depth == 0 ? groups : lists[depth], kept + depth * parent.step);
        }
    }
    // Parts every group by a bit of the code; lone rows are dropped.
    void halve(const Groups& from, const std::uint16_t* codes, int shift, Groups& to) {
        if (to.rows.size() < from.rows.size()) to.rows.resize(from.rows.size());
        to.ends.clear();
        const std::uint32_t* row = from.rows.data();
        std::uint32_t *out = to.rows.data(), *spare = spare_.data(), made = 0, begin = 0;
        for (std::uint32_t end : from.ends) {
            std::uint32_t ones = 0, zeros = 0;
            for (; begin < end; ++begin, ++row) {
                const std::uint32_t bit = codes[*row] >> shift & 1;
                out[made + zeros] = spare[ones] = *row;
                ones += bit;
                zeros += 1 - bit;
            }
            if (zeros > 1) to.ends.push_back(made += zeros);
            if (ones > 1) {
                for (std::uint32_t i = 0; i < ones; ++i) out[made + i] = spare[i];
                to.ends.push_back(made += ones);
            }
        }
    }

    // All cells of all groups: first which they are, then their leaves, many at a time, then their values.
    void settle(const Groups& groups, double* kept) {
        if (groups.ends.empty()) return;
        Listening::look();
        made_ = 0;
        std::uint32_t begin = 0;
        for (std::uint32_t end : groups.ends) list_cells(groups.rows.data(), begin, end), begin = end;
        part(groups);
        double* scores = value_.data() + rows_;
        leaf_.scores(runs_.data() + rows_, 2 * rows_, made_, scores);
        for (std::uint32_t i = 0; i < made_; ++i) {
            const bool indivisible = leaf_.indivisible(runs_.data() + rows_ + i, 2 * rows_, scores[i], i);
            const Cell& cell = cells_[i];
            double* out = kept + groups.rows[cell.begin] * depths_ + levels_;
            scores[i] += price_;
            if (indivisible) {
                for (int height = cell.height; height < cell.top; ++height) out[-height] = scores[i];
            } else {
                scores[i] = settle(cell, scores[i], kept, out);
            }
        }
    }
    // The cells of one group, small before large.
    void list_cells(const std::uint32_t* rows, std::uint32_t begin, std::uint32_t end) {
        const int widest = levels_ + 1;
        Open open[std::numeric_limits<std::uint16_t>::digits + 2];             // gaps fall from each to the next
        Open* last = open;
        last->gap = widest;                              // what lies before the first row
        for (std::uint32_t i = begin, j; i < end; i = j) {
            const std::uint16_t code = last_[rows[i]];
            Open run{i, rows[i], widest};
            for (j = i + 1; j < end && last_[rows[j]] == code; ++j) {}
            if (j < end) run.gap = std::bit_width(static_cast<unsigned>(last_[rows[j]] ^ code));
            if (j > i + 1) {
                const std::uint32_t first = made_;
                run.number = join(rows[i], rows[i + 1]);
                for (std::uint32_t k = i + 2; k < j; ++k) add(run.number, run.number, rows[k]);
                cells_[first] = {i, j, no_part, no_part, 0, std::min(last->gap, run.gap)};
            }
            while (last->gap < run.gap) {
                const Open left = *last--;
                cells_[made_] = {left.begin, j, left.number, run.number, left.gap, std::min(last->gap, run.gap)};
                run.begin = left.begin;
                run.number = join(left.number, run.number);
            }
            *++last = run;
        }
    }
    std::uint32_t join(std::uint32_t left, std::uint32_t right) {
        const auto number = static_cast<std::uint32_t>(rows_ + made_++);
        add(number, left, right);
        return number;
    }
    void add(std::uint32_t to, std::uint32_t left, std::uint32_t right) {
        Number* sums = runs_.data();
        for (int k = 0; k < leaf_.width(); ++k, sums += 2 * rows_) sums[to] = sums[left] + sums[right];
    }
    void part(const Groups& groups) {
        const std::uint32_t n = groups.ends.back();
        for (std::size_t k = 0; k < others_; ++k) {
            Other& other = of_parent_[k];
            if (other.shift < 0) continue;
            std::uint32_t *zero = other.with[0].data(), *one = other.with[1].data(), *before = other.ones.data(), ones = 0;
            const std::uint16_t* codes = other.codes.data();
            for (std::uint32_t i = 0; i < n; ++i) {
                const std::uint32_t row = groups.rows[i];
                before[i] = ones;
                zero[i - ones] = one[ones] = row;
                ones += codes[row] >> other.shift & 1;
            }
            before[n] = ones;
        }
    }
    // The values of a cell at all its heights; back comes the one at the highest.
    double settle(const Cell& cell, double whole, const double* kept, double* out) {
        struct { const double* at[2]; std::ptrdiff_t step[2]; } halves[most_others];
        std::size_t found = 0;
        for (std::size_t k = 0; k < others_; ++k) {
            const Other& other = of_parent_[k];
            if (other.shift < 0) continue;
            const double* below = kept + other.step + levels_;
            const std::uint32_t before = other.ones[cell.begin], ones = other.ones[cell.end] - before;
            auto look = [&](int bit, std::uint32_t from, std::uint32_t count) {
                const std::uint32_t first = other.with[bit][from];
                halves[found].at[bit] = count == 0 ? &price_ : count == 1 ? &value_[first] : below + first * depths_;
                halves[found].step[bit] = count > 1;
            };
            look(0, cell.begin - before, cell.end - cell.begin - ones);
            look(1, before, ones);
            ++found;
        }
        double parted = cell.left == no_part ? -INFINITY : value_[cell.left] + value_[cell.right], best = whole;
        for (int height = cell.height; height < cell.top; ++height) {
            best = std::max(whole, parted);
            for (std::size_t k = 0; k < found; ++k) {
                const auto& half = halves[k];
                best = std::max(best, half.at[0][-height * half.step[0]] + half.at[1][-height * half.step[1]]);
            }
            out[-height] = best;
            parted = best + price_;                      // above, the other half along the last parent is empty
        }
        return best;
    }

    Leaf& leaf_;
    std::size_t most_, rows_ = 0, others_ = 0, depths_ = 1;
    int levels_ = 0;                                     // of the last parent
    double price_ = 0;
    std::vector<std::uint32_t> rank_;                    // a row's number in the order of the last parent; all below is by it
    std::vector<std::uint16_t> last_;                    // codes of the last parent
    std::vector<Cell> cells_;                            // those at hand, of them
    std::uint32_t made_ = 0;
    std::vector<double> value_;                          // of every row by itself, and of the cells at hand at their top
    std::vector<Number> runs_;                           // their sums, one array per sum
    std::vector<Other> of_parent_;                       // all but the last
    std::vector<std::vector<Groups>> lists_;             // [parent][depth]
    std::vector<std::uint32_t> spare_;
    std::unique_ptr<double[]> kept_;                     // [depths of the others][first row][depth of the last parent]
    std::size_t kept_size_ = 0;
};

}  // namespace spinney
