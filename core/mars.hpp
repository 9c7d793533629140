// Multivariate adaptive regression splines (Friedman 1991; Fast MARS 1993), with the rules of R's earth where the papers leave
// them open (its documentation, and what it does on examples).
//
// A model is a sum of basis functions; each is a product of hinges (x - t)+, (t - x)+ or lines in different columns. The forward pass
// adds, again and again, the pair B(x - t)+, B(t - x)+ that lowers the squares most, over all basis functions B so far, columns x that
// are not in B, and knots t among the values; the backward pass drops one function after another, and the subset with the least GCV is
// the model.
//
// The idea that makes it quick: B(t - x)+ is a combination of B(x - t)+, Bx and B, so a pair is the line Bx and one hinge. With an
// orthonormal basis q of the model so far, all that decides a hinge h is its length, its product with the line and its products with the
// responses, each less what the q explain of it. These numbers are kept per knot from step to step: a step brings one or two new q, and
// one sweep over the rows, in the order of x, gives their products with the hinges of all knots, for (x - t')+ grows from (x - t)+ by
// the sum of what lies above t. So a step costs a few operations per row, basis function and column, however large the model is.
//
// Indicators of one variable share a pass: sums by code give those of every level. A row enters a weighted sum of squares by the root of
// its weight, so with groups everything but the constant function stays as it is.
//
// Rules, with n rows and p columns:
// - Every m-th of the rows with B > 0 gives a knot, counted from the largest x, and the outer e have none; m and e by Friedman's (43)
//   and (45) with alpha 0.05, where not given; in products e is three times as large (earth: Adjust.endspan 2). The count begins
//   where the hinge is no longer 0 everywhere: of rows that share the largest x only the last one counts.
// - A hinge counts where more than 1% of its centred squares (from the 15th function on 1e-5) are not explained by the model and the line,
//   and a line where more than 0.01 of its squares, in the caller's units, are not. A hinge whose line does not count comes alone.
// - A pair takes two places of max_terms, also where it is a line or a hinge alone, and only the functions in the first so many places as
//   there are functions are parents: so earth does.
// - Fast MARS: of more functions than fast_k those are searched that come first by rank + fast_beta * age, where the rank is by what they
//   gained when last searched, and the age counts the places that were taken since. One that was not searched yet ranks before all others,
//   also if it cannot be a parent. (The paper has age count the other way.)
// - A hinge that lowers the squares by more than 1.01 times what is left, or 10 times the step before, is taken for rounding.
// - The pass ends where max_terms is reached, R2 is above 1 - threshold, R2 gains less than `threshold`, or 1 - GCV/GCV0 is below -10;
//   in the last two cases the pair is not taken.
// - Where no knot counts, the line x enters, or, without `lines`, the hinge at the smallest x (earth: Auto.linpreds).
// The second and this rule look at units and origins: whoever wants an answer without them standardises the columns.
// - Reductions within 1e-9 of each other are equal, and the first is taken: earlier functions, then earlier columns, then larger knots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

struct MarsSpec {
    int degree = 1;                                      // most factors of a product
    int max_terms = 0;                                   // of the forward pass; 0: min(200, max(20, 2p)) + 1
    double penalty = 2;                                  // of a knot in GCV, in parameters; -1: GCV is the mean square
    double threshold = 0.001;
    int minspan = 0, endspan = 0;                        // rows between knots, and beyond the outer ones; 0: by the formulas
    int fast_k = 20;                                     // functions, three at least, that are looked at in a step; 0: all
    double fast_beta = 1;                                // how fast those that were left out fall back
    bool lines = true;                                   // else hinges at the smallest x stand for them
    bool prune = true;
    double most_bytes = 1 << 29;                         // kept between steps
    double least_left = 0;                               // of the squares: the backward pass takes less for this, or rounding would choose
    int most_terms(std::size_t columns) const;
};

// A predictor. REQUIRES: finite values of about unit spread and mean 0, but for columns of two values.
struct MarsColumn {
    const double* values = nullptr;
    double origin = 0, unit = 1;                         // (value - origin) * unit is what the caller calls x
    std::vector<std::uint32_t> order;                    // rows by rising value, equal ones as they come
    bool two_values = false;                             // its only hinge is at the smaller one
    const std::uint16_t* codes = nullptr;                // of an indicator: 1 where the code is `level`; many share their codes
    int level = 0, levels = 0;
    void sort(std::size_t rows);
};

struct MarsFactor {
    int column;
    int direction;                                       // 1: (x - t)+, -1: (t - x)+, 0: x
    std::uint32_t row;                                   // the one whose value is t; for a line that of the smallest value
};

struct MarsFit {
    std::vector<std::vector<MarsFactor>> terms;          // of the forward pass; the first is the constant
    std::vector<int> selected;                           // rising
    std::vector<std::vector<double>> coefficients;       // per response, of the selected terms
    std::vector<std::vector<int>> subsets;               // of the backward pass, by number of terms, from 1
    std::vector<double> rss, gcv;                        // of these
    double total = 0;                                    // squares around the means
    const char* ended = "";                              // why the forward pass did
    double own_rss() const { return rss[selected.size() - 1]; }
    double own_gcv() const { return gcv[selected.size() - 1]; }
};

// (RSS / n) / (1 - C / n)^2 with C = terms + penalty (terms - 1) / 2; infinity where C reaches n.
double mars_gcv(double rss, std::size_t rows, std::size_t terms, double penalty);

// Rows of equal predictors, taken as one: how many they are, and the squares of the responses around their means.
struct MarsGroups {
    std::vector<double> weights;
    std::size_t rows = 0;                                // sum of the weights
    double within = 0;
};

// Squares are summed over the responses, which share their basis functions. With groups a row of the columns is a group, a response
// its mean there, and the fit that of all rows. REQUIRES: rows >= 1; with groups, columns of two values only: they have no knots to be
// placed by counting rows.
MarsFit fit_mars(const MarsSpec& spec, std::span<const MarsColumn* const> columns, std::span<const double* const> responses, std::size_t rows,
                 const MarsGroups* groups = nullptr);

}  // namespace spinney
