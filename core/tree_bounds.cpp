// Idea. Let T be the best tree over P. If some parent x splits rows nowhere in T, T is a tree over P - x too, with no more
// leaves; where the prior of a tree does not fall with one parent less, P - x does as well. Otherwise each parent splits
// rows somewhere, T has |P| + 1 or more leaves with rows, and
//     score(P) <= LL(P) - sum over those leaves of [-log gamma + pay(rows of the leaf)] + log c(P) + log prior,
// LL(P) the maximum likelihood of the finest cells (every leaf is made of such cells), pay(n) the least by which the
// marginal likelihood of n rows stays below their maximum likelihood. docs/how-it-works.md has the proof.
#include "tree_bounds.hpp"

#include <cmath>
#include <limits>

namespace spinney {

TreeBounds::TreeBounds(const TreeData& data, const TreeSpec& spec, int child, TreeFamilies& families)
    : data_(data), spec_(spec), child_(data.columns[child]), families_(families), n_log_n_(data.rows + 1, 0.0), lines_{{0, 0}},
      splits_(1) {
    for (std::size_t n = 1; n <= data.rows; ++n) n_log_n_[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
    splits_[0].number.assign(data.rows, 0);
    // A histogram of ordinal levels may pay next to nothing; with alpha below 1/2 the cheapest counts are not known.
    if (child_.kind != VariableKind::categorical || spec.leaf.alpha < 0.5) return;
    // n log n - lgamma(n + alpha) is convex for alpha >= 1/2, since trigamma(n + 1/2) < 1/n: even counts pay least.
    const std::size_t r = child_.levels;
    const auto of_level = rising_table(spec.leaf.alpha, data.rows), of_total = rising_table(spec.leaf.alpha * r, data.rows);
    std::vector<double> pay(data.rows + 1);
    for (std::size_t n = 1; n <= data.rows; ++n) {
        const std::size_t each = n / r, more = n % r;
        pay[n] = of_total[n] - n_log_n_[n] + static_cast<double>(r - more) * (n_log_n_[each] - of_level[each]);
        if (more) pay[n] += static_cast<double>(more) * (n_log_n_[each + 1] - of_level[each + 1]);
    }
    constexpr int slopes = 8;                            // between 0 and that of Stirling's formula
    for (int i = 0; i <= slopes; ++i) {
        Line line{std::numeric_limits<double>::infinity(), (r - 1.0) / 2 * i / slopes};
        for (std::size_t n = 1; n <= data.rows; ++n)
            line.start = std::min(line.start, pay[n] - line.slope * (n_log_n_[n] / static_cast<double>(n)));
        lines_.push_back(line);
    }
}

bool TreeBounds::closed(std::span<const int> parents, std::size_t required, double known, double& likelihood) {
    const StandIn subsets = stand_in(parents);
    if (!(subsets.always || (subsets.unless_leaf && required == 0))) return false;
    const TreePrior& prior = families_.prior_of(parents);
    const double rest = prior.normaliser + spec_.prior(parents.size()) - fewest_cost(parents.size() - required + 1, prior.leaf);
    if (rest <= known) return true;                      // a likelihood is at most 1
    if (likelihood + rest > known) return false;         // more cells only make it larger: no need to count
    const double own = finest(parents);
    if (std::isnan(own)) return false;
    likelihood = own;
    return own + rest <= known;
}

// Of so many leaves or more. A line's sum over leaves is least with all rows but one each in one leaf (log is concave), and
// concave in the number of leaves: least at one of the ends.
double TreeBounds::fewest_cost(std::size_t leaves, double price) const {
    if (leaves > data_.rows) return std::numeric_limits<double>::infinity();
    const double l = static_cast<double>(leaves), n = static_cast<double>(data_.rows), large = std::log(n - l + 1);
    double most = -std::numeric_limits<double>::infinity();
    for (const Line& line : lines_) {
        const double each = line.start - price;
        most = std::max(most, std::min(l * each + line.slope * large, n * each));
    }
    return most;
}

// Has every tree over all parents but one at least the prior that it has over all? Gamma is smaller over more parents, so
// the ratio of the two priors falls with every leaf: the fewest leaves decide. The lone leaf may also be left to the
// empty set.
TreeBounds::StandIn TreeBounds::stand_in(std::span<const int> parents) {
    auto [at, fresh] = stand_in_.try_emplace(families_.shape_of(parents), StandIn{true, true});
    StandIn& answer = at->second;
    if (!fresh) return answer;
    const TreePrior prior = families_.prior_of(parents);
    const double size = spec_.prior(parents.size()), smaller_size = spec_.prior(parents.size() - 1);
    std::vector<int> smaller;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        smaller.assign(parents.begin(), parents.end());
        smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(i));
        const TreePrior& less = families_.prior_of(smaller);
        const double gain = prior.normaliser - less.normaliser + size - smaller_size, leaf = prior.leaf - less.leaf;
        answer.always &= leaf <= 0 && gain + leaf <= 0;
        answer.unless_leaf &= leaf <= 0 && gain + 2 * leaf <= 0;
    }
    answer.unless_leaf &= prior.leaf + prior.normaliser + size <= spec_.prior(0);
    return answer;
}

// The maximum likelihood of the cells of all parents; NaN where there are so many that it is nearly 1 anyway.
double TreeBounds::finest(std::span<const int> parents) {
    const std::size_t most = 4 * data_.rows + 1024;
    if (!split_prefix(parents.first(parents.size() - 1), most)) return std::numeric_limits<double>::quiet_NaN();
    const TreeColumn& last = data_.seen[parents.back()];
    const std::size_t r = child_.levels, stride = splits_[parents.size() - 1].seen * r, all = stride * cells_of(last);
    if (all > most) return std::numeric_limits<double>::quiet_NaN();
    counts_.assign(all, 0);
    for (std::size_t row = 0; row < data_.rows; ++row) ++counts_[last.codes[row] * stride + own_[row]];
    double sum = 0;
    for (std::size_t cell = 0; cell < all; cell += r) {
        std::uint32_t total = 0;
        for (std::size_t k = cell; k < cell + r; ++k) {
            total += counts_[k];
            sum += n_log_n_[counts_[k]];
        }
        sum -= n_log_n_[total];
    }
    return sum;
}

// Sets come in lexicographic order, so most have all but their last parents in common with the one before. False: more
// cells than `most`.
bool TreeBounds::split_prefix(std::span<const int> prefix, std::size_t most) {
    if (!own_.empty() && std::ranges::equal(prefix, prefix_)) return true;
    std::size_t same = 0;
    while (same < std::min(prefix.size(), prefix_.size()) && prefix[same] == prefix_[same]) ++same;
    splits_.resize(std::max(splits_.size(), prefix.size() + 1));
    for (std::size_t k = same; k < prefix.size(); ++k) {
        const TreeColumn& column = data_.seen[prefix[k]];
        const Split& from = splits_[k];
        Split& to = splits_[k + 1];
        const std::size_t cells = cells_of(column);
        if (from.seen * cells > most) {
            prefix_.assign(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(k));
            own_.clear();
            return false;
        }
        to.number.resize(data_.rows);
        label_.assign(from.seen * cells, -1);
        std::int64_t next = 0;                           // numbered as they occur: at most one a row
        for (std::size_t row = 0; row < data_.rows; ++row) {
            auto& label = label_[from.number[row] * cells + column.codes[row]];
            if (label < 0) label = next++;
            to.number[row] = static_cast<std::uint32_t>(label);
        }
        to.seen = static_cast<std::size_t>(next);
    }
    prefix_.assign(prefix.begin(), prefix.end());
    own_.resize(data_.rows);
    const auto& number = splits_[prefix.size()].number;
    const auto levels = static_cast<std::uint32_t>(child_.levels);
    for (std::size_t row = 0; row < data_.rows; ++row) own_[row] = number[row] * levels + child_.codes[row];
    return true;
}

namespace {

class BoundedTrees final : public FamilyWorker {
public:
    BoundedTrees(const TreeData& data, const TreeSpec& spec, int child, double most_bytes)
        : data_(data), spec_(spec), child_(child), families_(data, spec, child, most_bytes) {}
    double score(std::span<const int> parents) override { return families_.score(parents); }
    bool fits(std::span<const int> parents) override { return families_.fits(parents); }
    bool closed(std::span<const int> parents, std::size_t required, double known, double& likelihood) override {
        if (!bounds_) bounds_ = std::make_unique<TreeBounds>(data_, spec_, child_, families_);
        return bounds_->closed(parents, required, known, likelihood);
    }

private:
    const TreeData& data_;
    const TreeSpec& spec_;
    int child_;
    TreeFamilies families_;
    std::unique_ptr<TreeBounds> bounds_;                 // made when first asked: few families are scored for their own sake
};

}  // namespace

FamilyScores tree_scores(const TreeData& data, const TreeSpec& spec, double most_bytes) {
    return {data.rows, [&data, &spec, most_bytes](int child) -> std::unique_ptr<FamilyWorker> {
                const TreeColumn& column = data.columns[child];
                if (!spec.binned && !spec.average && column.kind != VariableKind::continuous && !shares(spec.leaf, column))
                    return std::make_unique<BoundedTrees>(data, spec, child, most_bytes);
                return std::make_unique<TreeFamilies>(data, spec, child, most_bytes);
            }};
}

}  // namespace spinney
