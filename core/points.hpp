// The rows of a family, summed up once: its *points*.
//
// Idea. No tree and no table tells rows apart that lie in the same finest cell of every parent. So the child's sums are
// taken per joint finest cell, in one pass over the rows, and the search goes over the cells that hold rows, the points.
// Where the joint cells are not many more than the rows they are numbered by the parents' codes, else as they occur.
//
// Sums of numbers lose digits with every addition. So a block of the rows is added up by itself, and then to the total;
// and rows that follow each other go to different *banks* of one cell, because the next addition to a number in memory
// waits for the one before it.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "threads.hpp"
#include "tree_column.hpp"

namespace spinney {

// The joint finest cell of every row.
class JointCells {
public:
    // `width`: numbers that a cell takes.
    void set(std::span<const TreeColumn> parents, std::size_t rows, std::size_t width);
    std::size_t count() const { return count_; }         // of cells; all below have a row only if `sparse`
    bool sparse() const { return sparse_; }
    std::size_t first_row(std::size_t cell) const { return first_[cell]; }       // REQUIRES: sparse
    // The cells of rows from .. from + n - 1.
    void of_rows(std::size_t from, std::size_t n, std::uint32_t* out) const;

private:
    void number_as_they_occur();
    std::size_t relabel();

    std::vector<TreeColumn> parents_;
    std::size_t rows_ = 0, count_ = 1;
    bool sparse_ = false;
    std::vector<std::uint64_t> keys_, held_;
    std::vector<std::uint32_t> number_, first_, table_;  // of every row; the first row of every cell; hash table
};

template <class Leaf>
class Points {
    using Number = typename Leaf::Number;

public:
    void gather(const Leaf& leaf, std::span<const TreeColumn> parents, std::size_t rows) {
        width_ = leaf.width();
        cells_.set(parents, rows, width_);
        add_rows(leaf, rows);
        keep(parents);
        if constexpr (std::is_integral_v<Number>) find_only();
    }
    std::size_t size() const { return size_; }
    const std::uint16_t* codes(std::size_t parent) const { return codes_[parent].data(); }   // groups, where grouped
    const Number* sums(std::size_t point) const { return sums_.data() + point * width_; }
    void add(std::size_t point, Number* sums, std::size_t stride) const {
        const Number* own = this->sums(point);
        if constexpr (std::is_integral_v<Number>)
            if (const std::int32_t only = only_[point]; only >= 0) {
                sums[only * stride] += own[only];
                return;
            }
        for (std::size_t k = 0; k < width_; ++k) sums[k * stride] += own[k];
    }
    // The leaf of every point by itself.
    const std::vector<double>& alone(Leaf& leaf) {
        constexpr std::size_t piece = 256;
        alone_.resize(size_);
        turned_.resize(piece * width_);
        std::size_t point[piece], n = 0;
        double scores[piece];
        auto score = [&] {
            leaf.scores(turned_.data(), piece, n, scores);
            for (std::size_t i = 0; i < n; ++i) alone_[point[i]] = scores[i];
            n = 0;
        };
        for (std::size_t p = 0; p < size_; ++p) {
            const Number* own = sums(p);
            if constexpr (Leaf::slow)
                if (leaf.one_row(own, alone_[p])) continue;
            for (std::size_t k = 0; k < width_; ++k) turned_[k * piece + n] = own[k];
            point[n++] = p;
            if (n == piece) score(), Listening::look();
        }
        if (n) score();
        return alone_;
    }

private:
    void add_rows(const Leaf& leaf, std::size_t rows) {
        constexpr std::size_t piece = 4096;
        const std::size_t cells = cells_.count(), block = std::max<std::size_t>(4 * piece, 4 * cells);
        const std::uint32_t banks = rows < 8 * cells ? 1 : cells <= 128 ? 4 : cells <= 1024 ? 2 : 1;
        const bool once = rows <= block && banks == 1;
        number_.resize(std::min(piece, rows));
        sums_.assign(cells * width_, Number{0});
        if (!once) banked_.assign(cells * banks * width_, Number{0});
        for (std::size_t from = 0; from < rows; from += piece) {
            const std::size_t n = std::min(piece, rows - from);
            Listening::look();
            cells_.of_rows(from, n, number_.data());
            if (banks > 1)
                for (std::size_t i = 0; i < n; ++i) number_[i] = number_[i] * banks + (i & (banks - 1));
            leaf.add_rows(from, n, number_.data(), once ? sums_.data() : banked_.data());
            if (!once && (from + n == rows || (from + n) % block < piece)) empty_banks(banks);
        }
    }
    void empty_banks(std::size_t banks) {
        const std::size_t numbers = width_;
        Number *from = banked_.data(), *to = sums_.data(), *end = to + sums_.size();
        for (; to < end; to += numbers)
            for (std::size_t bank = 0; bank < banks; ++bank, from += numbers)
                for (std::size_t k = 0; k < numbers; ++k) to[k] += from[k], from[k] = Number{0};
    }
    // Counts: where few rows share a cell most points have one level only, and adding them up need not look at the others.
    void find_only() {
        only_.resize(size_);
        for (std::size_t point = 0; point < size_; ++point) {
            const Number* own = sums(point);
            std::int32_t level = -1, levels = 0;
            for (std::size_t k = 0; k < width_; ++k)
                if (own[k]) level = static_cast<std::int32_t>(k), ++levels;
            only_[point] = levels == 1 ? level : -1;
        }
    }
    // Drops the cells without rows, and notes the codes of the others.
    void keep(std::span<const TreeColumn> parents) {
        const std::size_t cells = cells_.count(), k = parents.size();
        if (codes_.size() < k) codes_.resize(k);
        for (std::size_t j = 0; j < k; ++j)
            if (codes_[j].size() < cells) codes_[j].resize(cells);
        size_ = 0;
        if (cells_.sparse()) {
            for (; size_ < cells; ++size_)
                for (std::size_t j = 0; j < k; ++j) codes_[j][size_] = static_cast<std::uint16_t>(parents[j].at(cells_.first_row(size_)));
            return;
        }
        digits_.assign(k, 0);
        for (std::size_t cell = 0; cell < cells; ++cell) {
            const Number *own = sums_.data() + cell * width_, *end = own + width_;
            if (std::any_of(own, end, [](Number number) { return number != 0; })) {
                if (size_ < cell) std::copy(own, end, sums_.data() + size_ * width_);
                for (std::size_t j = 0; j < k; ++j) codes_[j][size_] = digits_[j];
                ++size_;
            }
            for (std::size_t j = k; j-- > 0;) {
                if (++digits_[j] < cells_of(parents[j])) break;
                digits_[j] = 0;
            }
        }
    }

    JointCells cells_;
    std::size_t size_ = 0, width_ = 0;
    std::vector<Number> sums_, banked_, turned_;         // sums_: those of a point side by side
    std::vector<std::uint32_t> number_;
    std::vector<std::int32_t> only_;                     // of a point: its one level, or -1
    std::vector<std::uint16_t> digits_;
    std::vector<std::vector<std::uint16_t>> codes_;      // [parent][point]
    std::vector<double> alone_;
};

}  // namespace spinney
