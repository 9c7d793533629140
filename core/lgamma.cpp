#include "lgamma.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

namespace spinney {
namespace {

// What Stirling's formula leaves out: lgamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + this.  REQUIRES: x >= 16.
double stirling_rest(double x) {
    double y = 1 / (x * x);
    return (1.0 / 12 + y * (-1.0 / 360 + y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188))))) / x;
}

}  // namespace

double log_gamma(double x) {
    double shift = 0;
    if (x < 16) {
        double product = 1;
        for (; x < 16; ++x) product *= x;
        shift = std::log(product);
    }
    return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + stirling_rest(x) - shift;
}

RisingLog::RisingLog(double a) : a_(a), base_(log_gamma(a)) {}

// Adding the logarithms keeps full precision where lgamma(a + n) - lgamma(a) would cancel.
double RisingLog::grown(std::uint32_t n) {
    std::size_t end = std::min<std::size_t>(table_end, n + n / 4 + 16);
    for (std::size_t k = table_.size(); k < end; ++k) {
        table_.push_back(sum_ + lost_);
        const double term = std::log(a_ + static_cast<double>(k)), next = sum_ + term;
        // What the addition rounded away: Neumaier (1974). No wider type is the same on all machines.
        lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    return table_[n];
}

namespace {

// Four sums at a time: one would wait for each addition. REQUIRES: every count below the table's size.
double table_sum(const double* table, std::span<const std::uint32_t> counts) {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t i = 0;
    for (; i + 4 <= counts.size(); i += 4) {
        a += table[counts[i]];
        b += table[counts[i + 1]];
        c += table[counts[i + 2]];
        d += table[counts[i + 3]];
    }
    for (; i < counts.size(); ++i) a += table[counts[i]];
    return (a + b) + (c + d);
}

std::uint32_t largest(std::span<const std::uint32_t> counts) {
    std::uint32_t most = 0;
    for (std::uint32_t n : counts) most = std::max(most, n);
    return most;
}

}  // namespace

double RisingLog::sum(std::span<const std::uint32_t> counts) {
    std::uint32_t most = 0;                              // of those that the table is for
    bool all = true;
    for (std::uint32_t n : counts) {
        most = std::max(most, n < table_end ? n : 0);
        all &= n < table_end;
    }
    if (most >= table_.size()) grown(most);
    if (all) return table_sum(table_.data(), counts);
    double small = 0, large = 0;
    for (std::uint32_t n : counts) {
        if (n < table_end) {
            small += table_[n];
        } else {
            large += beyond(n);
        }
    }
    return small + large;
}

double RisingLog::beyond(std::uint32_t n) const {
    if (a_ >= 16) return rising_log(a_, n);
    const double x = a_ + n;                             // above 512, where two terms of the series are all of it
    return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + (1.0 / 12 - 1 / (360 * x * x)) / x - base_;
}

double rising_log(double a, std::uint32_t n) {
    // The two large logarithms must cancel on paper, not in the machine.
    if (a >= 16) return (a - 0.5) * std::log1p(n / a) + n * std::log(a + n) - n + (stirling_rest(a + n) - stirling_rest(a));
    if (n > 64) return log_gamma(a + n) - log_gamma(a);
    double sum = 0;
    for (std::uint32_t i = 0; i < n; ++i) sum += std::log(a + i);
    return sum;
}

namespace {

const auto n_log_n = [] {                                // fits the nearest cache
    std::array<double, 4096> made{};
    for (std::size_t n = 1; n < made.size(); ++n) made[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
    return made;
}();

}  // namespace

double sum_n_log_n(std::span<const std::uint32_t> counts) {
    if (largest(counts) < n_log_n.size()) return table_sum(n_log_n.data(), counts);
    double total = 0;
    for (std::uint32_t n : counts) total += n < n_log_n.size() ? n_log_n[n] : n * std::log(static_cast<double>(n));
    return total;
}

// C(K, n) = sum_k n^(falling k) (K-1)^(rising k) / (n^k k!), Mononen and Myllymaki (2008): positive terms that rise,
// then fall; about sqrt(n K) of them matter. Scaled by the largest seen so far, so that nothing overflows.
double log_regret(double levels, std::uint32_t n) {
    if (n == 0 || levels <= 1) return 0;
    double log_scale = 0, term = 1, sum = 1;
    for (std::uint32_t k = 0; k < n; ++k) {
        term *= (double(n) - k) * (levels - 1 + k) / (double(n) * (k + 1.0));
        sum += term;
        if (sum > 1e250) {
            log_scale += std::log(sum);
            term /= sum;
            sum = 1;
        }
        if (term < sum * 1e-18 && (double(n) - k - 1) * (levels + k) < double(n) * (k + 2.0)) break;
    }
    return log_scale + std::log(sum);
}

// Szpankowski (2001), as Kontkanen and Myllymaki (2007) print it.
double log_regret_approximated(double levels, std::uint32_t n) {
    if (n == 0 || levels <= 1) return 0;
    const double k = levels, m = n, ratio = std::exp(log_gamma(k / 2) - log_gamma(k / 2 - 0.5));
    return (k - 1) / 2 * std::log(m / 2) + 0.5 * std::log(std::numbers::pi) - log_gamma(k / 2) +
           std::sqrt(2 / m) * k * ratio / 3 + ((3 + k * (k - 2) * (2 * k + 1)) / 36 - ratio * ratio * k * k / 9) / m;
}

namespace {

// Regularised incomplete gammas P(s, x) and Q(s, x): series left of the mode, continued fraction (Lentz) right of it. The
// smaller of the two has all its digits.
struct Gammas {
    double lower, upper;
};
Gammas incomplete_gammas(double s, double x) {
    if (x <= 0) return {0, 1};
    double front = std::exp(s * std::log(x) - x - log_gamma(s));
    if (x < s + 1) {
        double term = 1 / s, sum = term;
        for (double k = s + 1; term > sum * 1e-17; ++k) sum += term *= x / k;
        return {front * sum, 1 - front * sum};
    }
    double b = x + 1 - s, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 100000; ++i) {
        double an = -i * (i - s);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        double delta = d * c;
        h *= delta;
        if (std::abs(delta - 1) < 1e-16) break;
    }
    return {1 - front * h, front * h};
}

double gamma_p(double s, double x) { return incomplete_gammas(s, x).lower; }

double normal_quantile(double p) {                       // Newton on the tail, from where the tail is not flat
    double z = 0;
    for (int step = 0; step < 100; ++step) {
        double error = 0.5 * std::erfc(-z / std::sqrt(2.0)) - p, density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        double next = z - std::clamp(error / density, -1.0, 1.0);
        if (std::abs(next - z) < 1e-15 * (1 + std::abs(z))) return next;
        z = next;
    }
    return z;
}

}  // namespace

double chi2_quantile(double p, double df) {
    if (df <= 0 || p <= 0) return 0;
    if (p >= 1) return std::numeric_limits<double>::infinity();
    if (df > 1e6) {                                      // Cornish-Fisher, Goldberg and Levine (1946); the rest is O(df^-3/2)
        double z = normal_quantile(p), root = std::sqrt(2 * df), z2 = z * z;
        return df + root * z + 2 * (z2 - 1) / 3 + z * (z2 - 7) / (9 * root) - (6 * z2 * z2 + 14 * z2 - 32) / (405 * df);
    }
    // A bracket, then Newton steps kept inside it: safe for every df.
    double lo = 0, hi = df + 20 * std::sqrt(2 * df) + 20, s = df / 2;
    while (gamma_p(s, hi / 2) < p) hi *= 2;
    double x = df;
    for (int step = 0; step < 200; ++step) {
        double error = gamma_p(s, x / 2) - p;
        (error > 0 ? hi : lo) = x;
        double density = 0.5 * std::exp((s - 1) * std::log(x / 2) - x / 2 - log_gamma(s));
        double next = density > 0 ? x - error / density : -1;
        if (!(next > lo && next < hi)) next = (lo + hi) / 2;
        if (std::abs(next - x) <= 1e-15 * x) return next;
        x = next;
    }
    return x;
}

double chi2_tail(double x, double df) {
    if (!(df > 0) || !(x > 0) || std::isinf(df)) return 1;
    return std::isinf(x) ? 0 : std::clamp(incomplete_gammas(df / 2, x / 2).upper, 0.0, 1.0);
}

double Tables::regret(double levels, std::uint32_t n) {
    {
        std::lock_guard guard(lock_);
        auto place = regret_.find({levels, n});
        if (place != regret_.end()) return place->second;
    }
    double value = log_regret(levels, n);                // long for large n: outside the lock
    std::lock_guard guard(lock_);
    return regret_[{levels, n}] = value;
}

double Tables::chi2(double p, double df) {
    std::lock_guard guard(lock_);
    auto [place, made] = chi2_.try_emplace({p, df}, 0.0);
    if (made) place->second = chi2_quantile(p, df);
    return place->second;
}

}  // namespace spinney
