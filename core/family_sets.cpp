// Children one after another, sizes upwards, all sets of a size shared among the threads. A set is kept when it beats
// all its subsets, which were scored one size before.
#include "family_sets.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace spinney {

std::vector<TreeColumn> TreeFamilies::columns_of(std::span<const int> parents) const {
    std::vector<TreeColumn> columns;
    for (int p : parents) columns.push_back(data_.columns[p]);
    return columns;
}

double TreeFamilies::score(std::span<const int> parents) {
    if (spec_.binned) {
        int cut = 0;
        for (int p : parents) cut += data_.columns[p].kind != VariableKind::categorical;
        return binned(parents).value + spec_.prior(parents.size()) + cut * spec_.log_cuttings;
    }
    auto columns = columns_of(parents);
    TreePrior prior = prior_of(columns);
    return scorer_->best(columns, prior.leaf) + prior.normaliser + spec_.prior(parents.size());
}

Tree TreeFamilies::tree(std::span<const int> parents) {
    auto columns = columns_of(parents);
    return scorer_->fit(columns, prior_of(columns).leaf);
}

BinnedBest TreeFamilies::binned(std::span<const int> parents) {
    std::vector<std::vector<Cutting>> cuttings;
    for (int p : parents) cuttings.push_back(data_.cuttings[p]);
    return best_binned(*scorer_, cuttings, data_.rows);
}

namespace {

struct Family {
    std::vector<int> parents;
    double score = 0, best = 0;                          // best: of it and its subsets
    bool allowed = true, kept = false;
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

}  // namespace

ScoredSets score_tree_sets(const TreeData& data, const TreeSpec& spec, const SetsRequest& request, Team& team, Control& control) {
    const int n = static_cast<int>(data.columns.size());
    ScoredSets result;
    std::vector<KeptSets> children(n);
    result.families = static_cast<std::uint64_t>(count_families(request));
    control.total = result.families;
    for (int child = 0; child < n && !control.stop; ++child) {
        std::vector<std::unique_ptr<TreeFamilies>> workers(team.size());
        const auto& required = request.required[child];
        std::map<std::vector<int>, double> below, here;  // best of a set and its subsets, by set
        std::vector<Family> kept;
        for (int size = 0; size <= request.most[child] && !control.stop; ++size) {
            auto families = sets_of_size(request.candidates[child], size);
            team.run(families.size(), [&](int thread, std::size_t task) {
                Family& family = families[task];
                family.allowed = std::includes(family.parents.begin(), family.parents.end(), required.begin(), required.end());
                if (family.allowed) {
                    if (!workers[thread]) workers[thread] = std::make_unique<TreeFamilies>(data, spec, child);
                    family.score = workers[thread]->score(family.parents);
                }
                ++control.done;
            });
            if (control.stop) break;
            here.clear();
            for (Family& family : families) {
                double subsets = -std::numeric_limits<double>::infinity();
                std::vector<int> smaller;
                for (std::size_t i = 0; i < family.parents.size(); ++i) {
                    smaller = family.parents;
                    smaller.erase(smaller.begin() + i);
                    subsets = std::max(subsets, below[smaller]);
                }
                family.best = family.allowed ? std::max(family.score, subsets) : subsets;
                here[family.parents] = family.best;
                if (!family.allowed) continue;
                ++result.scored;
                double slack = tie * (std::abs(subsets) + static_cast<double>(data.rows));
                if (!request.prune || std::isinf(subsets) || family.score > subsets + slack) kept.push_back(std::move(family));
            }
            below.swap(here);
        }
        std::stable_sort(kept.begin(), kept.end(), [](const Family& a, const Family& b) { return a.score > b.score; });
        auto& [sets, members] = children[child];
        for (const Family& family : kept) {
            sets.push_back({family.score, static_cast<std::int32_t>(family.parents.size()), members.size()});
            members.insert(members.end(), family.parents.begin(), family.parents.end());
        }
    }
    if (!control.stop) result.pack(std::move(children), team);
    return result;
}

}  // namespace spinney
