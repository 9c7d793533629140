// Idea. The recursion of the best tree with sums for maxima: the sum of a box is that of its leaf and, over its splits, of
// sum(a) * sum(b). Nothing may be left out that only cannot be the best, but much is known without looking: a box without
// rows, or whose rows lie in one finest cell, keeps them together in every tree, so its sum is the number of trees of its
// shape, weighted by their leaves, times the marginal likelihood of these rows. Such sums of trees depend on halvings left and
// level sets alone: they are a block per vector of depths. Blocks, points and cells are those of local_tree.cpp.
//
// Everything is in logs. What is added up for one box is added up beside its largest term.
#include "tree_sum.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "linear_leaf.hpp"
#include "points.hpp"
#include "portable.hpp"
#include "threads.hpp"
#include "tree_boxes.hpp"
#include "vector_math.hpp"

namespace spinney {
namespace {

SPINNEY_CLONES void larger_of_sums(double* __restrict most, const double* a, const double* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double sum = a[i] + b[i];
        most[i] = sum > most[i] ? sum : most[i];
    }
}
SPINNEY_CLONES void add_products(double* __restrict total, const double* most, const double* a, const double* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) total[i] += exp_negative(a[i] + b[i] - most[i]);
}
SPINNEY_CLONES void logs_of(double* __restrict values, const double* most, const double* total, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) values[i] = most[i] + log_positive(total[i]);
}

template <class Leaf>
class Sum final : public TreeSum {
    using Number = typename Leaf::Number;

public:
    Sum(const TreeColumn& child, std::size_t rows, const LeafOptions& options) : rows_(rows), leaf_(child, rows, options) {}

    double total(std::span<const TreeColumn> parents, double price) override {
        prepare(parents, price);
        everything_.resize(points_.size());
        std::iota(everything_.begin(), everything_.end(), 0u);
        if (points_.size() > 1) refine(0, {everything_.data(), everything_.size()}, 0);
        return value_at(0, points_.size() ? 0 : -1, 0)[shape_->root];
    }

private:
    void prepare(std::span<const TreeColumn> parents, double price) {
        parents_.assign(parents.begin(), parents.end());
        price_ = price;
        discrete_.clear(), continuous_.clear();
        std::vector<TreeColumn> boxes;
        for (std::size_t i = 0; i < parents.size(); ++i)
            (parents[i].kind == VariableKind::continuous ? continuous_ : discrete_).push_back(static_cast<int>(i));
        std::stable_sort(discrete_.begin(), discrete_.end(), [&](int i, int j) { return nodes(parents_[i]) < nodes(parents_[j]); });
        for (int i : discrete_) boxes.push_back(parents_[i]);
        shape_ = std::make_unique<Shape>(boxes);
        leaf_.set_family(parents);
        width_ = leaf_.width();
        points_.gather(leaf_, parents, rows_);
        leaf_.set_price(price);
        alone_ = points_.alone(leaf_).data();
        const std::size_t n = points_.size();
        for (std::size_t i = 0; i < parents.size(); ++i) parents_[i].codes = points_.codes(i);
        corner_.assign(n, 0);
        for (std::size_t d = 0; d < discrete_.size(); ++d)
            for (std::size_t point = 0; point < n; ++point)
                corner_[point] += static_cast<std::uint32_t>(shape_->sets[d]->single[parents_[discrete_[d]].codes[point]] * shape_->stride[d]);
        vectors_ = 1;
        weight_.resize(continuous_.size());
        for (std::size_t j = continuous_.size(); j-- > 0; vectors_ *= parents_[continuous_[j]].levels + 1) weight_[j] = vectors_;
        depth_.assign(continuous_.size(), 0);
        if (block_.size() < vectors_) block_.resize(vectors_);
        for (std::size_t v = 0; v < vectors_; ++v) Listening::look(), block_[v].assign(n, -1);
        pool_.clear(), holds_.clear();
        blocks_ = 0;
        count_trees();
    }
    static int nodes(const TreeColumn& parent) { return sets_of(parent.kind, parent.levels).nodes; }

    // trees_: of every depth vector and box the log of the sum over its trees of e^(leaves * price), without rows.
    void count_trees() {
        trees_.resize(vectors_ * shape_->size);
        for (std::size_t v = vectors_; v-- > 0;) {       // the finest first
            double* values = trees_.data() + v * shape_->size;
            std::fill_n(values, shape_->size, price_);
            for (std::size_t j = 0; j < continuous_.size(); ++j) {
                const std::size_t levels = parents_[continuous_[j]].levels;
                if (v / weight_[j] % (levels + 1) == levels) continue;
                const double* half = values + weight_[j] * shape_->size;
                add_split(values, half, half);
            }
            combine(values);
        }
    }

    // Cells of one depth after another, of every continuous parent in turn: the finest first.
    void refine(std::size_t j, std::span<std::uint32_t> points, std::size_t vector) {
        if (j == continuous_.size()) return make_block(points, vector);
        const TreeColumn& parent = parents_[continuous_[j]];
        auto code = [&](std::uint32_t point) { return parent.codes[point]; };
        std::vector<std::uint32_t> own(points.begin(), points.end());    // deeper parents sort in their own way
        std::stable_sort(own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) { return code(a) < code(b); });
        for (int depth = parent.levels; depth >= 0; --depth) {
            depth_[j] = depth;
            const int shift = parent.levels - depth;
            for (std::size_t from = 0, to; from < own.size(); from = to) {
                for (to = from + 1; to < own.size() && code(own[to]) >> shift == code(own[from]) >> shift;) ++to;
                if (to - from > 1) refine(j + 1, {own.data() + from, to - from}, vector + depth * weight_[j]);
            }
        }
        depth_[j] = 0;
    }

    // All boxes of one cell of two points or more.
    void make_block(std::span<const std::uint32_t> points, std::size_t vector) {
        const std::size_t size = shape_->size, at = pool_.size();
        if (points.size() > 1000 || size > 1000 || blocks_ % 64 == 0) Listening::look();
        pool_.resize(at + size);
        for (std::uint32_t point : points) block_[vector][point] = blocks_;
        ++blocks_;
        sums_.assign(size * width_, Number{0});
        for (std::uint32_t point : points) points_.add(point, sums_.data() + corner_[point], size);
        shape_->add_up(sums_.data(), width_);
        double* values = pool_.data() + at;
        leaf_.scores(sums_.data(), size, size, values);
        for (std::size_t i = 0; i < size; ++i) values[i] += price_;
        for (std::size_t j = 0; j < continuous_.size(); ++j) {
            const TreeColumn& parent = parents_[continuous_[j]];
            if (depth_[j] == parent.levels) continue;
            std::int64_t any[2] = {-1, -1};              // a point of each half
            for (std::uint32_t point : points) any[parent.codes[point] >> (parent.levels - depth_[j] - 1) & 1] = point;
            const double* left = value_at(vector + weight_[j], any[0], 0);
            add_split(values, left, value_at(vector + weight_[j], any[1], 1));
        }
        combine(values);
    }
    // The sums of the block that holds this point at a depth vector; of a lone point, or of none, made on the spot.
    const double* value_at(std::size_t vector, std::int64_t point, int side) {
        const double* trees = trees_.data() + vector * shape_->size;
        if (point < 0) return trees;
        if (const std::int32_t block = block_[vector][point]; block >= 0) return pool_.data() + block * shape_->size;
        lone_[side].resize(shape_->size);
        const double *holds = held_by(corner_[point]), own = alone_[point];
        for (std::size_t i = 0; i < shape_->size; ++i) lone_[side][i] = trees[i] + holds[i] * own;
        return lone_[side].data();
    }
    // 1 for every box that holds this corner, else 0; made once per corner.
    const double* held_by(std::uint32_t corner) {
        auto& holds = holds_[corner];
        if (holds.empty()) {
            holds.assign(shape_->size, 0);
            holds[corner] = 1;
            shape_->add_up(holds.data(), 1);
        }
        return holds.data();
    }

    // values = log(e^values + e^(a + b)), box by box.
    void add_split(double* values, const double* a, const double* b) {
        const std::size_t size = shape_->size;
        most_.assign(values, values + size);
        total_.assign(size, 0);
        larger_of_sums(most_.data(), a, b, size);
        for (std::size_t i = 0; i < size; ++i) total_[i] = exp_negative(values[i] - most_[i]);
        add_products(total_.data(), most_.data(), a, b, size);
        logs_of(values, most_.data(), total_.data(), size);
    }
    // The splits of level sets: of the outer parents run by run, then those along the last one.
    void combine(double* values) {
        if (shape_->sets.empty()) return;
        const Sets& last = *shape_->sets.back();
        const std::size_t inner = shape_->inner;
        shape_->rows([&](std::size_t base, const std::vector<std::uint32_t>& digit) {
            double* row = values + base;
            if (last.nodes > 64) Listening::look();
            auto outer = [&](auto&& f) {
                for (std::size_t d = 0; d < digit.size(); ++d) {
                    const Sets& own = *shape_->sets[d];
                    const std::size_t stride = shape_->stride[d];
                    const double* origin = row - digit[d] * stride;
                    for (std::uint32_t s = own.first[digit[d]]; s < own.first[digit[d] + 1]; ++s)
                        f(origin + own.splits[s].a * stride, origin + own.splits[s].b * stride);
                }
            };
            most_.assign(row, row + inner);
            total_.assign(inner, 0);
            outer([&](const double* a, const double* b) { larger_of_sums(most_.data(), a, b, inner); });
            for (std::size_t i = 0; i < inner; ++i) total_[i] = exp_negative(row[i] - most_[i]);
            outer([&](const double* a, const double* b) { add_products(total_.data(), most_.data(), a, b, inner); });
            logs_of(row, most_.data(), total_.data(), inner);
            for (int i = 0; i < last.nodes; ++i) {
                const std::uint32_t from = last.first[i], end = last.first[i + 1];
                if (from == end) continue;
                double most = row[i], total = 0;
                for (std::uint32_t s = from; s < end; ++s) most = std::max(most, row[last.splits[s].a] + row[last.splits[s].b]);
                for (std::uint32_t s = from; s < end; ++s) total += exp_negative(row[last.splits[s].a] + row[last.splits[s].b] - most);
                row[i] = most + log_positive(total + exp_negative(row[i] - most));
            }
        });
    }

    std::size_t rows_;
    Leaf leaf_;
    int width_ = 0;
    Points<Leaf> points_;
    const double* alone_ = nullptr;
    double price_ = 0;
    std::vector<TreeColumn> parents_;                    // with the codes of the points
    std::vector<int> discrete_, continuous_, depth_;
    std::unique_ptr<Shape> shape_;
    std::size_t vectors_ = 1;
    std::vector<std::size_t> weight_;
    std::vector<std::vector<std::int32_t>> block_;       // [depth vector][point]: its block, or -1 for a lone one
    std::int32_t blocks_ = 0;
    std::vector<std::uint32_t> everything_, corner_;
    std::vector<double> pool_, trees_, lone_[2], most_, total_;
    std::unordered_map<std::uint32_t, std::vector<double>> holds_;
    std::vector<Number> sums_;
};

// As in local_tree.cpp: linear leaves where there is something to regress on.
class LinearSum final : public TreeSum {
public:
    LinearSum(const TreeColumn& child, std::size_t rows, const LeafOptions& options) : plain_(child, rows, options), linear_(child, rows, options) {}
    double total(std::span<const TreeColumn> parents, double price) override {
        return regressors(parents) > 0 ? linear_.total(parents, price) : plain_.total(parents, price);
    }

private:
    Sum<ContinuousLeaf> plain_;
    Sum<LinearLeaf> linear_;
};

}  // namespace

std::unique_ptr<TreeSum> make_tree_sum(const TreeColumn& child, std::size_t rows, LeafOptions options) {
    options.mu0 -= child.centre;
    if (child.kind == VariableKind::categorical) return std::make_unique<Sum<CategoricalLeaf>>(child, rows, options);
    if (child.kind == VariableKind::ordinal) return std::make_unique<Sum<OrdinalLeaf>>(child, rows, options);
    if (options.linear) return std::make_unique<LinearSum>(child, rows, options);
    return std::make_unique<Sum<ContinuousLeaf>>(child, rows, options);
}

}  // namespace spinney
