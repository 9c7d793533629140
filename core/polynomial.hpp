// mvp and lr (Andrews, Ramsey and Cooper 2018, section 4): in every cell of the discrete parents a regression on powers of the
// continuous ones, without interactions. A discrete child is regressed by its indicators (mvp) or by multinomial logits (lr).
//
// Decided where the paper says nothing; a cell has n rows, c continuous parents, g powers of each:
// - Cells without rows count nowhere. n <= c g + 1: the constant alone is fitted, and all c g + 1 coefficients count as parameters.
// - Columns that are made of earlier ones are dropped, and count as parameters (orthonormal.hpp).
// - Continuous child: the variance of a cell is RSS/n. A cell of one row has density 1 per standard deviation of the child (divisor
//   N - 1). Where two or more rows leave at most 1e-10 of the child's variance, the variance is that of the family, RSS of all cells
//   / N; where that is no more either, e 1e-10: rows at their fitted values then have the density that rows with a residual of
//   1e-5 have on average. A child that is constant in the table has log-likelihood 0.
// - Discrete child with r declared levels, mvp: fitted values are shrunk towards 1/r until the smallest is 1/n. With n <= r, or
//   without columns, the frequencies of the cell are its probabilities. lr: levels that do not occur in a cell have probability 0 there.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "local_scores.hpp"
#include "logistic.hpp"
#include "near_scores.hpp"
#include "polynomial_cells.hpp"

namespace spinney {

// One fitted cell.
struct CellFit {
    std::vector<int> levels;                             // of the discrete parents
    std::size_t rows = 0;
    struct Range { double low = 0, high = 0; int degree = 0; };
    std::vector<Range> ranges;                           // per continuous parent; degree 0: it is not used
    // Per response (the child, or each of its declared levels): the constant, then, parent by parent, the Legendre polynomials 1 to
    // degree of the parent mapped from its range to [-1, 1]. Empty: a level that does not occur.
    std::vector<std::vector<double>> coefficients;
    double variance = 0;                                 // continuous child, in the units of its column
    enum Rule { gaussian, frequencies, shrunk, softmax } rule = gaussian;
};

class PolynomialFamilies final : public LocalScores, public NearScores {
public:
    // REQUIRES: data and spec outlive it. most_bytes: for the columns of one family; 0: no limit.
    PolynomialFamilies(const MixedPolyData& data, const PolynomialSpec& spec, double most_bytes = 0)
        : data_(data), spec_(spec), most_bytes_(most_bytes), cells_(data, spec), spreads_(data.columns.size()) {}

    double score(int child, std::span<const int> parents) override;
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        for (std::size_t i = 0; i < candidates.size(); ++i) out[i] = score(child, with(parents, candidates[i]));
    }
    void near(int child, std::span<const int> parents, std::span<const int> candidates, double least, double* out) override;
    FamilyLikelihood likelihood(int child, std::span<const int> parents) override;
    std::vector<CellFit> fit(int child, std::span<const int> parents);
    std::uint64_t left_out() const override { return *left_out_; }
    std::unique_ptr<LocalScores> another() const override {
        auto copy = std::make_unique<PolynomialFamilies>(data_, spec_, most_bytes_);
        copy->left_out_ = left_out_;
        return copy;
    }

private:
    struct Cell {                                        // what is fitted in one cell
        const Grouped& grouped;
        const Response& response;
        int child;
        std::size_t number;
        CellFit::Rule rule = CellFit::gaussian;

        const RowCell& rows() const { return grouped.groups.cells[number]; }
        std::size_t n() const { return rows().rows(); }
        std::span<const Response::Level> levels() const {
            return response.codes.empty() ? std::span<const Response::Level>() : response.levels_of(number);
        }
    };
    struct Spread { double mean = 0, variance = -1; };   // of a continuous column in the whole table; -1: not asked for yet
    using Squares = std::vector<std::pair<std::size_t, double>>;         // per cell: rows, sum of squares that is left

    const Spread& spread(int column);
    void split(std::span<const int> parents, std::vector<int>& discrete, std::vector<int>& continuous) const;
    bool fits(int child, std::span<const int> parents) const;
    double from(const FamilyLikelihood& found, std::size_t parents) const;
    bool has_regression(const Cell& cell, std::size_t width);
    double parameters_of(int child, std::size_t width) const;            // in a cell
    double squares_left(const Cell& cell);
    void sums_by_level(const Cell& cell, std::size_t from);
    double shrunk(const Cell& cell, const double* base, std::size_t from);
    double regressed(const Cell& cell, const double* base, std::size_t from);
    double gaussian(int child, const Squares& squares, std::vector<double>* variances);
    // With a place for fits, the same numbers and what they were made of.
    FamilyLikelihood go_through(int child, std::span<const int> parents, std::vector<CellFit>* fits);
    CellFit kept_fit(const Cell& cell, const std::vector<Basis::Origin>& origins, std::span<const int> discrete,
                     std::span<const int> continuous) const;

    struct Larger;                                       // a family that is extended (polynomial_near.cpp)
    // With one parent more, from few sums; none where these are not precise.
    std::optional<FamilyLikelihood> with_column(Larger& family, int column);
    std::optional<FamilyLikelihood> with_levels(Larger& family, int column);
    std::optional<double> squares_with(Larger& family, std::size_t cell, const Powers& powers);
    std::optional<double> levels_with(Larger& family, Cell& cell, const Powers& powers);
    double n_log_n(std::size_t n);

    const MixedPolyData& data_;
    const PolynomialSpec& spec_;
    double most_bytes_;
    PolynomialCells cells_;
    std::vector<Spread> spreads_;
    std::shared_ptr<std::atomic<std::uint64_t>> left_out_ = std::make_shared<std::atomic<std::uint64_t>>(0);
    LogisticCell logistic_;
    // Of the cell that is looked at.
    std::vector<const double*> columns_;
    std::vector<double> rest_, slopes_, observed_, block_, table_, new_columns_, gram_, shared_;
    std::vector<std::size_t> place_;
    std::vector<std::uint32_t> counts_;
    std::vector<double> logs_;                           // n log n of small n
};

}  // namespace spinney
