#include "orthonormal.hpp"

#include <algorithm>
#include <cmath>

#include "portable.hpp"
#include "threads.hpp"

namespace spinney {
namespace {

constexpr std::size_t lanes = 16;                        // of sums side by side: the same ones whatever the registers
constexpr std::size_t half = 8, together = 4;            // columns that are added at once

SPINNEY_INLINE double half_of(const double* lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
SPINNEY_INLINE double all_of(const double* lane) { return half_of(lane) + half_of(lane + half); }

SPINNEY_CLONES void add_four(double* __restrict to, const double* factors, const double* const* columns, std::size_t first, std::size_t n) {
    const double *__restrict p = columns[0] + first, *__restrict q = columns[1] + first, *__restrict r = columns[2] + first,
                 *__restrict s = columns[3] + first;
    const double a = factors[0], b = factors[1], c = factors[2], d = factors[3];
    for (std::size_t i = 0; i < n; ++i) to[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
}

SPINNEY_CLONES void scale(double* column, double by, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) column[i] *= by;
}

// (k + 1) P_{k+1} = (2k + 1) x P_k - k P_{k-1}, in the place of P_{k-1}.
SPINNEY_CLONES void next_polynomial(int k, const double* x, double* __restrict before, const double* last, std::size_t n) {
    const double a = (2.0 * k + 1) / (k + 1), b = static_cast<double>(k) / (k + 1);
    for (std::size_t i = 0; i < n; ++i) before[i] = a * x[i] * last[i] - b * before[i];
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

SPINNEY_CLONES void shift(double* column, double by, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) column[i] += by;
}

SPINNEY_CLONES void subtract(double* __restrict from, double factor, const double* __restrict column, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) from[i] -= factor * column[i];
}

void dots(const double* a, const double* const* columns, std::size_t count, std::size_t n, double* out) {
    for (std::size_t j = 0; j < count; ++j) out[j] = dot(a, columns[j], n);
}

void add(double* to, const double* factors, const double* const* columns, std::size_t count, std::size_t first, std::size_t n) {
    std::size_t j = 0;
    for (; j + together <= count; j += together) add_four(to, factors + j, columns + j, first, n);
    for (; j < count; ++j) subtract(to, -factors[j], columns[j] + first, n);
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
    std::vector<const double*> earlier;
    std::vector<double> parts(degree);
    for (int k = 1;; ++k) {
        Listening::look();
        const int count = static_cast<int>(earlier.size());
        double* column = out + count * n;
        const std::vector<double>& polynomial = k == 1 ? x : last;
        std::copy(polynomial.begin(), polynomial.end(), column);
        const double length = std::sqrt(dot(column, column, n) / rows);
        double left = 0;
        std::vector<double> taken(kept ? count + 2 : 0, 0.0);
        for (int pass = 0; pass < 2; ++pass) {           // twice is enough (Kahan and Parlett)
            const double mean = sum(column, n) / rows;
            shift(column, -mean, n);
            if (kept) taken[0] += mean;
            dots(column, earlier.data(), count, n, parts.data());
            for (int j = 0; j < count; ++j) {
                parts[j] /= -rows;
                if (kept) taken[j + 1] -= parts[j];
            }
            add(column, parts.data(), earlier.data(), count, 0, n);
            left = std::sqrt(dot(column, column, n) / rows);
            if (left > 0.1 * length) break;              // what was rounded away has kept 15 digits
        }
        if (left > least_share * length) {
            scale(column, 1 / left, n);
            shares[count] = left / length;
            earlier.push_back(column);
            if (kept) {
                taken.back() = left;
                kept->power.push_back(k);
                kept->taken.push_back(std::move(taken));
            }
        }
        if (k == degree) return static_cast<int>(earlier.size());
        if (k == 1) before.assign(n, 1.0), last = x;
        next_polynomial(k, x.data(), before.data(), last.data(), n);
        before.swap(last);
    }
}

double orthogonalise(double* column, const double* const* others, std::size_t count, std::size_t n, double share, double* taken) {
    const double rows = static_cast<double>(n);
    if (taken) std::fill(taken, taken + count + 1, 0.0);
    double before = 1, left = 1;
    std::vector<double> parts(count);
    Listening::look();
    for (int pass = 0; pass < 2; ++pass) {
        dots(column, others, count, n, parts.data());
        for (std::size_t j = 0; j < count; ++j) {
            parts[j] /= -rows;
            if (taken) taken[j] -= parts[j];
        }
        add(column, parts.data(), others, count, 0, n);
        left = dot(column, column, n) / rows;
        if (left > 0.5 * before) break;                  // little was taken out, and little rounded away
        before = left;
    }
    left = std::sqrt(left);
    if (!(left * share > least_share)) return 0;
    scale(column, 1 / left, n);
    if (taken) taken[count] = left;
    return left;
}

}  // namespace spinney
