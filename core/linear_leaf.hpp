// A leaf that holds a Bayesian linear regression of the child on the continuous parents of the family.
//
// y = b0 + x'b + noise of variance v; b0 ~ N(mu0, v / a), slopes ~ N(0, v / tau), v as in the normal leaf. Its marginal
// likelihood is that of the normal leaf with two changes: the scatter is what the regression leaves over, and a
// determinant pays for the slopes. Without regressors it is the normal leaf.
//
// Sums: all products z_i z_j, j <= i, of z = (1, x, y). They add up over rows like those of the other leaves.
#pragma once

#include <span>
#include <vector>

#include "leaf.hpp"

namespace spinney {

// The continuous ones among these parents.
inline int regressors(std::span<const TreeColumn> parents) {
    return static_cast<int>(std::ranges::count_if(parents, [](const TreeColumn& p) { return p.kind == VariableKind::continuous; }));
}
inline int regression_width(int regressors) { return (regressors + 2) * (regressors + 3) / 2; }

class LinearLeaf {
public:
    static constexpr bool shared = false, slow = false;
    using Number = double;
    LinearLeaf(const TreeColumn& child, std::size_t rows, const LeafOptions& o)
        : o_(o), values_(child.values), constant_(normal_constants(o, rows)) {}
    void set_family(std::span<const TreeColumn> parents);
    int width() const { return regression_width(static_cast<int>(x_.size())); }
    void add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const;
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out);
    void set_price(double price) { limits_ = scatter_limits(o_, constant_, price); }
    // As in the normal leaf: of some of the rows both the scatter and the determinant are no larger than of all, and any
    // leaf does at most as well as a normal one without scatter. The determinant weighs most against two rows.
    bool indivisible(const Number* sums, std::size_t, double, std::size_t place) const {
        const auto n = static_cast<std::size_t>(sums[0]);
        return n < limits_.size() && (n == 1 || log_scatter_[place] + log_determinant_[place] / (2 + o_.nu) <= limits_[n]);
    }

private:
    LeafOptions o_;
    const double* values_;
    CountTable constant_;
    std::vector<const double*> x_;                       // values of the regressors less their centres
    std::vector<double> centre_;
    std::vector<double> limits_;                         // of the log scatter of n rows
    std::vector<double> log_scatter_, log_determinant_;  // of the leaves that were scored last
};

}  // namespace spinney
