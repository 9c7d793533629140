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

#include <map>
#include <memory>
#include <vector>

#include "family_sets.hpp"
#include "logistic.hpp"
#include "orthonormal.hpp"
#include "row_groups.hpp"

namespace spinney {

struct MixedPolyData {
    std::vector<PolyColumn> columns;
    std::size_t rows = 0;
};

struct PolynomialSpec {
    bool logistic = false;                               // lr; else mvp
    int degree = 1;                                      // 0: floor(log n), none in cells of one or two rows
    bool count_variance = false;                         // as a parameter of every cell of a continuous child
    std::vector<double> size_prior;                      // log prior by number of parents; the last one serves above
    double per_parameter = 0;                            // log prior per free parameter

    double prior(std::size_t parents) const {
        return size_prior.empty() ? 0 : size_prior[std::min(parents, size_prior.size() - 1)];
    }
    int degree_of(std::size_t rows) const;
};

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

class PolynomialFamilies final : public FamilyWorker {
public:
    // most_bytes: for the columns of one family; 0: no limit.
    PolynomialFamilies(const MixedPolyData& data, const PolynomialSpec& spec, int child, double most_bytes = 0);
    double score(std::span<const int> parents) override;
    bool fits(std::span<const int> parents) override;
    FamilyLikelihood likelihood(std::span<const int> parents) override;
    std::vector<CellFit> fit(std::span<const int> parents);

private:
    struct Powers {                                      // of one continuous column in all cells
        std::vector<double> values, shares;              // of a cell: one column after another; see orthonormal_powers
        std::vector<std::size_t> first, first_share;     // cell -> place in values, in shares
        std::vector<int> count;                          // cell -> columns that there are
    };
    struct Grouped {
        RowGroups groups;
        std::vector<double> response;                    // continuous child, less the mean of its cell, in the order of the groups
        std::vector<double> alone;                       // cell -> its sum of squares, or its log-likelihood, without columns
        std::map<int, Powers> powers;
        std::size_t bytes = 0;                           // with the powers
        std::uint64_t asked = 0;                         // when
    };
    struct Cell;                                         // what is fitted in one cell

    Grouped& grouped(std::span<const int> discrete, std::span<const int> continuous);
    void make_room(Grouped& needed, std::span<const int> continuous);
    Grouped group(std::span<const int> discrete);
    const Powers& powers(Grouped& grouped, int column);
    void regress(Cell& cell, std::span<const Powers* const> powers, bool keep);
    double squares_left(const Cell& cell);
    double shrunk(const Cell& cell);
    double softmax(const Cell& cell);
    void sums_by_level(const Cell& cell);
    double gaussian(std::span<const std::pair<std::size_t, double>> squares, std::vector<double>& variances) const;
    // With a place for fits, the same numbers and what they were made of.
    FamilyLikelihood go_through(std::span<const int> parents, std::vector<CellFit>* fits);
    CellFit kept_fit(const Cell& cell, std::span<const int> discrete, std::span<const int> continuous) const;

    const MixedPolyData& data_;
    const PolynomialSpec& spec_;
    const PolyColumn& child_;
    double most_bytes_;
    double variance_ = 0;                                // of a continuous child in the whole table; 0: it is constant
    std::map<std::vector<int>, Grouped> kept_;           // by discrete parents
    std::size_t bytes_ = 0;                              // of all that is kept
    std::uint64_t asked_ = 0;
    std::vector<std::vector<double>> spare_;             // memory of powers that are not kept any more
    LogisticCell logistic_;
    // Of the cell that is looked at: its columns, and for the fit how each came from a column of a parent.
    std::vector<const double*> columns_;
    struct Origin { std::size_t parent; int column; std::vector<double> taken; };
    std::vector<Origin> origins_;
    std::vector<double> columns_values_, rest_, slopes_, observed_, block_;
};

// REQUIRES: data and spec outlive it.
FamilyScores polynomial_scores(const MixedPolyData& data, const PolynomialSpec& spec, double most_bytes = 0);

}  // namespace spinney
