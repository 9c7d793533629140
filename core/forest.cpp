#include "forest.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

namespace spinney {
namespace {

constexpr int most_groups = 256;                         // of codes: a byte
constexpr std::size_t most_classes = 64;                 // the rarest are one
constexpr int sum_bits = 40, lane_bits = 16;             // of a word: a count above a sum, or counts of four classes
constexpr int lanes = 64 / lane_bits;
constexpr std::int64_t offset = 1 << 17;                 // makes numbers positive
constexpr int power_turns = 50;                          // near the first component: as good where the second explains as much
constexpr double rounding = 1e9;                         // means within 1e-9 are equal, whatever the order of their sums

// Steele, Lea and Flood (2014): splitmix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::size_t below(std::size_t n) {                   // REQUIRES: n < 2^32
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<std::size_t>(((z ^ (z >> 31)) >> 32) * n >> 32);
    }

private:
    std::uint64_t state_;
};

// A number per level, which orders the levels: its mean, or the place of its shares along their first principal component.
std::vector<double> along_shares(const std::vector<double>& counts, std::size_t levels, std::size_t classes) {
    std::vector<double> of_level(levels), share(classes), matrix(classes * classes), axis(classes), next(classes);
    for (std::size_t l = 0; l < levels; ++l)
        for (std::size_t c = 0; c < classes; ++c) of_level[l] += counts[l * classes + c], share[c] += counts[l * classes + c];
    const double n = std::accumulate(of_level.begin(), of_level.end(), 0.0);
    const auto centred = [&](std::size_t l, std::size_t c) {
        return of_level[l] > 0 ? std::round(rounding * (counts[l * classes + c] / of_level[l] - share[c] / n)) / rounding : 0.0;
    };
    for (std::size_t l = 0; l < levels; ++l)
        for (std::size_t a = 0; a < classes && of_level[l] > 0; ++a)
            for (std::size_t b = 0; b < classes; ++b) matrix[a * classes + b] += of_level[l] * centred(l, a) * centred(l, b);
    std::size_t widest = 0;
    for (std::size_t c = 1; c < classes; ++c)
        if (matrix[c * classes + c] > matrix[widest * classes + widest] * (1 + 1 / rounding)) widest = c;
    axis[widest] = 1;
    for (int turn = 0; turn < power_turns; ++turn) {
        for (std::size_t a = 0; a < classes; ++a) next[a] = std::inner_product(axis.begin(), axis.end(), &matrix[a * classes], 0.0);
        const double length = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
        if (!(length > 0)) break;
        double moved = 0;
        for (std::size_t a = 0; a < classes; ++a) moved = std::max(moved, std::abs(next[a] / length - axis[a])), axis[a] = next[a] / length;
        if (moved < 1 / rounding) break;
    }
    std::vector<double> places(levels);
    for (std::size_t l = 0; l < levels; ++l)
        for (std::size_t c = 0; c < classes; ++c) places[l] += centred(l, c) * axis[c];
    return places;
}

// One child.
class Forest {
public:
    Forest(std::span<const ForestColumn> table, std::size_t rows, const ForestChild& own, const ForestSpec& spec)
        : spec_(spec), n_(rows), p_(own.columns.size()), random_(spec.seed), gains_(p_, 0.0), features_(p_), places_(p_) {
        read_target(table[own.child]);
        std::vector<std::uint8_t> cells(n_ * p_);
        for (std::size_t j = 0; j < p_; ++j) {
            const ForestColumn& column = table[own.columns[j]];
            const std::vector<int> group = groups(column);
            sizes_.push_back(*std::max_element(group.begin(), group.end()) + 1);
            column.codes.visit([&](const auto* codes) {
                for (std::size_t i = 0; i < n_; ++i) cells[i * p_ + j] = static_cast<std::uint8_t>(group[codes[i]]);
            });
        }
        sort_rows(cells);
        std::iota(features_.begin(), features_.end(), std::size_t{0});
        order_.resize(n_);
        inside_ = std::min(spec_.rows, n_ - 3 * n_ / 8);
        judges_ = std::min(spec_.rows, n_ - inside_);
        for (std::size_t k = 0; k <= inside_; ++k) inverse_.push_back(k ? 1 / static_cast<double>(k) : 0.0);
        std::vector<int> largest(sizes_);
        std::sort(largest.rbegin(), largest.rend());
        most_ = std::max<std::size_t>(1, p_ / 3);
        histogram_.resize(std::accumulate(largest.begin(), largest.begin() + std::min(most_, p_), std::size_t{0}) * words_);
    }

    void grow() {
        std::iota(order_.begin(), order_.end(), std::uint32_t{0});
        for (std::size_t i = 0; i < inside_ + judges_; ++i) std::swap(order_[i], order_[i + random_.below(n_ - i)]);
        stack_.assign(1, {0, inside_, inside_, inside_ + judges_, p_});
        while (!stack_.empty()) {
            const Node node = stack_.back();
            stack_.pop_back();
            visit(node);
        }
    }
    std::vector<double>& gains() { return gains_; }

private:
    struct Node {
        std::size_t begin, end, judged, judged_end;      // places in order_
        std::size_t split;                               // the column above it; p_: none
    };
    struct Split {
        double value = -1;
        std::size_t feature = 0;
        int most = 0;                                    // codes up to this go left
    };

    // Two classes are a number, 0 or 1: the squared errors of both indicators are equal.
    void read_target(const ForestColumn& child) {
        target_.resize(n_);
        if (child.numbers) {
            std::copy(child.numbers, child.numbers + n_, target_.begin());
        } else {
            child.codes.visit([&](const auto* codes) {
                std::vector<std::size_t> counts(child.codes.levels, 0);
                for (std::size_t i = 0; i < n_; ++i) ++counts[codes[i]];
                std::vector<int> by_frequency(counts.size());
                std::iota(by_frequency.begin(), by_frequency.end(), 0);
                std::stable_sort(by_frequency.begin(), by_frequency.end(), [&](int a, int b) { return counts[a] > counts[b]; });
                std::vector<int> place(counts.size());
                for (std::size_t k = 0; k < by_frequency.size(); ++k) place[by_frequency[k]] = static_cast<int>(std::min(k, most_classes - 1));
                for (std::size_t i = 0; i < n_; ++i) target_[i] = place[codes[i]], classes_ = std::max<std::size_t>(classes_, target_[i] + 1);
            });
            if (classes_ <= 2) classes_ = 0;
        }
        words_ = std::max<std::size_t>(1, (classes_ + lanes - 1) / lanes);
        shares_.assign(std::max<std::size_t>(1, classes_), 0.0);
        for (std::int32_t y : target_) shares_[classes_ ? y : 0] += classes_ ? 1 : y;
        for (double& share : shares_) share /= static_cast<double>(n_);
    }

    // What byte stands for each code.
    std::vector<int> groups(const ForestColumn& column) const {
        const std::size_t levels = column.codes.levels, classes = std::max<std::size_t>(1, classes_);
        std::vector<int> by_place(levels), group(levels);
        std::iota(by_place.begin(), by_place.end(), 0);
        if (column.ordered && levels <= most_groups) return by_place;
        std::vector<double> of_level(levels), sums(levels * classes);
        column.codes.visit([&](const auto* codes) {
            for (std::size_t i = 0; i < n_; ++i) ++of_level[codes[i]], sums[codes[i] * classes + (classes_ ? target_[i] : 0)] += classes_ ? 1 : target_[i];
        });
        if (!column.ordered) {
            std::vector<double> places = classes_ ? along_shares(sums, levels, classes) : sums;
            for (std::size_t l = 0; l < levels; ++l)
                places[l] = std::round(rounding * (classes_ ? places[l] : of_level[l] > 0 ? sums[l] / of_level[l] : 0.0)) / rounding;
            std::stable_sort(by_place.begin(), by_place.end(), [&](int a, int b) { return places[a] < places[b]; });
        }
        double before = 0;
        for (std::size_t k = 0; k < levels; before += of_level[by_place[k++]])
            group[by_place[k]] = levels <= most_groups ? static_cast<int>(k)
                                                       : std::min(most_groups - 1, static_cast<int>(before * most_groups / static_cast<double>(n_)));
        return group;
    }

    void sort_rows(const std::vector<std::uint8_t>& cells) {
        std::vector<std::uint32_t> by_content(n_);
        std::iota(by_content.begin(), by_content.end(), std::uint32_t{0});
        std::sort(by_content.begin(), by_content.end(), [&](std::uint32_t a, std::uint32_t b) {
            return target_[a] != target_[b] ? target_[a] < target_[b] : std::memcmp(&cells[a * p_], &cells[b * p_], p_) < 0;
        });
        cells_.resize(n_ * p_);
        std::vector<std::int32_t> target(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            std::memcpy(&cells_[i * p_], &cells[by_content[i] * p_], p_);
            target[i] = target_[by_content[i]];
        }
        target_ = std::move(target);
        for (std::int32_t y : target_) {
            lane_.push_back(classes_ ? static_cast<std::uint8_t>(y / lanes) : 0);
            word_.push_back(classes_ ? std::uint64_t{1} << (lane_bits * (y % lanes)) : (std::uint64_t{1} << sum_bits) + static_cast<std::uint64_t>(y + offset));
        }
    }

    void visit(const Node& node) {
        if (node.judged == node.judged_end) return;
        const double value = explained(node);
        if (node.split < p_) gains_[node.split] += value;
        if (node.end - node.begin < 2 * static_cast<std::size_t>(spec_.leaf) || pure(node)) return;
        Split best;
        for (std::size_t drawn = 0; drawn < p_ && best.value < 0; drawn += most_) {
            const std::size_t end = std::min(p_, drawn + most_);
            for (std::size_t j = drawn; j < end; ++j) std::swap(features_[j], features_[j + random_.below(p_ - j)]);
            count(node, drawn, end);
            for (std::size_t j = drawn; j < end; ++j) classes_ ? sweep_classes(j, best) : sweep_numbers(j, node.end - node.begin, best);
        }
        if (best.value < 0) return;
        gains_[best.feature] -= value;
        const auto left = [&](std::uint32_t row) { return cells_[row * p_ + best.feature] <= best.most; };
        const auto at = [&](std::size_t begin, std::size_t end) {
            return static_cast<std::size_t>(std::partition(order_.begin() + begin, order_.begin() + end, left) - order_.begin());
        };
        const std::size_t middle = at(node.begin, node.end), judged = at(node.judged, node.judged_end);
        stack_.push_back({middle, node.end, judged, node.judged_end, best.feature});
        stack_.push_back({node.begin, middle, node.judged, judged, best.feature});
    }

    // The product of the node's mean with the sum of the centred child over the rows that judge. Also fills the totals of the node.
    double explained(const Node& node) {
        const double rows = static_cast<double>(node.end - node.begin), judges = static_cast<double>(node.judged_end - node.judged);
        totals_.assign(shares_.size(), 0);
        judged_.assign(shares_.size(), 0);
        for (std::size_t i = node.begin; i < node.end; ++i) totals_[classes_ ? target_[order_[i]] : 0] += classes_ ? 1 : target_[order_[i]];
        for (std::size_t i = node.judged; i < node.judged_end; ++i) judged_[classes_ ? target_[order_[i]] : 0] += classes_ ? 1 : target_[order_[i]];
        double value = 0;
        for (std::size_t c = 0; c < shares_.size(); ++c)
            value += (static_cast<double>(judged_[c]) - judges * shares_[c]) * (static_cast<double>(totals_[c]) / rows);
        return value / static_cast<double>(judges_);
    }

    bool pure(const Node& node) const {
        const std::int32_t first = target_[order_[node.begin]];
        return std::all_of(order_.begin() + node.begin, order_.begin() + node.end, [&](std::uint32_t row) { return target_[row] == first; });
    }

    void count(const Node& node, std::size_t begin, std::size_t end) {
        std::size_t at = 0;
        for (std::size_t j = begin; j < end; ++j) {
            places_[j] = at;
            at += sizes_[features_[j]] * words_;
        }
        std::fill(histogram_.begin(), histogram_.begin() + at, 0);
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const std::uint32_t row = order_[i];
            const std::uint8_t* cells = &cells_[row * p_];
            const std::uint64_t word = word_[row];
            std::uint64_t* lane = histogram_.data() + lane_[row];
            if (words_ == 1)
                for (std::size_t j = begin; j < end; ++j) lane[places_[j] + cells[features_[j]]] += word;
            else
                for (std::size_t j = begin; j < end; ++j) lane[places_[j] + cells[features_[j]] * words_] += word;
        }
    }

    void consider(double value, std::size_t j, int last, int code, Split& best) const {
        if (value > best.value) best = {value, features_[j], (last + code) / 2};
    }

    void sweep_numbers(std::size_t j, std::size_t rows, Split& best) const {
        const std::uint64_t* own = histogram_.data() + places_[j];
        const std::size_t leaf = spec_.leaf;
        std::size_t count = 0;
        std::int64_t sum = 0;
        for (int code = 0, last = 0; code < sizes_[features_[j]]; ++code) {
            if (own[code] == 0) continue;
            if (rows - count < leaf) return;
            if (count >= leaf) {
                const double below = static_cast<double>(sum), above = static_cast<double>(totals_[0] - sum);
                consider(below * below * inverse_[count] + above * above * inverse_[rows - count], j, last, code, best);
            }
            const std::size_t more = own[code] >> sum_bits;
            count += more;
            sum += static_cast<std::int64_t>(own[code] & ((std::uint64_t{1} << sum_bits) - 1)) - static_cast<std::int64_t>(more) * offset;
            last = code;
        }
    }

    void sweep_classes(std::size_t j, Split& best) {
        const std::uint64_t* own = histogram_.data() + places_[j];
        const std::int64_t leaf = spec_.leaf;
        std::fill(judged_.begin(), judged_.end(), 0);    // the counts below, from here on
        std::int64_t count = 0, rest = 0, below = 0, above = 0;
        for (std::int64_t k : totals_) rest += k, above += k * k;
        bool any = false;
        for (int code = 0, last = 0; code < sizes_[features_[j]]; ++code, own += words_) {
            any = false;
            for (std::size_t w = 0; w < words_; ++w) any |= own[w] != 0;
            if (!any) continue;
            if (rest < leaf) return;
            if (count >= leaf) consider(static_cast<double>(below) * inverse_[count] + static_cast<double>(above) * inverse_[rest], j, last, code, best);
            for (std::size_t w = 0; w < words_; ++w) {
                std::size_t c = w * lanes;
                for (std::uint64_t left = own[w]; left; left >>= lane_bits, ++c) {
                    const auto more = static_cast<std::int64_t>(left & ((1 << lane_bits) - 1));
                    if (more == 0) continue;
                    below += more * (2 * judged_[c] + more);
                    above += more * (more - 2 * (totals_[c] - judged_[c]));
                    judged_[c] += more;
                    count += more;
                    rest -= more;
                }
            }
            last = code;
        }
    }

    const ForestSpec& spec_;
    const std::size_t n_, p_;
    Random random_;
    std::vector<double> gains_, shares_, inverse_;
    std::size_t classes_ = 0, words_ = 1;                // classes: 0 where the child is a number
    std::vector<std::int32_t> target_;
    std::vector<std::uint8_t> cells_, lane_;             // row by row
    std::vector<std::uint64_t> word_, histogram_;
    std::vector<int> sizes_;                             // codes of each column
    std::vector<std::size_t> features_, places_;
    std::vector<std::uint32_t> order_;                   // rows: of the tree, then those that judge it, then the others
    std::size_t inside_ = 0, judges_ = 0, most_ = 1;
    std::vector<std::int64_t> totals_, judged_;
    std::vector<Node> stack_;
};

}  // namespace

std::vector<std::optional<std::vector<double>>> forest_gains(std::span<const ForestColumn> table, std::size_t rows,
                                                             std::span<const ForestChild> children, const ForestSpec& spec, Team& team,
                                                             Control& control) {
    using Clock = std::chrono::steady_clock;
    std::vector<std::optional<std::vector<double>>> found(children.size());
    control.total = children.size();
    team.run(children.size(), [&](int, std::size_t task) {
        const auto began = Clock::now();
        Forest forest(table, rows, children[task], spec);
        for (int tree = 0; tree < spec.trees; ++tree) {
            Listening::look();
            if (tree > 0 && spec.seconds > 0 && std::chrono::duration<double>(Clock::now() - began).count() > spec.seconds) break;
            forest.grow();
        }
        found[task] = std::move(forest.gains());
        ++control.done;
    });
    return found;
}

}  // namespace spinney
