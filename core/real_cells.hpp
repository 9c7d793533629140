// The best tree over continuous parents only: the value of every dyadic cell that holds two rows or more.
//
// Idea. Rows are numbered in the order of the last parent's finest cells and stay in that order. Halving them along
// the other parents, one after another and depth by depth, gives *groups*: the rows of a cell that is whole along the last
// parent. The cells of a group are then runs of its rows, and the runs of all depths form a binary tree with one node
// fewer than there are different codes: neighbours whose codes differ in the lowest bits join first. A run's halves along another
// parent are runs too, of the group's rows with that parent's bit 0 or 1, so how many rows they have and which is the
// first takes two looks. Values are kept under a cell's first row, all depths of the last parent side by side.
// Groups are walked from the finest to the coarsest: the halves of a cell have their values when it is its turn.
#pragma once

#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "local_tree.hpp"

namespace spinney {

template <class Leaf>
class RealCells {
    using Number = typename Leaf::Number;

public:
    // `sums` and `alone`: of every row by itself, its sums and its leaf.
    RealCells(Leaf& leaf, const std::vector<Number>& sums, const std::vector<double>& alone)
        : leaf_(leaf), sums_(sums), alone_(alone), rows_(alone.size()), rank_(rows_) {}

    // Depth vectors are numbered with these weights, the last parent's depth running fastest.
    void find(const std::vector<TreeColumn>& parents, const std::vector<std::size_t>& weight, double price) {
        if (parents.size() > most_others + 1) throw std::length_error("more continuous parents than trees can have");
        others_ = parents.size() - 1;
        levels_ = parents.back().levels;
        depths_ = levels_ + 1;
        price_ = price;
        number_rows(parents);
        std::size_t groups = 1;
        lists_.resize(others_);
        for (std::size_t k = 0; k < others_; ++k) {
            step_[k] = weight[k] / depths_ * rows_ * depths_;
            lists_[k].resize(parents[k].levels + 1);
            of_parent_[k].levels = parents[k].levels;
            groups *= parents[k].levels + 1;
        }
        const std::size_t size = groups * rows_ * depths_;
        if (kept_size_ < size) kept_.reset(new double[kept_size_ = size]);      // written before it is read
        if (rows_ < 2) return;
        Groups all;
        all.ends.push_back(static_cast<std::uint32_t>(rows_));
        for (std::uint32_t row = 0; row < rows_; ++row) all.rows.push_back(row);
        refine(0, all, 0);
    }

    double value(std::size_t vector, const std::vector<std::uint32_t>& rows) const {
        if (rows.empty()) return price_;
        std::uint32_t first = rank_[rows[0]];
        if (rows.size() == 1) return lone_[first];
        for (std::uint32_t row : rows) first = std::min(first, rank_[row]);
        return kept_[(vector / depths_ * rows_ + first) * depths_ + vector % depths_];
    }

private:
    static constexpr std::size_t most_others = 5;        // more depth vectors than that are out of reach

    struct Groups {
        std::vector<std::uint32_t> rows, ends;           // group after group, and where each ends
    };
    // One of the other parents, and the group at hand parted by the bit that tells its halves.
    struct Other {
        std::vector<std::uint16_t> codes;
        int levels = 0, shift = 0;                       // shift of that bit; -1: the finest cells have no halves
        std::vector<std::uint32_t> ones;                 // how many of the group's first i rows have bit 1
        std::vector<std::uint32_t> with[2];              // the group's rows by their bit
    };
    // A run of the group's rows that is a cell or a lone row; `gap`: width of the codes' difference to the next run.
    struct Run {
        std::uint32_t begin, end;
        int gap;
        double value;
        const Number* sums;
    };

    void number_rows(const std::vector<TreeColumn>& parents) {
        const std::uint16_t* last = parents.back().codes;
        std::vector<std::uint32_t> starts((std::size_t{1} << levels_) + 1, 0);
        for (std::size_t row = 0; row < rows_; ++row) ++starts[last[row] + 1];
        for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
        for (std::size_t row = 0; row < rows_; ++row) rank_[row] = starts[last[row]]++;
        const std::size_t width = leaf_.width();
        last_.resize(rows_);
        lone_.resize(rows_);
        own_.resize(rows_ * width);
        joined_.resize(rows_ * width);
        spare_.resize(rows_);
        for (std::size_t row = 0; row < rows_; ++row) {
            last_[rank_[row]] = last[row];
            lone_[rank_[row]] = price_ + alone_[row];
            std::copy_n(sums_.data() + row * width, width, own_.data() + rank_[row] * width);
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
        if (level == others_) {
            std::uint32_t begin = 0;
            for (std::uint32_t end : groups.ends) {
                settle_group(groups.rows.data() + begin, end - begin, kept_.get() + kept);
                begin = end;
            }
            return;
        }
        Other& parent = of_parent_[level];
        auto& lists = lists_[level];                     // [0] is not used: those are the groups that came in
        for (int depth = 0; depth < parent.levels; ++depth)
            halve(depth == 0 ? groups : lists[depth], parent.codes.data(), parent.levels - depth - 1, lists[depth + 1]);
        for (int depth = parent.levels; depth >= 0; --depth) {
            parent.shift = parent.levels - depth - 1;
            refine(level + 1, depth == 0 ? groups : lists[depth], kept + depth * step_[level]);
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

    // All cells of a group, small before large.
    void settle_group(const std::uint32_t* rows, std::uint32_t n, double* kept) {
        group_ = rows;
        group_size_ = n;
        group_kept_ = kept;
        parted_ = false;
        const std::size_t width = leaf_.width();
        const int widest = levels_ + 1;
        Run open[std::numeric_limits<std::uint16_t>::digits + 2];              // gaps fall from each to the next
        Run* top = open;
        top->gap = widest;                               // what lies before the first row
        for (std::uint32_t i = 0, j; i < n; i = j) {
            const std::uint16_t code = last_[rows[i]];
            Run run{i, i + 1, widest, lone_[rows[i]], own_.data() + rows[i] * width};
            for (j = i + 1; j < n && last_[rows[j]] == code; ++j) join(run, {j, j + 1, 0, 0, own_.data() + rows[j] * width});
            if (j < n) run.gap = std::bit_width(static_cast<unsigned>(last_[rows[j]] ^ code));
            if (j > i + 1) settle(run, -INFINITY, 0, std::min(top->gap, run.gap));
            while (top->gap < run.gap) {
                const double parted = top->value + run.value;
                const int height = top->gap, gap = run.gap;
                const Run right = run;
                run = *top--;
                run.gap = gap;
                join(run, right);
                settle(run, parted, height, std::min(top->gap, gap));
            }
            *++top = run;
        }
    }
    void join(Run& run, const Run& right) {
        const std::size_t width = leaf_.width();
        Number* sums = joined_.data() + run.begin * width;
        for (std::size_t k = 0; k < width; ++k) sums[k] = run.sums[k] + right.sums[k];
        run.sums = sums;
        run.end = right.end;
    }
    // A run is a cell from `height` halvings above the finest cells up to where it joins the next. `parted`: its value when its first
    // split, at the lowest of them, is along the last parent; above that the other half is empty.
    void settle(Run& run, double parted, int height, int end) {
        double leaf;
        leaf_.scores(run.sums, 1, 1, &leaf);
        const double whole = leaf + price_;
        double* out = group_kept_ + group_[run.begin] * depths_ + levels_;
        run.value = whole;
        if (leaf_.indivisible(run.sums, 1)) {
            for (; height < end; ++height) out[-height] = whole;
            return;
        }
        if (!parted_) part_group();
        struct { const double* at[2]; std::ptrdiff_t step[2]; } halves[most_others];
        std::size_t found = 0;
        for (std::size_t k = 0; k < others_; ++k) {
            const Other& other = of_parent_[k];
            if (other.shift < 0) continue;
            const double* below = group_kept_ + step_[k] + levels_;
            const std::uint32_t before = other.ones[run.begin], ones = other.ones[run.end] - before;
            auto look = [&](int bit, std::uint32_t from, std::uint32_t count) {
                const std::uint32_t first = other.with[bit][from];
                halves[found].at[bit] = count == 0 ? &price_ : count == 1 ? &lone_[first] : below + first * depths_;
                halves[found].step[bit] = count > 1;
            };
            look(0, run.begin - before, run.end - run.begin - ones);
            look(1, before, ones);
            ++found;
        }
        for (; height < end; ++height) {
            double best = std::max(whole, parted);
            for (std::size_t k = 0; k < found; ++k) {
                const auto& half = halves[k];
                best = std::max(best, half.at[0][-height * half.step[0]] + half.at[1][-height * half.step[1]]);
            }
            out[-height] = run.value = best;
            parted = best + price_;
        }
    }
    void part_group() {
        parted_ = true;
        for (std::size_t k = 0; k < others_; ++k) {
            Other& other = of_parent_[k];
            if (other.shift < 0) continue;
            std::uint32_t *zero = other.with[0].data(), *one = other.with[1].data(), ones = 0;
            for (std::uint32_t i = 0; i < group_size_; ++i) {
                const std::uint32_t row = group_[i], bit = other.codes[row] >> other.shift & 1;
                other.ones[i] = ones;
                zero[i - ones] = one[ones] = row;
                ones += bit;
            }
            other.ones[group_size_] = ones;
        }
    }

    Leaf& leaf_;
    const std::vector<Number>& sums_;
    const std::vector<double>& alone_;
    std::size_t rows_, others_ = 0, depths_ = 1;
    int levels_ = 0;                                     // of the last parent
    double price_ = 0;
    std::vector<std::uint32_t> rank_;                    // a row's number in the order of the last parent; all below is by it
    std::vector<std::uint16_t> last_;                    // codes of the last parent
    std::vector<double> lone_;                           // value of every row by itself
    std::vector<Number> own_, joined_;                   // sums of rows; of runs, under their first place in the group
    Other of_parent_[most_others];
    std::size_t step_[most_others] = {};                 // in kept_, from a depth of the parent to the next
    std::vector<std::vector<Groups>> lists_;             // [parent][depth]
    std::vector<std::uint32_t> spare_;
    std::unique_ptr<double[]> kept_;                     // [depths of the others][first row][depth of the last parent]
    std::size_t kept_size_ = 0;
    const std::uint32_t* group_ = nullptr;
    std::uint32_t group_size_ = 0;
    double* group_kept_ = nullptr;
    bool parted_ = false;
};

}  // namespace spinney
