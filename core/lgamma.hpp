// Special functions of the table scores, each with a table where the argument is a count.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace spinney {

// log of the rising factorial: rising(n) = lgamma(a + n) - lgamma(a), exact to a few ulps for every a > 0. The table
// grows as larger n are asked for; a value does not depend on when it was asked.
class RisingLog {
public:
    explicit RisingLog(double a);
    double operator()(std::uint32_t n) {
        if (n < table_.size()) return table_[n];
        return n < table_end ? grown(n) : beyond(n);
    }
    double sum(std::span<const std::uint32_t> counts);

private:
    static constexpr std::uint32_t table_end = 512;      // above, one logarithm is cheap enough
    double grown(std::uint32_t n);
    double beyond(std::uint32_t n) const;
    double a_, base_;                                    // base_ = lgamma(a)
    double sum_ = 0, lost_ = 0;                          // of the logarithms so far, and what its additions lost
    std::vector<double> table_;
};

double log_gamma(double x);                              // REQUIRES: x > 0; std::lgamma is not safe in threads
double rising_log(double a, std::uint32_t n);           // one value without a table

// n log n, 0 log 0 = 0: the sum over counts.
double sum_n_log_n(std::span<const std::uint32_t> counts);

// log C(levels, n): the regret of the multinomial with that many levels, for any (also huge) number of levels.
double log_regret(double levels, std::uint32_t n);
// Its asymptotic form, off by about 1e-7 at n = 5000 and a few levels, more with many.
double log_regret_approximated(double levels, std::uint32_t n);

// x with P(chi2_df <= x) = p.
double chi2_quantile(double p, double df);
double chi2_tail(double x, double df);                   // P(chi2_df >= x)

// Slow values, remembered and shared by all threads.
class Tables {
public:
    double regret(double levels, std::uint32_t n);       // log C(levels, n)
    double chi2(double p, double df);

private:
    std::mutex lock_;
    std::map<std::pair<double, std::uint32_t>, double> regret_;
    std::map<std::pair<double, double>, double> chi2_;
};

}  // namespace spinney
