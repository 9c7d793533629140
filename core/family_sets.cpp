// Children one after another, sizes upwards, all sets of a size shared among the threads. A set is kept when it beats
// all its subsets, which were scored one size before; it is not even scored where a bound says that it does not.
#include "family_sets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "binomials.hpp"

namespace spinney {
namespace {

constexpr double worst = -std::numeric_limits<double>::infinity();

struct Looked {
    std::vector<int> parents;
    double score = worst, subsets = worst;               // subsets: the best of them
    double likelihood = worst;                           // at least that of any subset's finest cells, for the bounds
    bool scored = false;
};

// All sets of this size over the candidates, in lexicographic order.
std::vector<Looked> sets_of_size(const std::vector<int>& candidates, int size) {
    std::vector<Looked> all;
    if (size > static_cast<int>(candidates.size())) return all;
    std::vector<std::size_t> at(size);
    std::iota(at.begin(), at.end(), 0);
    for (;;) {
        Looked family;
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
    ChildSets(const FamilyScores& scores, const SetsRequest& request, int child, Team& team, Control& control)
        : scores_(scores), request_(request), allowed_(request.allowed), required_(allowed_.required[child]),
          candidates_(allowed_.candidates[child]),
          child_(child), team_(team), control_(control), binomials_(static_cast<int>(candidates_.size()), allowed_.most[child] + 1),
          workers_(team.size()) {}

    // How many were scored.
    std::uint64_t run(KeptSets& kept) {
        std::uint64_t scored = 0;
        for (int size = 0; size <= allowed_.most[child_] && !control_.stop; ++size) {
            auto families = sets_of_size(candidates_, size);
            team_.run(families.size(), [&](int thread, std::size_t task) {
                look(families[task], workers_[thread]);
                ++control_.done;
            });
            if (control_.stop) return scored;
            below_.clear();                              // lexicographic order is falling rank
            for (auto family = families.rbegin(); family != families.rend(); ++family)
                below_.push_back({std::max(family->score, family->subsets), family->likelihood});
            for (const Looked& family : families) {
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
    struct Below { double best, likelihood; };           // of a set and its subsets

    double slack(const Looked& family) const { return tie * (std::abs(family.subsets) + static_cast<double>(scores_.rows)); }

    void look(Looked& family, std::unique_ptr<FamilyWorker>& worker) {
        const auto& parents = family.parents;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            const Below& smaller = below_[rank_without(parents, i)];
            family.subsets = std::max(family.subsets, smaller.best);
            family.likelihood = std::max(family.likelihood, smaller.likelihood);
        }
        if (!std::includes(parents.begin(), parents.end(), required_.begin(), required_.end())) return;
        if (!worker) worker = scores_.worker(child_);
        if (request_.bounds && !std::isinf(family.subsets) &&
            worker->closed(parents, required_.size(), family.subsets - slack(family), family.likelihood))
            return;
        family.score = worker->score(parents);
        family.scored = true;
    }
    std::uint64_t rank_without(const std::vector<int>& parents, std::size_t skip) const {
        std::uint64_t rank = 0;
        int k = static_cast<int>(parents.size()) - 1;
        for (std::size_t i = 0; i < parents.size(); ++i)
            if (i != skip) rank += binomials_.at(allowed_.place(child_, parents[i]), k--);
        return rank;
    }

    const FamilyScores& scores_;
    const SetsRequest& request_;
    const Allowed& allowed_;
    const std::vector<int>&required_, &candidates_;
    int child_;
    Team& team_;
    Control& control_;
    Binomials binomials_;
    std::vector<std::unique_ptr<FamilyWorker>> workers_;      // one per thread, made there
    std::vector<Below> below_;                           // by rank: the sets with one parent less
};

}  // namespace

ScoredSets score_family_sets(const FamilyScores& scores, const SetsRequest& request, Team& team, Control& control) {
    const int n = request.allowed.variables();
    ScoredSets result;
    std::vector<KeptSets> children(n);
    result.families = static_cast<std::uint64_t>(request.allowed.families());
    control.total = result.families;
    for (int child = 0; child < n && !control.stop; ++child)
        result.scored += ChildSets(scores, request, child, team, control).run(children[child]);
    if (!control.stop) result.pack(std::move(children), team);
    return result;
}

}  // namespace spinney
