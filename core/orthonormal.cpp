#include "orthonormal.hpp"

#include <algorithm>
#include <cmath>

#include "portable.hpp"

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

int orthonormal_powers(const double* values, std::size_t n, int degree, double* out, Recurrence* recurrence) {
    const double rows = static_cast<double>(n);
    if (recurrence) *recurrence = {};
    if (n == 0 || degree == 0) return 0;
    // From the first value: of equal values the centre is that value, exactly.
    const double first = values[0];
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = values[i] - first;
        largest = std::max(largest, std::abs(values[i]));
    }
    const double moved = sum(out, n) / rows;
    for (std::size_t i = 0; i < n; ++i) out[i] -= moved;
    const double scale = std::sqrt(dot(out, out, n) / rows);
    if (recurrence) recurrence->centre = first + moved;
    if (!(scale > least_spread * largest)) return 0;
    if (recurrence) recurrence->scale = scale;
    for (std::size_t i = 0; i < n; ++i) out[i] /= scale;
    if (recurrence) recurrence->steps.push_back({0, 1});
    std::vector<double> taken;
    for (int k = 1; k < degree; ++k) {
        const double *t = out, *last = out + (k - 1) * n;
        double* next = out + k * n;
        for (std::size_t i = 0; i < n; ++i) next[i] = t[i] * last[i];
        const double length = std::sqrt(dot(next, next, n) / rows);
        taken.assign(k + 2, 0);
        for (int pass = 0; pass < 2; ++pass) {           // twice is enough (Kahan and Parlett)
            const double mean = sum(next, n) / rows;
            for (std::size_t i = 0; i < n; ++i) next[i] -= mean;
            taken[0] += mean;
            for (int j = 1; j <= k; ++j) {
                const double part = dot(next, out + (j - 1) * n, n) / rows;
                subtract(next, part, out + (j - 1) * n, n);
                taken[j] += part;
            }
        }
        const double left = std::sqrt(dot(next, next, n) / rows);
        if (!(left > least_share * length)) return k;
        for (std::size_t i = 0; i < n; ++i) next[i] /= left;
        taken[k + 1] = left;
        if (recurrence) recurrence->steps.push_back(taken);
    }
    return degree;
}

bool orthogonalise(double* column, const double* const* others, std::size_t count, std::size_t n, double* taken) {
    const double rows = static_cast<double>(n);
    if (taken) std::fill(taken, taken + count + 1, 0.0);
    double before = 1, left = 1;
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
    if (!(left > least_share)) return false;
    for (std::size_t i = 0; i < n; ++i) column[i] /= left;
    if (taken) taken[count] = left;
    return true;
}

}  // namespace spinney
