// Leaf models: the marginal likelihood of the child's values in one leaf, from sums over its rows.
//
// A leaf model names its sums (`width` numbers of type Number, added up over rows) and turns the sums of many leaves at
// once into log probabilities. It knows nothing of trees. A leaf without rows has probability 1.
// Talvitie, Eggeling and Koivisto (2019), sections 2 and 5; docs/how-it-works.md says where their print is off.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <span>
#include <unordered_map>
#include <vector>

#include "lgamma.hpp"
#include "tree_column.hpp"

namespace spinney {

struct LeafOptions {
    double alpha = 0.5;                                  // pseudo-count of every level
    double mu0 = 0, a = 1, nu = 1, lambda = 1;           // normal-inverse-gamma
    double kappa = 0.25;                                 // odds of a cut between neighbouring ordinal levels
    double ess = 0;                                      // categorical: pseudo-count of all leaves together; 0: alpha in each
    bool linear = false;                                 // continuous: leaves regress on the continuous parents
    double tau = 1;                                      // their slopes have precision tau / variance
};

// A number for every count up to the number of rows. Those below kept() get a table once they have been asked so often that it
// pays: for a few leaves it would take longer than everything else. Children of a kind have the same ones: every thread
// keeps its last few. `key` tells what is in it. One worker's own.
class CountTable {
public:
    using Key = std::array<double, 4>;
    using Number = std::function<double(std::size_t)>;
    CountTable() = default;
    CountTable(const Key& key, std::size_t rows, Number number)
        : key_(key), size_(rows + 1), kept_(std::min(size_, most)), number_(std::move(number)) {}
    double operator[](std::size_t count) const { return numbers_ && count < kept_ ? (*numbers_)[count] : not_yet(count); }
    // Is there a table, now that so many numbers more are wanted?
    bool made(std::size_t wanted) const { return numbers_ || make(wanted); }
    const double* data() const { return numbers_->data(); }     // of the counts below kept().  REQUIRES: made
    std::size_t kept() const { return kept_; }
    std::size_t size() const { return size_; }

private:
    static constexpr std::size_t most = std::size_t{1} << 17;   // few leaves hold more rows
    double not_yet(std::size_t count) const;
    bool make(std::size_t wanted) const;

    Key key_{};
    std::size_t size_ = 0, kept_ = 0;
    Number number_;
    mutable std::size_t asked_ = 0;
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
// of them gains anything, at a leaf's price as set (none is above 0); they are told by their sums, their score, and their
// place in the last call of scores().
// add_rows: adds rows `from` to `from` + n - 1 to the leaves leaf_of[i], whose sums lie side by side here.
// `shared`: the prior of a leaf depends on its part of the parents' configurations, which is set before its score is asked.
// `slow`: one_row() has the score of a lone row at once.

inline void count_rows(const std::uint16_t* codes, std::size_t n, const std::uint32_t* leaf_of, std::size_t levels, std::uint32_t* counts) {
    for (std::size_t i = 0; i < n; ++i) ++counts[leaf_of[i] * levels + codes[i]];
}

// Dirichlet. Sums: the count of every level.
class CategoricalLeaf {
public:
    static constexpr bool shared = false, slow = false;
    using Number = std::uint32_t;
    CategoricalLeaf(const TreeColumn& child, std::size_t rows, const LeafOptions& o)
        : levels_(child.levels), codes_(child.codes), of_level_(rising_table(o.alpha, rows)), of_total_(rising_table(o.alpha * levels_, rows)) {}
    void set_family(std::span<const TreeColumn>) {}
    int width() const { return levels_; }
    void add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const {
        count_rows(codes_ + from, n, leaf_of, levels_, sums);
    }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
        constexpr std::size_t piece = 256;               // stays in the first-level cache while all levels pass over it
        Number total[piece];
        if (leaves == 1) return one(sums, stride, out);
        const bool level_table = of_level_.made(leaves * levels_), total_table = of_total_.made(leaves);
        for (std::size_t from = 0; from < leaves; from += piece, sums += piece, out += piece) {
            const std::size_t n = std::min(piece, leaves - from);
            std::fill_n(total, n, Number{0});
            std::fill_n(out, n, 0.0);
            if (!level_table || !total_table || !in_table(sums, stride, n)) {
                for (std::size_t i = 0; i < n; ++i) one(sums + i, stride, out + i);
                continue;
            }
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
    bool indivisible(const Number* sums, std::size_t stride, double, std::size_t) const {
        Number total = 0;
        double by_level = 0;
        for (int k = 0; k < levels_; ++k, sums += stride) total += *sums, by_level += of_total_[*sums];
        return of_total_[total] - by_level <= -price_;
    }

private:
    // Are all counts of these leaves, and their totals, below the end of the tables?
    bool in_table(const Number* sums, std::size_t stride, std::size_t n) const {
        const std::size_t end = of_total_.kept();
        if (end == of_total_.size()) return true;
        Number most = 0;
        for (int k = 0; k < levels_; ++k)
            for (std::size_t i = 0; i < n; ++i) most = std::max(most, sums[k * stride + i]);
        return std::size_t{most} * levels_ < end;
    }

    int levels_;
    const std::uint16_t* codes_;
    CountTable of_level_, of_total_;
    double price_ = 0;
};

// Dirichlet whose pseudo-count is the leaf's part of `ess`: BDeu for a tree. Sums: the count of every level.
// A smaller part is a sharper prior, so rows of one level gain even from splits that leave a side empty: nothing is
// indivisible but a single row, which has probability 1 / levels in any leaf.
class SharedCategoricalLeaf {
public:
    static constexpr bool shared = true, slow = false;
    using Number = std::uint32_t;
    SharedCategoricalLeaf(const TreeColumn& child, std::size_t, const LeafOptions& o) : levels_(child.levels), codes_(child.codes), ess_(o.ess) {}
    void set_family(std::span<const TreeColumn>) {}
    int width() const { return levels_; }
    void add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const {
        count_rows(codes_ + from, n, leaf_of, levels_, sums);
    }
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
    bool indivisible(const Number*, std::size_t, double, std::size_t) const { return false; }

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
    const std::uint16_t* codes_;
    double ess_, whole_ = 1;
    const double* parts_ = nullptr;
    std::unordered_map<double, Risings> risings_;        // by the pseudo-count of a leaf
};

// Of a normal leaf of n rows: what depends on n alone.
CountTable normal_constants(const LeafOptions& o, std::size_t rows);

// For few rows, n: the log of the scatter up to which they are indivisible. No leaf of n rows does better than one without
// scatter, so no partition of n rows into two leaves or more does better than the best one of such leaves. Rows that
// beat that together need no split, and some of them scatter less than all: the limit is the least for any number of
// rows up to n.
std::vector<double> scatter_limits(const LeafOptions& o, const CountTable& constant, double price);

// Normal with unknown mean and variance. Sums: rows, values, squares.  REQUIRES: values of the order of 1.
class ContinuousLeaf {
public:
    static constexpr bool shared = false, slow = false;
    using Number = double;
    ContinuousLeaf(const TreeColumn& child, std::size_t rows, const LeafOptions& o)
        : o_(o), values_(child.values), constant_(normal_constants(o, rows)) {}
    int width() const { return 3; }
    void set_family(std::span<const TreeColumn>) {}
    void add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const {
        const double* values = values_ + from;
        for (std::size_t i = 0; i < n; ++i) {
            const double value = values[i];
            Number* own = sums + 3 * std::size_t{leaf_of[i]};
            own[0] += 1;
            own[1] += value;
            own[2] += value * value;
        }
    }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out) {
        log_scatter(o_, sums, stride, leaves, out);
        for (std::size_t i = 0; i < leaves; ++i) {
            const double n = sums[i];
            out[i] = n == 0 ? 0 : constant_[static_cast<std::size_t>(n)] - (n + o_.nu) / 2 * out[i];
        }
    }
    void set_price(double price) {
        enough_ = scatter_limits(o_, constant_, price);
        for (std::size_t n = 1; n < enough_.size(); ++n)
            enough_[n] = constant_[n] - (static_cast<double>(n) + o_.nu) / 2 * enough_[n];
    }
    bool indivisible(const Number* sums, std::size_t, double score, std::size_t) const {
        const auto n = static_cast<std::size_t>(sums[0]);
        return n < enough_.size() && score >= enough_[n];
    }

private:
    LeafOptions o_;
    const double* values_;
    CountTable constant_;
    std::vector<double> enough_;                         // score from which on n rows are indivisible
};

// A Bayesian histogram: levels in runs, a run's mass spread evenly over it. Sums: the count of every level.
class OrdinalLeaf {
public:
    static constexpr bool shared = false, slow = true;
    using Number = std::uint32_t;
    OrdinalLeaf(const TreeColumn& child, std::size_t rows, const LeafOptions& o)
        : levels_(child.levels), codes_(child.codes), total_(rising_table(o.alpha * levels_, rows)), kappa_(o.kappa) {
        for (int length = 1; length <= levels_; ++length) {
            const double a = o.alpha * length, log_length = std::log(double(length));
            of_run_.emplace_back(CountTable::Key{2, a, log_length, 0}, rows, [=](std::size_t n) {
                return rising_log(a, static_cast<std::uint32_t>(n)) - static_cast<double>(n) * log_length;
            });
        }
        log_all_ = (levels_ - 1) * std::log1p(o.kappa);
    }
    int width() const { return levels_; }
    void set_family(std::span<const TreeColumn>) {}
    void add_rows(std::size_t from, std::size_t n, const std::uint32_t* leaf_of, Number* sums) const {
        count_rows(codes_ + from, n, leaf_of, levels_, sums);
    }
    void scores(const Number* sums, std::size_t stride, std::size_t leaves, double* out);
    void set_price(double) {}
    bool indivisible(const Number* sums, std::size_t stride, double, std::size_t) const { return one_level(sums, stride, levels_); }
    // Is this one row? Its score depends on its level alone.
    bool one_row(const Number* sums, double& score);

private:
    int levels_;
    const std::uint16_t* codes_;
    std::vector<double> lone_;                           // the score of a lone row, by its level; made when first asked
    std::vector<CountTable> of_run_;                     // [length - 1][count]
    CountTable total_;
    double kappa_, log_all_;
    std::vector<double> scratch_;
};

}  // namespace spinney
