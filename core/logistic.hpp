// Multinomial logistic regression of one cell by Newton's method.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spinney {

// log P(level) = intercept + sum_j slope_j q_j - the log of the sum over all levels that occur; those of the last one are 0.
// Maximised is the log-likelihood less ridge/2 times the sum of squared slopes, of all levels with the mean over the levels taken
// out, so that no level is special. The columns q are orthonormal with mean 0: this sum is the variance of the logits over the
// rows, whatever the basis. The ridge matters only where levels can be separated: there slopes would grow for ever.
constexpr double logistic_ridge = 1e-6;

class LogisticCell {
public:
    // The log-likelihood of n rows. `observed`: per level that occurs its number of rows, and the sums of the columns over them.
    // REQUIRES: two levels or more, no empty one; `count` orthonormal columns with mean 0.
    double fit(std::span<const double> observed, const double* const* columns, std::size_t count, std::size_t n);
    // Per level but the last: intercept and slopes. After fit().
    std::span<const double> coefficients() const { return theta_; }

private:
    // The objective at theta_, and its gradient; `curved`: its Hessian too.
    double pass(const double* const* columns, std::size_t n, bool curved);
    double penalty() const;
    void factorise();                                    // hessian_ becomes its Cholesky factor
    void solve();                                        // step_ = hessian^-1 gradient_; what it promises to gain, its squared length
    void move();                                         // theta_ += step_

    std::size_t free_ = 0, width_ = 0;                   // levels but one; intercept and slopes
    std::span<const double> observed_;
    double gain_ = 0, length_ = 0;
    std::vector<double> theta_, gradient_, hessian_, step_, before_, block_;
    std::vector<const double*> own_;
};

}  // namespace spinney
