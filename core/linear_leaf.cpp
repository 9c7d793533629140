// Idea. With z = (x, y), Z their scatter about the leaf's means m, w = n a / (n + a), T = diag(tau, .., tau, nu lambda): the
// intercept is eliminated first, and what is left is Z + T + w m m' (m from mu0 and from the regressors' zero). Z + T is
// eliminated regressor by regressor with m as one more row; its last pivot s0, the last of m, e, and t = 1 + w m'(Z + T)^-1 m
// over the regressors give the scatter s0 + w e^2 / t and the determinant. Only positive numbers are added, so that zeros
// of the columns that lie far away cost no digits. Pivots are never below the prior's: that holds but for rounding.
#include "linear_leaf.hpp"

#include <stdexcept>

#include "local_tree.hpp"
#include "portable.hpp"
#include "vector_math.hpp"

namespace spinney {
namespace {

constexpr int lanes = 16;                                // leaves side by side

constexpr int at(int i, int j) { return i * (i + 1) / 2 + j; }

template <int D>
void add(const double* const* x, const double* y, std::size_t from, std::size_t n, const std::uint32_t* leaf_of, double* sums) {
    constexpr int width = (D + 2) * (D + 3) / 2;
    double z[D + 2];
    z[0] = 1;
    for (std::size_t i = 0; i < n; ++i) {
        for (int d = 0; d < D; ++d) z[d + 1] = x[d][from + i];
        z[D + 1] = y[from + i];
        double* own = sums + width * std::size_t{leaf_of[i]};
        for (int k = 0; k < D + 2; ++k)
            for (int j = 0; j <= k; ++j) own[at(k, j)] += z[k] * z[j];
    }
}

// Of leaves `from` to `from` + n - 1, n at most `lanes`: the log of the scatter and of the determinant.
SPINNEY_CLONES void regress(const LeafOptions& o, const double* centre, int d, const double* sums, std::size_t stride, std::size_t n,
                            double* log_scatter, double* log_determinant) {
    constexpr int most = most_continuous + 2;
    double m[most * (most + 1) / 2][lanes], mean[most][lanes], t[lanes], spread[lanes], pays[lanes];
    const int y = d + 1;
    auto sum = [&](int i, int j) { return sums + at(i, j) * stride; };
    for (int i = 0; i <= y; ++i)
        for (int j = 0; j <= i; ++j) {
            const double* from = sum(i, j);
            double* to = m[at(i, j)];
            for (std::size_t l = 0; l < n; ++l) to[l] = from[l];
            for (std::size_t l = n; l < lanes; ++l) to[l] = 0;
        }
    const double* rows = m[0];
    for (int i = 1; i <= y; ++i)
        for (int l = 0; l < lanes; ++l) mean[i][l] = m[at(i, 0)][l] / (rows[l] > 1 ? rows[l] : 1);
    for (int i = 1; i <= y; ++i)
        for (int j = 1; j <= i; ++j) {
            const double least = i < j || i > j ? 0 : i == y ? o.nu * o.lambda : o.tau;
            double* own = m[at(i, j)];
            for (int l = 0; l < lanes; ++l) {
                const double scatter = own[l] - m[at(i, 0)][l] * mean[j][l];
                own[l] = i == j ? (scatter > 0 ? scatter : 0) + least : scatter;
            }
        }
    for (int i = 1; i <= y; ++i)
        for (int l = 0; l < lanes; ++l) mean[i][l] += i == y ? -o.mu0 : centre[i - 1];
    for (int l = 0; l < lanes; ++l) t[l] = pays[l] = 0;
    for (int k = 1; k <= d; ++k) {
        double over[lanes];
        double* pivot = m[at(k, k)];
        for (int l = 0; l < lanes; ++l) {
            const double own = pivot[l] > o.tau ? pivot[l] : o.tau;
            over[l] = 1 / own;
            t[l] += mean[k][l] * mean[k][l] * over[l];
            pays[l] += log_positive(own / o.tau);
        }
        for (int i = k + 1; i <= y; ++i) {
            double part[lanes];
            for (int l = 0; l < lanes; ++l) {
                part[l] = m[at(i, k)][l] * over[l];
                mean[i][l] -= part[l] * mean[k][l];
            }
            for (int j = k + 1; j <= i; ++j)
                for (int l = 0; l < lanes; ++l) m[at(i, j)][l] -= part[l] * m[at(j, k)][l];
        }
    }
    const double least = o.nu * o.lambda;
    for (int l = 0; l < lanes; ++l) {
        const double own = m[at(y, y)][l] > least ? m[at(y, y)][l] : least, w = rows[l] * o.a / (rows[l] + o.a), away = mean[y][l];
        const double whole = 1 + w * t[l];
        spread[l] = log_positive(own + w * away * away / whole);
        pays[l] += log_positive(whole);
    }
    for (std::size_t l = 0; l < n; ++l) log_scatter[l] = spread[l], log_determinant[l] = pays[l];
}

}  // namespace

void LinearLeaf::set_family(std::span<const TreeColumn> parents) {
    x_.clear();
    centre_.clear();
    for (const TreeColumn& parent : parents)
        if (parent.kind == VariableKind::continuous) {
            x_.push_back(parent.values);
            centre_.push_back(parent.centre);
        }
    if (x_.size() > most_continuous) throw std::length_error("more continuous parents than trees can have");
}

void LinearLeaf::add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const {
    static_assert(most_continuous == 6);
    constexpr decltype(&add<0>) of_size[] = {add<0>, add<1>, add<2>, add<3>, add<4>, add<5>, add<6>};
    of_size[x_.size()](x_.data(), values_, from, n, leaf_of, sums);
}

void LinearLeaf::scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
    if (log_scatter_.size() < leaves) log_scatter_.resize(leaves), log_determinant_.resize(leaves);
    for (std::size_t from = 0; from < leaves; from += lanes) {
        const std::size_t n = std::min<std::size_t>(lanes, leaves - from);
        regress(o_, centre_.data(), static_cast<int>(x_.size()), sums + from, stride, n, &log_scatter_[from], &log_determinant_[from]);
    }
    for (std::size_t i = 0; i < leaves; ++i) {
        const double n = sums[i];
        out[i] = n == 0 ? 0 : constant_[static_cast<std::size_t>(n)] - log_determinant_[i] / 2 - (n + o_.nu) / 2 * log_scatter_[i];
    }
}

}  // namespace spinney
