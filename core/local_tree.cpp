// Idea. A node of a tree is a box: a level set for every discrete parent and a dyadic interval for every continuous one.
//
// Over the discrete parents boxes are numbered densely: mixed radix in the level sets (all non-empty sets of a
// categorical parent, all intervals of an ordinal one), sets before their supersets. A box's sums are those of two
// boxes it splits into, its best value the maximum of its leaf and of best(a) + best(b) over its splits; both run over
// neighbours in memory along the last parent. The whole table of boxes is a *block*.
//
// Rows in the same finest cell of every parent are summed up first; what the search sees are these *points*, points.hpp.
//
// Over the continuous parents boxes are sparse. A vector of depths cuts space into dyadic cells; cells with two or more points
// get a block, a cell with one point is a leaf wherever it stands, an empty cell costs its leaf's price. Depth vectors are
// walked from the finest to the coarsest, so both halves of a cell are known when it is its turn: they are found through any
// point that they hold. Points are sorted by one parent after another, and all depths of a parent are runs of one order.
// Without discrete parents a block is one number, and cells have a faster walk of their own: real_cells.hpp.
//
// A shared leaf is told the part of each box: that of its level sets, halved once per depth. It takes no short cut but
// the one for a single row, whose probability does not depend on the part: a point of more rows has blocks too.
#include "local_tree.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "data.hpp"
#include "linear_leaf.hpp"
#include "points.hpp"
#include "portable.hpp"
#include "real_cells.hpp"
#include "threads.hpp"
#include "tree_boxes.hpp"

namespace spinney {
namespace {

SPINNEY_CLONES void max_of_sums(double* __restrict row, const double* a, const double* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        double sum = a[i] + b[i];
        row[i] = sum > row[i] ? sum : row[i];
    }
}

template <class Leaf>
class Search final : public TreeScorer {
    using Number = typename Leaf::Number;

public:
    Search(const TreeColumn& child, std::size_t rows, const LeafOptions& options)
        : all_rows_(rows), leaf_(child, rows, options), real_(leaf_, rows) {}

    double best(std::span<const TreeColumn> parents, double price) override {
        prepare(parents, price);
        all_points();
        if (continuous_.empty()) {
            make_block(everything_, nullptr, 0);
            return pool_[shape_->root];
        }
        if constexpr (Leaf::shared) leaf_.set_parts(1);  // of a lone row no part matters; the last family's are gone
        alone_ = points_.alone(leaf_).data();
        if (!blocks()) {
            std::vector<TreeColumn> halved;
            for (int i : continuous_) halved.push_back(parents_[i]);
            real_.find(points_.sums(0), alone_, points_.size(), halved, weight_, price_);
            return real_.value(0, everything_);
        }
        std::vector<std::pair<std::uint32_t, std::uint32_t>> whole{{0, static_cast<std::uint32_t>(points_.size())}};
        refine(0, everything_, whole, 0);
        return value_of(0, shape_->root, everything_, 0);
    }

    Tree fit(std::span<const TreeColumn> parents, double price) override {
        Tree tree;
        tree.value = best(parents, price);
        grow(tree, std::vector<int>(continuous_.size(), 0), static_cast<std::uint32_t>(shape_->root), everything_);
        return tree;
    }

    std::size_t gather(std::span<const TreeColumn> parents) override {
        leaf_.set_family(parents);
        width_ = leaf_.width();
        points_.gather(leaf_, parents, all_rows_);
        return points_.size();
    }
    const std::uint16_t* codes(std::size_t parent) const override { return points_.codes(parent); }

    double partitioned(std::span<const std::uint32_t> leaf_of, std::size_t leaves, double cells) override {
        sums_.assign(leaves * width_, 0);
        for (std::size_t point = 0; point < points_.size(); ++point) points_.add(point, sums_.data() + leaf_of[point], leaves);
        scratch_.resize(leaves);
        if constexpr (Leaf::shared) leaf_.set_parts(1 / cells);
        leaf_.scores(sums_.data(), leaves, leaves, scratch_.data());
        double total = 0;
        for (double score : scratch_) total += score;
        return total;
    }

private:
    void all_points() {
        everything_.resize(points_.size());
        std::iota(everything_.begin(), everything_.end(), 0u);
    }
    // May these points be more than one leaf? One point is not, but for a shared leaf.
    bool divisible(std::span<const std::uint32_t> points) const {
        if (!Leaf::shared || points.size() != 1) return points.size() > 1;
        const Number* own = points_.sums(points[0]);
        return std::accumulate(own, own + width_, Number{0}) > 1;
    }

    // Are there blocks, or numbers only, which real_cells.hpp finds?
    bool blocks() const { return Leaf::shared || shape_->size > 1; }

    void prepare(std::span<const TreeColumn> parents, double price) {
        parents_.assign(parents.begin(), parents.end());
        price_ = price;
        discrete_.clear();
        continuous_.clear();
        std::vector<TreeColumn> boxes;
        for (std::size_t i = 0; i < parents.size(); ++i)
            (parents[i].kind == VariableKind::continuous ? continuous_ : discrete_).push_back(static_cast<int>(i));
        std::stable_sort(discrete_.begin(), discrete_.end(), [&](int i, int j) {
            return sets_of(parents_[i].kind, parents_[i].levels).nodes < sets_of(parents_[j].kind, parents_[j].levels).nodes;
        });
        for (int i : discrete_) boxes.push_back(parents_[i]);
        shape_ = std::make_unique<Shape>(boxes);
        const std::size_t n = gather(parents);
        groups_.resize(parents.size());
        for (std::size_t i = 0; i < parents.size(); ++i) {
            parents_[i].codes = points_.codes(i);
            groups_[i] = std::exchange(parents_[i].group, {});
        }
        corner_.assign(n, 0);                            // the box of one level of every discrete parent that holds the point
        for (std::size_t d = 0; d < discrete_.size(); ++d) {
            const auto& single = shape_->sets[d]->single;
            const std::uint16_t* codes = parents_[discrete_[d]].codes;
            for (std::size_t point = 0; point < n; ++point)
                corner_[point] += static_cast<std::uint32_t>(single[codes[point]] * shape_->stride[d]);
        }
        pool_.clear();
        vectors_ = 1;
        weight_.resize(continuous_.size());
        for (std::size_t j = continuous_.size(); j-- > 0;) {
            weight_[j] = vectors_;
            vectors_ *= parents_[continuous_[j]].levels + 1;
        }
        leaf_.set_price(price_);
        if constexpr (Leaf::shared) find_parts();
        if (!continuous_.empty() && blocks()) {
            if (group_.size() < vectors_) group_.resize(vectors_);
            for (std::size_t v = 0; v < vectors_; ++v)
                if (group_[v].size() < n) Listening::look(), group_[v].resize(n, -1);
        }
        // Block numbers go on from parent set to parent set: what the last one left behind lies below first_.
        first_ = next_;
        if (first_ > (1 << 30)) {
            for (auto& g : group_) g.assign(g.size(), -1);
            first_ = 0;
        }
        next_ = first_;
        empty_.assign(shape_->size, price_);
        buffer_.resize(continuous_.size());
        depth_.assign(continuous_.size(), 0);
        holds_.clear();
    }

    // Of all joint levels of the discrete parents: the part in every box.
    void find_parts() {
        parts_.assign(shape_->size, 1);
        if (shape_->sets.empty()) return;
        auto part = [](const Sets& sets, std::size_t node) {
            return static_cast<double>(sets.members[node].size()) / static_cast<double>(sets.single.size());
        };
        const Sets& last = *shape_->sets.back();
        shape_->rows([&](std::size_t base, const std::vector<std::uint32_t>& digit) {
            double outer = 1;
            for (std::size_t d = 0; d < digit.size(); ++d) outer *= part(*shape_->sets[d], digit[d]);
            for (int i = 0; i < last.nodes; ++i) parts_[base + i] = outer * part(last, i);
        });
    }
    static double part_of(const std::vector<int>& depth) {
        return std::ldexp(1.0, -std::accumulate(depth.begin(), depth.end(), 0));
    }

    // Sorts the rows of every group by this parent's finest cell; its runs at every depth are the next parent's groups.
    void refine(std::size_t level, const std::vector<std::uint32_t>& from,
                const std::vector<std::pair<std::uint32_t, std::uint32_t>>& groups, std::size_t vector) {
        const TreeColumn& parent = parents_[continuous_[level]];
        const std::uint16_t* codes = parent.codes;
        auto& rows = buffer_[level];
        rows.clear();
        std::vector<std::pair<std::uint32_t, std::uint32_t>> own, runs;
        for (auto [begin, end] : groups) {
            auto start = static_cast<std::uint32_t>(rows.size());
            rows.insert(rows.end(), from.begin() + begin, from.begin() + end);
            sort_by(codes, 1u << parent.levels, rows.data() + start, end - begin);
            own.push_back({start, static_cast<std::uint32_t>(rows.size())});
        }
        for (int depth = parent.levels; depth >= 0; --depth) {
            const int shift = parent.levels - depth;
            runs.clear();
            for (auto [begin, end] : own)
                for (std::uint32_t i = begin, j; i < end; i = j) {
                    for (j = i + 1; j < end && codes[rows[j]] >> shift == codes[rows[i]] >> shift; ++j) {}
                    if (divisible({rows.data() + i, j - i})) runs.push_back({i, j});
                }
            Listening::look();
            depth_[level] = depth;
            std::size_t here = vector + depth * weight_[level];
            if (level + 1 < continuous_.size()) {
                refine(level + 1, rows, runs, here);
            } else {
                for (auto [begin, end] : runs) make_block({rows.data() + begin, end - begin}, &group_[here], here);
            }
        }
    }
    // The value of one box of the cell that these rows are, at a depth vector.
    double value_of(std::size_t vector, std::size_t box, const std::vector<std::uint32_t>& rows, int side) {
        if (rows.empty()) return price_;
        if (blocks()) return value_at(vector, rows[0], side)[box];
        return real_.value(vector, rows);
    }
    void sort_by(const std::uint16_t* codes, std::size_t cells, std::uint32_t* rows, std::size_t n) {
        if (n < 32) {
            for (std::size_t i = 1; i < n; ++i) {
                std::uint32_t row = rows[i];
                std::size_t j = i;
                for (; j > 0 && codes[rows[j - 1]] > codes[row]; --j) rows[j] = rows[j - 1];
                rows[j] = row;
            }
            return;
        }
        starts_.assign(cells + 1, 0);
        for (std::size_t i = 0; i < n; ++i) ++starts_[codes[rows[i]] + 1];
        for (std::size_t c = 0; c < cells; ++c) starts_[c + 1] += starts_[c];
        sorted_.resize(n);
        for (std::size_t i = 0; i < n; ++i) sorted_[starts_[codes[rows[i]]]++] = rows[i];
        std::memcpy(rows, sorted_.data(), n * sizeof(std::uint32_t));
    }

    // All boxes of one dyadic cell.
    void make_block(std::span<const std::uint32_t> rows, std::vector<std::int32_t>* group, std::size_t vector) {
        const std::size_t size = shape_->size, at = pool_.size();
        if (rows.size() > 1000 || size > 1000) Listening::look();
        pool_.resize(at + size);
        if (group)
            for (std::uint32_t row : rows) (*group)[row] = next_;
        ++next_;
        if (!Leaf::shared && rows.size() == 2 && !continuous_.empty()) return make_pair_block(rows[0], rows[1], at);
        sums_.assign(size * width_, Number{0});
        for (std::uint32_t row : rows) points_.add(row, sums_.data() + corner_[row], size);
        shape_->add_up(sums_.data(), width_);
        double* values = pool_.data() + at;
        if constexpr (Leaf::shared) leaf_.set_parts(part_of(depth_), parts_.data());
        leaf_.scores(sums_.data(), size, size, values);
        const bool indivisible = leaf_.indivisible(sums_.data() + shape_->root, size, values[shape_->root], shape_->root);
        for (std::size_t i = 0; i < size; ++i) values[i] += price_;
        if (indivisible) return;                         // and so is every box in it
        for (std::size_t j = 0; j < continuous_.size(); ++j) {
            if (depth_[j] == parents_[continuous_[j]].levels) continue;
            auto [left, right] = halves(rows, j, depth_[j]);
            std::size_t below = vector + weight_[j];
            const double* a = value_at(below, left, 0);
            const double* b = value_at(below, right, 1);
            max_of_sums(values, a, b, size);
        }
        combine(values);
    }
    // Two rows: one leaf, or as few splits as part them, each but the last with an empty side.
    void make_pair_block(std::uint32_t a, std::uint32_t b, std::size_t at) {
        const std::size_t size = shape_->size;
        sums_.assign(width_, Number{0});
        points_.add(a, sums_.data(), 1);
        points_.add(b, sums_.data(), 1);
        double together = 0;
        leaf_.scores(sums_.data(), 1, 1, &together);
        constexpr int never = 1 << 20;
        int splits = corner_[a] != corner_[b] ? 1 : never;
        for (std::size_t j = 0; j < continuous_.size(); ++j) {
            const TreeColumn& parent = parents_[continuous_[j]];
            if (unsigned differ = parent.codes[a] ^ parent.codes[b])
                splits = std::min(splits, parent.levels - (static_cast<int>(std::bit_width(differ)) - 1) - depth_[j]);
        }
        double both = together + price_;
        if (splits < never) both = std::max(both, (1 + splits) * price_ + alone_[a] + alone_[b]);
        double* values = pool_.data() + at;
        const double *with_a = held_by(corner_[a]), *with_b = held_by(corner_[b]), x = alone_[a], y = alone_[b];
        const double correction = both - price_ - x - y;
        for (std::size_t i = 0; i < size; ++i)
            values[i] = price_ + with_a[i] * x + with_b[i] * y + with_a[i] * with_b[i] * correction;
    }
    // A row of each half of the cell along continuous parent j; -1 where there is none.
    std::pair<std::int64_t, std::int64_t> halves(std::span<const std::uint32_t> rows, std::size_t j, int depth) const {
        const TreeColumn& parent = parents_[continuous_[j]];
        const int shift = parent.levels - depth - 1;
        std::int64_t found[2] = {-1, -1};
        // From both ends: along the parent that was sorted last the halves lie there.
        for (std::size_t i = 0, k = rows.size(); i < k && (found[0] < 0 || found[1] < 0);) {
            found[parent.codes[rows[i]] >> shift & 1] = rows[i];
            ++i;
            if (i < k) --k, found[parent.codes[rows[k]] >> shift & 1] = rows[k];
        }
        return {found[0], found[1]};
    }
    // Values of the block that holds this row at a depth vector; of a lone row, or of nothing, made on the spot.
    const double* value_at(std::size_t vector, std::int64_t row, int side = 0) {
        if (row < 0) return empty_.data();
        std::int32_t block = group_[vector][row];
        if (block >= first_) return pool_.data() + (block - first_) * shape_->size;
        lone_[side].resize(shape_->size);
        const double *holds = held_by(corner_[row]), own = alone_[row];
        double* values = lone_[side].data();
        for (std::size_t i = 0; i < shape_->size; ++i) values[i] = price_ + holds[i] * own;
        return values;
    }
    // 1 for every box that holds this corner, else 0; made once per corner.
    const double* held_by(std::uint32_t corner) {
        auto& holds = holds_[corner];
        if (holds.size() != shape_->size) mark(corner, holds);
        return holds.data();
    }
    void mark(std::uint32_t corner, std::vector<double>& holds) {
        std::vector<double> one(shape_->size, 0);
        one[corner] = 1;
        shape_->add_up(one.data(), 1);
        holds = std::move(one);
    }

    void combine(double* values) {
        if (shape_->sets.empty()) return;
        const Sets& last = *shape_->sets.back();
        shape_->rows([&](std::size_t base, const std::vector<std::uint32_t>& digit) {
            double* row = values + base;
            if (last.nodes > 64) Listening::look();
            for (std::size_t d = 0; d < digit.size(); ++d) {
                const Sets& own = *shape_->sets[d];
                const std::size_t stride = shape_->stride[d];
                const double* origin = row - digit[d] * stride;
                for (std::uint32_t s = own.first[digit[d]]; s < own.first[digit[d] + 1]; ++s)
                    max_of_sums(row, origin + own.splits[s].a * stride, origin + own.splits[s].b * stride, shape_->inner);
            }
            for (int i = 0; i < last.nodes; ++i) {
                double even = row[i], odd = even;        // two at a time: one would wait for each maximum
                std::uint32_t s = last.first[i], end = last.first[i + 1];
                for (; s + 2 <= end; s += 2) {
                    even = std::max(even, row[last.splits[s].a] + row[last.splits[s].b]);
                    odd = std::max(odd, row[last.splits[s + 1].a] + row[last.splits[s + 1].b]);
                }
                if (s < end) even = std::max(even, row[last.splits[s].a] + row[last.splits[s].b]);
                row[i] = std::max(even, odd);
            }
        });
    }

    std::size_t place_of(int parent) const { return std::find(discrete_.begin(), discrete_.end(), parent) - discrete_.begin(); }
    std::uint32_t digit_of(std::uint32_t box, std::size_t d) const {
        return static_cast<std::uint32_t>((d == 0 ? box : box % shape_->stride[d - 1]) / shape_->stride[d]);
    }

    // Reads the tree off the values, from the top: what the box's value came from. Equal values: the leaf, then the
    // earlier parent.
    int grow(Tree& tree, std::vector<int> depth, std::uint32_t box, const std::vector<std::uint32_t>& rows) {
        const int number = static_cast<int>(tree.nodes.size());
        tree.nodes.emplace_back();
        std::vector<Number> own(width_, 0);
        for (std::uint32_t row : rows) points_.add(row, own.data(), 1);
        double leaf = 0, part = 1;
        if constexpr (Leaf::shared) leaf_.set_parts(part = part_of(depth) * parts_[box]);
        leaf_.scores(own.data(), 1, 1, &leaf);
        double best = leaf + price_;
        const double slack = 1e-9 * (1 + std::abs(best));
        int parent = -1;
        Split split{0, 0};
        std::size_t vector = 0;
        for (std::size_t j = 0; j < depth.size(); ++j) vector += depth[j] * weight_[j];
        auto offer = [&](int p, Split s, double value) {
            if (value > best + slack) best = value, parent = p, split = s;
        };
        if (divisible(rows)) {
            for (std::size_t p = 0, j = 0; p < parents_.size(); ++p) {
                if (parents_[p].kind == VariableKind::continuous) {
                    if (depth[j] < parents_[p].levels) {
                        auto [left, right] = parted(rows, parents_[p], depth[j]);
                        offer(static_cast<int>(p), split,
                              value_of(vector + weight_[j], box, left, 0) + value_of(vector + weight_[j], box, right, 1));
                    }
                    ++j;
                    continue;
                }
                const std::size_t d = place_of(static_cast<int>(p));
                const Sets& sets = *shape_->sets[d];
                const std::size_t stride = shape_->stride[d];
                const std::uint32_t digit = digit_of(box, d);
                if (sets.first[digit] == sets.first[digit + 1]) continue;     // of one level; there may be no blocks at all
                const double* values = continuous_.empty() ? pool_.data() : value_at(vector, rows[0], 0);
                for (std::uint32_t s = sets.first[digit]; s < sets.first[digit + 1]; ++s) {
                    std::size_t origin = box - digit * stride;
                    offer(static_cast<int>(p), sets.splits[s],
                          values[origin + sets.splits[s].a * stride] + values[origin + sets.splits[s].b * stride]);
                }
            }
        }
        if (parent < 0) {
            tree.nodes[number].leaf = tree.leaves++;
            tree.nodes[number].sums.assign(own.begin(), own.end());
            tree.nodes[number].part = part;
            return number;
        }
        branch(tree, number, parent, split, depth, box, rows);
        return number;
    }
    static std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> parted(const std::vector<std::uint32_t>& rows,
                                                                                    const TreeColumn& column, int depth) {
        std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>> halves;
        for (std::uint32_t row : rows)
            (column.codes[row] >> (column.levels - depth - 1) & 1 ? halves.second : halves.first).push_back(row);
        return halves;
    }
    void branch(Tree& tree, int number, int parent, Split split, std::vector<int> depth, std::uint32_t box,
                const std::vector<std::uint32_t>& rows) {
        const TreeColumn& column = parents_[parent];
        std::vector<std::uint32_t> left, right;
        std::uint32_t left_box = box, right_box = box;
        if (column.kind == VariableKind::continuous) {
            std::size_t j = std::find(continuous_.begin(), continuous_.end(), parent) - continuous_.begin();
            const int shift = column.levels - depth[j] - 1;
            std::tie(left, right) = parted(rows, column, depth[j]);
            const std::uint32_t any = rows[0];
            tree.nodes[number].cut = ((column.codes[any] >> (shift + 1)) * 2 + 1) << shift;
            ++depth[j];
        } else {
            const std::size_t d = place_of(parent);
            const Sets& sets = *shape_->sets[d];
            const std::size_t stride = shape_->stride[d];
            const std::uint32_t digit = digit_of(box, d);
            std::vector<char> goes(column.levels, 0);
            for (int level : sets.members[split.a]) goes[level] = 1;
            for (std::uint32_t row : rows) (goes[column.codes[row]] ? left : right).push_back(row);
            left_box = static_cast<std::uint32_t>(box - (digit - split.a) * stride);
            right_box = static_cast<std::uint32_t>(box - (digit - split.b) * stride);
            std::vector<char>& by_level = tree.nodes[number].goes_left;
            for (std::uint16_t group : groups_[parent]) by_level.push_back(goes[group]);
            if (groups_[parent].empty()) by_level = std::move(goes);
        }
        tree.nodes[number].parent = parent;
        int l = grow(tree, depth, left_box, left), r = grow(tree, depth, right_box, right);
        tree.nodes[number].left = l;
        tree.nodes[number].right = r;
    }

    std::size_t all_rows_;
    Leaf leaf_;
    int width_ = 0;
    Points<Leaf> points_;
    const double* alone_ = nullptr;                      // log marginal likelihood of every point by itself
    double price_ = 0;
    std::vector<TreeColumn> parents_;                    // with the codes of the points
    std::vector<std::span<const std::uint16_t>> groups_; // per parent: the groups of its levels
    std::vector<int> discrete_, continuous_, depth_;
    std::unique_ptr<Shape> shape_;
    std::size_t vectors_ = 1;
    std::vector<std::size_t> weight_;
    std::vector<std::vector<std::int32_t>> group_;       // [depth vector][point]: block, or below first_ for a point alone
    std::int32_t first_ = 0, next_ = 0;
    std::vector<std::vector<std::uint32_t>> buffer_;
    std::vector<std::uint32_t> corner_, everything_, starts_, sorted_;
    std::vector<double> pool_, empty_, lone_[2], scratch_;
    std::vector<double> parts_;                          // shared leaves: of every box
    std::unordered_map<std::uint32_t, std::vector<double>> holds_;
    std::vector<Number> sums_;
    RealCells<Leaf> real_;
};

// Linear leaves where there is something to regress on, else plain ones: these are the same without regressors.
class LinearSearch final : public TreeScorer {
public:
    LinearSearch(const TreeColumn& child, std::size_t rows, const LeafOptions& options)
        : plain_(child, rows, options), linear_(child, rows, options) {}
    double best(std::span<const TreeColumn> parents, double price) override { return of(parents).best(parents, price); }
    Tree fit(std::span<const TreeColumn> parents, double price) override { return of(parents).fit(parents, price); }
    std::size_t gather(std::span<const TreeColumn> parents) override { return (last_ = &of(parents))->gather(parents); }
    const std::uint16_t* codes(std::size_t parent) const override { return last_->codes(parent); }
    double partitioned(std::span<const std::uint32_t> leaf_of, std::size_t leaves, double cells) override {
        return last_->partitioned(leaf_of, leaves, cells);
    }

private:
    TreeScorer& of(std::span<const TreeColumn> parents) {
        if (regressors(parents) > 0) return linear_;
        return plain_;
    }
    Search<ContinuousLeaf> plain_;
    Search<LinearLeaf> linear_;
    TreeScorer* last_ = nullptr;                         // that gathered
};

}  // namespace

std::unique_ptr<TreeScorer> make_tree_scorer(const TreeColumn& child, std::size_t rows, LeafOptions options) {
    options.mu0 -= child.centre;
    if (shares(options, child)) return std::make_unique<Search<SharedCategoricalLeaf>>(child, rows, options);
    if (child.kind == VariableKind::categorical) return std::make_unique<Search<CategoricalLeaf>>(child, rows, options);
    if (child.kind == VariableKind::ordinal) return std::make_unique<Search<OrdinalLeaf>>(child, rows, options);
    if (options.linear) return std::make_unique<LinearSearch>(child, rows, options);
    return std::make_unique<Search<ContinuousLeaf>>(child, rows, options);
}

// gamma = 1/(4C), C the number of splits of the whole box; 1/c = sum over all trees of gamma^leaves, by the shapes of
// boxes alone: how many levels, how many halvings are left.
TreePrior tree_prior(std::span<const TreeColumn> parents) {
    double splits = 0;
    std::vector<std::size_t> size;
    for (const TreeColumn& p : parents) {
        splits += p.kind == VariableKind::continuous ? 1 : p.kind == VariableKind::ordinal ? p.levels - 1
                                                                                           : std::ldexp(1.0, p.levels - 1) - 1;
        size.push_back(p.kind == VariableKind::continuous ? p.levels + 1 : p.levels);
    }
    if (splits == 0) return {};
    const double gamma = 1 / (4 * splits);
    std::size_t shapes = 1;
    std::vector<std::size_t> stride(size.size());
    for (std::size_t d = size.size(); d-- > 0; shapes *= size[d]) stride[d] = shapes;
    std::vector<double> sum(shapes, gamma);
    for (std::size_t shape = 0; shape < shapes; ++shape)
        for (std::size_t d = 0; d < size.size(); ++d) {
            const std::size_t digit = shape / stride[d] % size[d], origin = shape - digit * stride[d];
            if (parents[d].kind == VariableKind::continuous) {   // digit: halvings left
                if (digit > 0) sum[shape] += sum[shape - stride[d]] * sum[shape - stride[d]];
                continue;
            }
            const std::size_t levels = digit + 1;
            double ways = 1;                             // of choosing `part` of the levels; ordered, so each split twice
            for (std::size_t part = 1; part < levels; ++part) {
                ways *= static_cast<double>(levels - part + 1) / part;
                double times = parents[d].kind == VariableKind::ordinal ? 1 : ways / 2;
                sum[shape] += times * sum[origin + (part - 1) * stride[d]] * sum[origin + (levels - part - 1) * stride[d]];
            }
        }
    return {std::log(gamma), -std::log(sum[shapes - 1])};
}

}  // namespace spinney
