// Sums of continuous columns: over all rows, per cell of discrete columns, and what a covariance gives.
//
// Columns come standardised (mean about 0, variance about 1, or all 0), so one pass over the rows is precise enough unless a
// variance is small beside the squares that it is the difference of; whoever meets such a one calls `residuals`, which works on
// the rows themselves. Sums are taken in blocks of rows, so their rounding does not grow with the rows, and in an order that
// neither threads nor earlier questions change.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "set_key.hpp"
#include "threads.hpp"

namespace spinney {

struct MixedColumn {
    int levels = 0;                                      // 0: continuous
    const std::uint16_t* codes = nullptr;                // of levels; of a continuous column: its bins, where a score reads them
    const double* values = nullptr;                      // continuous: standardised
    int bins = 0;                                        // of a continuous column that has codes
    double log_scale = 0;                                // log of what the values were divided by: 0 leaves scores in these units
};

// Means and covariances (divisor N) of m columns, m x m. fill(column, first, rows, out) writes a stretch of a column.
struct Covariance {
    int columns = 0;
    std::vector<double> mean, matrix, variance;          // variance: the diagonal, once more
    const double* row(int i) const { return matrix.data() + static_cast<std::size_t>(i) * columns; }
    void take_diagonal() {
        variance.clear();
        for (int i = 0; i < columns; ++i) variance.push_back((*this)(i, i));
    }
    double operator()(int i, int j) const { return matrix[static_cast<std::size_t>(i) * columns + j]; }
};

struct MixedData {
    std::size_t rows = 0;
    std::vector<MixedColumn> columns;
    // Where the rows lie elsewhere, the columns have no cells: the moments of continuous ones and of the indicators of all
    // levels, column after column. A continuous column that does not vary has a variance of exactly 0.
    const Covariance* given = nullptr;
};

using FillColumn = std::function<void(int column, std::size_t first, std::size_t rows, double* out)>;
Covariance covariance(int columns, std::size_t rows, const FillColumn& fill, Team& team);

constexpr double dependent = 1e-10;                      // of a column's variance: less given earlier columns is none
constexpr double doubtful = 1e-5;                        // less is computed from the rows

// Cholesky's factor of a k x k matrix, in place below the diagonal, column after column; pivot[j] is what is left of
// the j-th variance given the columns kept before it. Columns that keep at most `least` are left out: their pivot is 0.
void factor(int k, double* matrix, double* pivot, double least);
// The inverse of the matrix that was factored.  REQUIRES: no column was left out.
void invert(int k, const double* factored, const double* pivot, double* inverse);

// Variances (divisor: the number of rows) of columns given those kept before them, by orthogonalising the columns
// themselves; those of at most `dependent` are 0. rows empty: all of them.
void residuals(std::span<const double* const> columns, std::size_t n, std::span<const std::uint32_t> rows, double* pivot);

// The rows by the joint levels of some discrete columns, and sums of continuous columns in every cell.
class CellSums {
public:
    CellSums(const MixedData& data, std::vector<int> discrete, int continuous);

    std::size_t cells() const { return counts_.size(); } // some may be empty
    const std::vector<std::uint32_t>& counts() const { return counts_; }

    struct Pair { int a, b; };                           // places among the continuous columns; a == b: sum and square
    // All that is not there yet, in one pass over the rows.
    void need(std::span<const Pair> pairs, std::span<const double* const> columns);
    // (sum, sum of squares) of every cell; the sum of products of every cell.  REQUIRES: needed before.
    const double* own(int column) const { return own_[column].get(); }
    const double* product(int a, int b) const { return products_.at(name(a, b)).get(); }
    // The rows of every cell, one cell after another; starts has one entry more than there are cells.
    const std::vector<std::uint32_t>& rows_by_cell(std::vector<std::uint32_t>& starts);

    std::size_t bytes() const { return bytes_; }
    std::size_t code_bytes() const { return (codes_.size() + rows_.size()) * sizeof(std::uint32_t); }
    void forget_codes();                                 // they are made again when they are needed

private:
    static std::uint64_t name(int a, int b) { return static_cast<std::uint64_t>(std::min(a, b)) << 32 | std::max(a, b); }
    void make_codes();
    void squeeze(std::vector<std::uint64_t>& joint, std::uint64_t& size) const;
    template <class Code>
    void pass(const Code* codes, std::span<const Pair> pairs, std::span<const double* const> columns);

    const MixedData& data_;
    std::vector<int> discrete_;
    std::vector<std::uint32_t> counts_, codes_, rows_, starts_;
    std::vector<std::unique_ptr<double[]>> own_;
    std::unordered_map<std::uint64_t, std::unique_ptr<double[]>> products_;
    std::size_t bytes_ = 0;
};

}  // namespace spinney
