// Children one after another, sizes upwards, all sets of a size shared among the threads. A set is kept when it beats
// all its subsets, which were scored one size before; it is not even scored where a bound says that it does not.
#include "family_sets.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "binomials.hpp"
#include "tree_bounds.hpp"

namespace spinney {

void TreeData::find_seen() {
    seen = columns;
    seen_codes_.resize(columns.size());
    for (std::size_t v = 0; v < columns.size(); ++v) {
        const TreeColumn& column = columns[v];
        if (column.kind == VariableKind::continuous) continue;
        std::vector<std::uint16_t> number(column.levels, 0);
        for (std::size_t row = 0; row < rows; ++row) number[column.codes[row]] = 1;
        int levels = 0;
        for (std::uint16_t& level : number)
            if (level) level = static_cast<std::uint16_t>(levels++);
        if (levels == column.levels) continue;
        seen_codes_[v].resize(rows);
        for (std::size_t row = 0; row < rows; ++row) seen_codes_[v][row] = number[column.codes[row]];
        seen[v].levels = std::max(levels, 1);
        seen[v].codes = seen_codes_[v].data();
    }
}

namespace {

std::vector<TreeColumn> picked(const std::vector<TreeColumn>& columns, std::span<const int> parents) {
    std::vector<TreeColumn> own;
    for (int p : parents) own.push_back(columns[p]);
    return own;
}

}  // namespace

std::vector<int> TreeFamilies::shape_of(std::span<const int> parents) const {
    std::vector<int> shape;
    for (int p : parents) shape.push_back(data_.columns[p].levels * 3 + static_cast<int>(data_.columns[p].kind));
    std::sort(shape.begin(), shape.end());
    return shape;
}

const TreePrior& TreeFamilies::prior_of(std::span<const int> parents) {
    auto [at, fresh] = priors_.try_emplace(shape_of(parents));
    if (fresh && spec_.structure_prior) at->second = tree_prior(picked(data_.columns, parents));
    return at->second;
}

double TreeFamilies::score(std::span<const int> parents) {
    if (spec_.binned) {
        int cut = 0;
        for (int p : parents) cut += data_.columns[p].kind != VariableKind::categorical;
        return binned(parents).value + spec_.prior(parents.size()) + cut * spec_.log_cuttings;
    }
    const TreePrior& prior = prior_of(parents);
    return scorer_->best(picked(searched_, parents), prior.leaf) + prior.normaliser + spec_.prior(parents.size());
}

Tree TreeFamilies::tree(std::span<const int> parents) {
    return scorer_->fit(picked(data_.columns, parents), prior_of(parents).leaf);
}

BinnedBest TreeFamilies::binned(std::span<const int> parents) {
    std::vector<std::vector<Cutting>> cuttings;
    for (int p : parents) cuttings.push_back(data_.cuttings[p]);
    return best_binned(*scorer_, cuttings, data_.rows);
}

namespace {

constexpr double worst = -std::numeric_limits<double>::infinity();

struct Family {
    std::vector<int> parents;
    double score = worst, subsets = worst;               // subsets: the best of them
    double likelihood = worst;                           // at least that of any subset's finest cells, for the bounds
    bool scored = false;
};

// All sets of this size over the candidates, in lexicographic order.
std::vector<Family> sets_of_size(const std::vector<int>& candidates, int size) {
    std::vector<Family> all;
    if (size > static_cast<int>(candidates.size())) return all;
    std::vector<std::size_t> at(size);
    std::iota(at.begin(), at.end(), 0);
    for (;;) {
        Family family;
        for (std::size_t i : at) family.parents.push_back(candidates[i]);
        all.push_back(std::move(family));
        int i = size - 1;
        while (i >= 0 && at[i] == candidates.size() - size + i) --i;
        if (i < 0) return all;
        ++at[i];
        while (++i < size) at[i] = at[i - 1] + 1;
    }
}

// One child: its sets, one size after another.
class ChildSets {
public:
    ChildSets(const TreeData& data, const TreeSpec& spec, const SetsRequest& request, int child, Team& team, Control& control)
        : data_(data), spec_(spec), request_(request), required_(request.required[child]), candidates_(request.candidates[child]),
          child_(child), team_(team), control_(control), binomials_(static_cast<int>(candidates_.size()), request.most[child] + 1),
          place_(data.columns.size(), 0), workers_(team.size()) {
        for (std::size_t i = 0; i < candidates_.size(); ++i) place_[candidates_[i]] = static_cast<int>(candidates_.size() - 1 - i);
    }

    // How many were scored.
    std::uint64_t run(KeptSets& kept) {
        std::uint64_t scored = 0;
        for (int size = 0; size <= request_.most[child_] && !control_.stop; ++size) {
            auto families = sets_of_size(candidates_, size);
            team_.run(families.size(), [&](int thread, std::size_t task) {
                look(families[task], workers_[thread]);
                ++control_.done;
            });
            if (control_.stop) return scored;
            below_.clear();                              // lexicographic order is falling rank
            for (auto family = families.rbegin(); family != families.rend(); ++family)
                below_.push_back({std::max(family->score, family->subsets), family->likelihood});
            for (const Family& family : families) {
                if (!family.scored) continue;
                ++scored;
                if (!request_.prune || std::isinf(family.subsets) || family.score > family.subsets + slack(family))
                    kept.add(family.score, family.parents);
            }
        }
        kept.sort();
        return scored;
    }

private:
    struct Worker {
        Worker(const TreeData& data, const TreeSpec& spec, int child, bool bounded) : families(data, spec, child) {
            const TreeColumn& column = data.columns[child];
            if (bounded && !spec.binned && column.kind != VariableKind::continuous && !shares(spec.leaf, column))
                bounds = std::make_unique<TreeBounds>(data, spec, child, families);
        }
        TreeFamilies families;
        std::unique_ptr<TreeBounds> bounds;
    };
    struct Below { double best, likelihood; };           // of a set and its subsets

    double slack(const Family& family) const { return tie * (std::abs(family.subsets) + static_cast<double>(data_.rows)); }

    void look(Family& family, std::unique_ptr<Worker>& worker) {
        const auto& parents = family.parents;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            const Below& smaller = below_[rank_without(parents, i)];
            family.subsets = std::max(family.subsets, smaller.best);
            family.likelihood = std::max(family.likelihood, smaller.likelihood);
        }
        if (!std::includes(parents.begin(), parents.end(), required_.begin(), required_.end())) return;
        if (!worker) worker = std::make_unique<Worker>(data_, spec_, child_, request_.bounds);
        if (worker->bounds && !std::isinf(family.subsets) &&
            worker->bounds->closed(parents, required_.size(), family.subsets - slack(family), family.likelihood))
            return;
        family.score = worker->families.score(parents);
        family.scored = true;
    }
    std::uint64_t rank_without(const std::vector<int>& parents, std::size_t skip) const {
        std::uint64_t rank = 0;
        int k = static_cast<int>(parents.size()) - 1;
        for (std::size_t i = 0; i < parents.size(); ++i)
            if (i != skip) rank += binomials_.at(place_[parents[i]], k--);
        return rank;
    }

    const TreeData& data_;
    const TreeSpec& spec_;
    const SetsRequest& request_;
    const std::vector<int>&required_, &candidates_;
    int child_;
    Team& team_;
    Control& control_;
    Binomials binomials_;
    std::vector<int> place_;                             // among the candidates, from the last
    std::vector<std::unique_ptr<Worker>> workers_;       // one per thread, made there
    std::vector<Below> below_;                           // by rank: the sets with one parent less
};

}  // namespace

ScoredSets score_tree_sets(const TreeData& data, const TreeSpec& spec, const SetsRequest& request, Team& team, Control& control) {
    const int n = static_cast<int>(data.columns.size());
    ScoredSets result;
    std::vector<KeptSets> children(n);
    result.families = static_cast<std::uint64_t>(count_families(request));
    control.total = result.families;
    for (int child = 0; child < n && !control.stop; ++child)
        result.scored += ChildSets(data, spec, request, child, team, control).run(children[child]);
    if (!control.stop) result.pack(std::move(children), team);
    return result;
}

}  // namespace spinney
