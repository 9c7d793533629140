// Leaf models: the marginal likelihood of the child's values in one leaf, from sums over its rows.
//
// A leaf model names its sums (`width` numbers of type Number per row, added up over rows) and turns the sums of many
// leaves at once into log probabilities. It knows nothing of trees. A leaf without rows has probability 1.
// Talvitie, Eggeling and Koivisto (2019), sections 2 and 5; docs/how-it-works.md says where their print is off.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <unordered_map>
#include <vector>

#include "lgamma.hpp"

namespace spinney {

struct LeafOptions {
    double alpha = 0.5;                                  // pseudo-count of every level
    double mu0 = 0, a = 1, nu = 1, lambda = 1;           // normal-inverse-gamma
    double kappa = 0.25;                                 // odds of a cut between neighbouring ordinal levels
    double ess = 0;                                      // categorical: pseudo-count of all leaves together; 0: alpha in each
};

// A number for every count up to the number of rows. The table is made when it has been asked some times: for a family without
// parents it would take longer than everything else. Children of a kind have the same ones: every thread keeps its last few.
// `key` tells what is in it. One worker's own.
class CountTable {
public:
    using Key = std::array<double, 4>;
    using Number = std::function<double(std::size_t)>;
    CountTable() = default;
    CountTable(const Key& key, std::size_t rows, Number number) : key_(key), size_(rows + 1), number_(std::move(number)) {}
    double operator[](std::size_t count) const { return numbers_ ? (*numbers_)[count] : not_yet(count); }
    const double* data() const {
        if (!numbers_) make();
        return numbers_->data();
    }
    std::size_t size() const { return size_; }

private:
    double not_yet(std::size_t count) const;
    void make() const;

    Key key_{};
    std::size_t size_ = 0;
    Number number_;
    mutable int asked_ = 0;
    mutable std::shared_ptr<const std::vector<double>> numbers_;
};

// rising(n) for all n up to the number of rows: the pseudo-counts of leaves are few, so the tables may be whole.
inline CountTable rising_table(double a, std::size_t rows) {
    return {{0, a, 0, 0}, rows, [a](std::size_t n) { return rising_log(a, static_cast<std::uint32_t>(n)); }};
}

// Do these counts have one level only? Equal values do best together in any mixture (Chebyshev's inequality), so such a
// leaf gains from no split.
inline bool one_level(const std::uint32_t* sums, std::size_t stride, int levels) {
    int seen = 0;
    for (int k = 0; k < levels; ++k) seen += sums[k * stride] > 0;
    return seen <= 1;
}

// out[i] += sign * table[counts[i]]; total[i] += counts[i], where wanted.
void look_up(const double* table, double sign, const std::uint32_t* counts, std::size_t n, double* out, std::uint32_t* total);

// out[i] = log of the scatter of normal leaf i: min over m of a (m - mu0)^2 + sum of (value - m)^2, and the prior's share.
void log_scatter(const LeafOptions& o, const double* sums, std::size_t stride, std::size_t n, double* out);

// Sums of leaves lie one array per sum: sums[k * stride + leaf]. Rows are indivisible when no split of them or of some
// of them gains anything, at a leaf's price as set (none is above 0); they are told by their sums and their score.
// `shared`: the prior of a leaf depends on its part of the parents' configurations, which is set before its score is asked.

// Dirichlet. Sums: the count of every level.
class CategoricalLeaf {
public:
    static constexpr bool shared = false;
    using Number = std::uint32_t;
    CategoricalLeaf(int levels, std::size_t rows, const LeafOptions& o)
        : levels_(levels), of_level_(rising_table(o.alpha, rows)), of_total_(rising_table(o.alpha * levels, rows)) {}
    int width() const { return levels_; }
    void add_row(double value, Number* sums, std::size_t stride) const { ++sums[static_cast<std::size_t>(value) * stride]; }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
        constexpr std::size_t piece = 256;               // stays in the first-level cache while all levels pass over it
        Number total[piece];
        if (leaves == 1) return one(sums, stride, out);
        for (std::size_t from = 0; from < leaves; from += piece, sums += piece, out += piece) {
            const std::size_t n = std::min(piece, leaves - from);
            std::fill_n(total, n, Number{0});
            std::fill_n(out, n, 0.0);
            for (int k = 0; k < levels_; ++k) look_up(of_level_.data(), 1, sums + k * stride, n, out, total);
            look_up(of_total_.data(), -1, total, n, out, nullptr);
        }
    }
    // In the order of the loops over many.
    void one(const Number* sums, std::size_t stride, double* out) const {
        Number total = 0;
        *out = 0;
        for (int k = 0; k < levels_; ++k) *out += of_level_[sums[k * stride]], total += sums[k * stride];
        *out -= of_total_[total];
    }
    void set_price(double price) { price_ = price; }
    // Nothing beats one leaf per level but for its price: rising(a + b) is at least rising(a) rising(b) for the total,
    // and equal values do best together. What that could gain grows with every row, so some rows can gain no more than all.
    bool indivisible(const Number* sums, std::size_t stride, double) const {
        Number total = 0;
        double by_level = 0;
        for (int k = 0; k < levels_; ++k, sums += stride) total += *sums, by_level += of_total_[*sums];
        return of_total_[total] - by_level <= -price_;
    }

private:
    int levels_;
    CountTable of_level_, of_total_;
    double price_ = 0;
};

// Dirichlet whose pseudo-count is the leaf's part of `ess`: BDeu for a tree. Sums: the count of every level.
// A smaller part is a sharper prior, so rows of one level gain even from splits that leave a side empty: nothing is
// indivisible but a single row, which has probability 1 / levels in any leaf.
class SharedCategoricalLeaf {
public:
    static constexpr bool shared = true;
    using Number = std::uint32_t;
    SharedCategoricalLeaf(int levels, std::size_t, const LeafOptions& o) : levels_(levels), ess_(o.ess) {}
    int width() const { return levels_; }
    void add_row(double value, Number* sums, std::size_t stride) const { ++sums[static_cast<std::size_t>(value) * stride]; }
    // The part of leaf i is whole * parts[i], or `whole` for every leaf. `parts` is read when scores are asked.
    void set_parts(double whole, const double* parts = nullptr) {
        whole_ = whole, parts_ = parts;
        if (risings_.size() > 1024) risings_.clear();    // some families have hundreds of masses, all together any number
    }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
        for (std::size_t i = 0; i < leaves; ++i) {
            Number total = 0;
            for (int k = 0; k < levels_; ++k) total += sums[k * stride + i];
            out[i] = total == 0 ? 0 : score(sums + i, stride, total, ess_ * whole_ * (parts_ ? parts_[i] : 1));
        }
    }
    void set_price(double) {}
    bool indivisible(const Number*, std::size_t, double) const { return false; }

private:
    struct Risings { RisingLog level, total; };
    double score(const Number* sums, std::size_t stride, Number total, double mass) {
        auto at = risings_.find(mass);
        if (at == risings_.end()) at = risings_.emplace(mass, Risings{RisingLog(mass / levels_), RisingLog(mass)}).first;
        double sum = 0;
        for (int k = 0; k < levels_; ++k) sum += at->second.level(sums[k * stride]);
        return sum - at->second.total(total);
    }

    int levels_;
    double ess_, whole_ = 1;
    const double* parts_ = nullptr;
    std::unordered_map<double, Risings> risings_;        // by the pseudo-count of a leaf
};

// Normal with unknown mean and variance. Sums: rows, values, squares.  REQUIRES: values of the order of 1.
class ContinuousLeaf {
public:
    static constexpr bool shared = false;
    using Number = double;
    ContinuousLeaf(int, std::size_t rows, const LeafOptions& o)
        : o_(o), constant_({1, o.a, o.nu, o.lambda}, rows, [o](std::size_t n) {
              const double m = static_cast<double>(n);
              return n == 0 ? 0 : -m / 2 * std::log(std::numbers::pi) + o.nu / 2 * std::log(o.lambda * o.nu) + 0.5 * std::log(o.a / (m + o.a)) +
                                      log_gamma((m + o.nu) / 2) - log_gamma(o.nu / 2);
          }) {}
    int width() const { return 3; }
    void add_row(double value, Number* sums, std::size_t stride) const {
        sums[0] += 1;
        sums[stride] += value;
        sums[2 * stride] += value * value;
    }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
        log_scatter(o_, sums, stride, leaves, out);
        for (std::size_t i = 0; i < leaves; ++i) {
            const double n = sums[i];
            out[i] = n == 0 ? 0 : constant_[static_cast<std::size_t>(n)] - (n + o_.nu) / 2 * out[i];
        }
    }
    // No leaf of n rows does better than one without scatter, so no partition of n rows into two leaves or more does
    // better than the best one of such leaves. Rows that beat that together need no split, and some of them scatter
    // less than all: the limit of the scatter is the least for any number of rows up to n.
    void set_price(double price) {
        const std::size_t most = std::min<std::size_t>(constant_.size(), 32);
        std::vector<double> leaf(most), any(most);       // of n rows without scatter: one leaf, or any number of them
        double limit = INFINITY;                         // log
        enough_.assign(most, -INFINITY);
        for (std::size_t n = 1; n < most; ++n) {
            const double weight = (static_cast<double>(n) + o_.nu) / 2;
            double parted = -INFINITY;
            for (std::size_t part = 1; part < n; ++part) parted = std::max(parted, leaf[part] + any[n - part]);
            leaf[n] = constant_[n] + price - weight * std::log(o_.nu * o_.lambda);
            any[n] = std::max(leaf[n], parted);
            limit = std::min(limit, (constant_[n] + price - parted) / weight - 1e-9);
            enough_[n] = constant_[n] - weight * limit;
        }
    }
    bool indivisible(const Number* sums, std::size_t, double score) const {
        const auto n = static_cast<std::size_t>(sums[0]);
        return n < enough_.size() && score >= enough_[n];
    }

private:
    LeafOptions o_;
    CountTable constant_;                                // what depends on the number of rows alone
    std::vector<double> enough_;                         // score from which on n rows are indivisible
};

// A Bayesian histogram: levels in runs, a run's mass spread evenly over it. Sums: the count of every level.
class OrdinalLeaf {
public:
    static constexpr bool shared = false;
    using Number = std::uint32_t;
    OrdinalLeaf(int levels, std::size_t rows, const LeafOptions& o)
        : levels_(levels), total_(rising_table(o.alpha * levels, rows)), kappa_(o.kappa) {
        for (int length = 1; length <= levels; ++length) {
            const double a = o.alpha * length, log_length = std::log(double(length));
            of_run_.emplace_back(CountTable::Key{2, a, log_length, 0}, rows, [=](std::size_t n) {
                return rising_log(a, static_cast<std::uint32_t>(n)) - static_cast<double>(n) * log_length;
            });
        }
        log_all_ = (levels - 1) * std::log1p(o.kappa);
    }
    int width() const { return levels_; }
    void add_row(double value, Number* sums, std::size_t stride) const { ++sums[static_cast<std::size_t>(value) * stride]; }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out);
    void set_price(double) {}
    bool indivisible(const Number* sums, std::size_t stride, double) const { return one_level(sums, stride, levels_); }

private:
    int levels_;
    std::vector<CountTable> of_run_;                     // [length - 1][count]
    CountTable total_;
    double kappa_, log_all_;
    std::vector<double> scratch_;
};

}  // namespace spinney
