#include "orthonormal.hpp"

#include <algorithm>
#include <cmath>

#include "portable.hpp"
#include "threads.hpp"

namespace spinney {
namespace {

constexpr std::size_t lanes = 8;                         // of sums side by side: the same ones whatever the registers

SPINNEY_INLINE double all_of(const double* lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

}  // namespace

SPINNEY_CLONES double dot(const double* a, const double* b, std::size_t n) {
    double lane[lanes] = {};
    const std::size_t whole = n / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) lane[l] += a[i + l] * b[i + l];
    for (std::size_t i = whole; i < n; ++i) lane[i - whole] += a[i] * b[i];
    return all_of(lane);
}

SPINNEY_CLONES double sum(const double* a, std::size_t n) {
    double lane[lanes] = {};
    const std::size_t whole = n / lanes * lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) lane[l] += a[i + l];
    for (std::size_t i = whole; i < n; ++i) lane[i - whole] += a[i];
    return all_of(lane);
}

SPINNEY_CLONES void subtract(double* __restrict from, double factor, const double* __restrict column, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= factor * column[i];
}

int orthonormal_powers(const double* values, std::size_t n, int degree, double* out, double* shares, LegendrePowers* kept) {
    if (kept) *kept = {};
    if (n == 0 || degree == 0) return 0;
    const auto [low, high] = std::minmax_element(values, values + n);
    const double first = *low, range = *high - first, rows = static_cast<double>(n);
    if (!(range > 0)) return 0;
    if (kept) kept->low = first, kept->high = *high;
    std::vector<double> x(n), before, last;              // the polynomials P_{k-1} and P_k
    for (std::size_t i = 0; i < n; ++i) x[i] = 2 * (values[i] - first) / range - 1;
    last = x;
    int count = 0;
    for (int k = 1;; ++k) {
        Listening::look();
        double* column = out + count * n;
        std::copy(last.begin(), last.end(), column);
        const double length = std::sqrt(dot(column, column, n) / rows);
        std::vector<double> taken(count + 2, 0.0);
        for (int pass = 0; pass < 2; ++pass) {           // twice is enough (Kahan and Parlett)
            const double mean = sum(column, n) / rows;
            for (std::size_t i = 0; i < n; ++i) column[i] -= mean;
            taken[0] += mean;
            for (int j = 0; j < count; ++j) {
                const double part = dot(column, out + j * n, n) / rows;
                subtract(column, part, out + j * n, n);
                taken[j + 1] += part;
            }
        }
        const double left = std::sqrt(dot(column, column, n) / rows);
        if (left > least_share * length) {
            for (std::size_t i = 0; i < n; ++i) column[i] /= left;
            shares[count++] = left / length;
            taken.back() = left;
            if (kept) {
                kept->power.push_back(k);
                kept->taken.push_back(std::move(taken));
            }
        }
        if (k == degree) return count;
        // (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}
        if (k == 1) before.assign(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) {
            const double next = ((2 * k + 1) * x[i] * last[i] - k * before[i]) / (k + 1);
            before[i] = last[i];
            last[i] = next;
        }
    }
}

bool orthogonalise(double* column, const double* const* others, std::size_t count, std::size_t n, double share, double* taken) {
    const double rows = static_cast<double>(n);
    if (taken) std::fill(taken, taken + count + 1, 0.0);
    double before = 1, left = 1;
    Listening::look();
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t j = 0; j < count; ++j) {
            const double part = dot(column, others[j], n) / rows;
            subtract(column, part, others[j], n);
            if (taken) taken[j] += part;
        }
        left = dot(column, column, n) / rows;
        if (left > 0.5 * before) break;                  // little was taken out, and little rounded away
        before = left;
    }
    left = std::sqrt(left);
    if (!(left * share > least_share)) return false;
    for (std::size_t i = 0; i < n; ++i) column[i] /= left;
    if (taken) taken[count] = left;
    return true;
}

}  // namespace spinney
