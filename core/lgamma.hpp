// Special functions of the table scores, each with a table where the argument is a count.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace spinney {

// log of the rising factorial: rising(n) = lgamma(a + n) - lgamma(a), exact to a few ulps for every a > 0.
class RisingLog {
public:
    RisingLog(double a, std::uint32_t most);
    double operator()(std::uint32_t n) const { return n < table_.size() ? table_[n] : beyond(n); }

private:
    double beyond(std::uint32_t n) const;
    double a_, base_;                                    // base_ = lgamma(a)
    std::vector<double> table_;
};

double rising_log(double a, std::uint32_t n);           // one value without a table

// n log n, 0 log 0 = 0.
class NLogN {
public:
    explicit NLogN(std::uint32_t most);
    double operator()(std::uint32_t n) const { return n < table_.size() ? table_[n] : n * std::log(double(n)); }

private:
    std::vector<double> table_;
};

// log C(levels, n): the regret of the multinomial with that many levels, for any (also huge) number of levels.
double log_regret(double levels, std::uint32_t n);

// x with P(chi2_df <= x) = p.
double chi2_quantile(double p, double df);

// Tables made on first use and shared by all threads; a thread keeps the references that it got.
class Tables {
public:
    explicit Tables(std::uint32_t most) : n_log_n(most), most_(most) {}
    const RisingLog& rising(double a);
    double regret(double levels, std::uint32_t n);       // log C(levels, n), remembered
    double chi2(double p, double df);

    const NLogN n_log_n;

private:
    std::mutex lock_;
    std::map<double, std::unique_ptr<RisingLog>> rising_;
    std::map<std::pair<double, std::uint32_t>, double> regret_;
    std::map<std::pair<double, double>, double> chi2_;
    std::uint32_t most_;
};

}  // namespace spinney
