// The smallest set of every child first; then sizes upwards, within a size children one after another, the sets of a child
// shared among the threads: a stop leaves the small sets of all children. A set is kept when it beats all its subsets, which
// were scored one size before; it is not even scored where a bound says that it does not.
#include "family_sets.hpp"

#include <algorithm>
#include <atomic>
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

struct Counts {
    std::atomic<std::uint64_t> scored{0}, left_out{0}, known{0};
};

// One child: its sets, one size after another.
class ChildSets {
public:
    ChildSets(const FamilyScores& scores, const SetsRequest& request, const Binomials& binomials, int child)
        : scores_(scores), request_(request), allowed_(request.allowed), binomials_(binomials), required_(allowed_.required[child]),
          candidates_(allowed_.candidates(child)), child_(child) {}

    // The smallest set that the child may have: what is required.
    void first(int thread, Counts& counts) {
        if (!std::isnan(first_)) return;
        const std::uint64_t rank = allowed_.most[child_] < static_cast<int>(required_.size()) ? 0 : rank_of(required_);
        if (request_.known) first_ = request_.known->score(child_, required_.size(), rank);
        if (!std::isnan(first_)) {
            ++counts.known;
            return;
        }
        first_ = scores_.worker(child_)->score(required_);
        log(thread, rank, required_.size(), first_);
        ++counts.scored;
    }
    // The sets of the next size. After a stop those of them that were scored are kept.
    void layer(int size, Team& team, Control& control, Counts& counts) {
        if (size > allowed_.most[child_]) return;
        auto families = sets_of_size(candidates_, size);
        std::vector<std::unique_ptr<FamilyWorker>> workers(team.size());     // one per thread, made there
        const Block* block = request_.block;
        replaying_ = request_.only_known || (block && size < block->size);
        const std::size_t end = block && !replaying_ ? std::min<std::uint64_t>(block->end, families.size()) : families.size();
        const std::size_t begin = block && !replaying_ ? std::min<std::uint64_t>(block->begin, end) : 0;
        team.run(end - begin, [&](int thread, std::size_t task) {
            look(thread, families[begin + task], families.size() - 1 - begin - task, workers[thread], counts);
            ++control.done;
        });
        for (const Looked& family : families)
            if (family.scored && (!request_.prune || std::isinf(family.subsets) || family.score > family.subsets + slack(family)))
                kept_.add(family.score, family.parents);
        if (control.stop || size == allowed_.most[child_]) return below_.clear();
        below_.clear();                                  // lexicographic order is falling rank
        for (auto family = families.rbegin(); family != families.rend(); ++family)
            below_.push_back({std::max(family->score, family->subsets), family->likelihood});
    }
    KeptSets& kept() {
        if (kept_.size() == 0) kept_.add(first_, required_);
        kept_.sort();
        return kept_;
    }

private:
    struct Below { double best, likelihood; };           // of a set and its subsets

    double slack(const Looked& family) const { return tie * (std::abs(family.subsets) + static_cast<double>(scores_.rows)); }

    void log(int thread, std::uint64_t rank, std::size_t size, double score) const {
        if (request_.log) request_.log->add(thread, {rank, score, child_, static_cast<std::uint16_t>(size), 0});
    }
    void look(int thread, Looked& family, std::uint64_t rank, std::unique_ptr<FamilyWorker>& worker, Counts& counts) {
        const auto& parents = family.parents;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            const Below& smaller = below_[rank_without(parents, i)];
            family.subsets = std::max(family.subsets, smaller.best);
            family.likelihood = std::max(family.likelihood, smaller.likelihood);
        }
        if (!std::includes(parents.begin(), parents.end(), required_.begin(), required_.end())) return;
        if (parents.size() == required_.size()) {        // known from the beginning, but for blocks
            first(thread, counts);
            family.score = first_;
            family.scored = true;
            return;
        }
        if (request_.known) {
            const double score = request_.known->score(child_, parents.size(), rank);
            family.scored = !std::isnan(score);
            if (family.scored) family.score = score, ++counts.known;
            if (family.scored || replaying_) return;
        }
        if (!worker) worker = scores_.worker(child_);
        if (request_.bounds && !std::isinf(family.subsets) &&
            worker->closed(parents, required_.size(), family.subsets - slack(family), family.likelihood))
            return;
        if (!worker->fits(parents)) {
            ++counts.left_out;
            return;
        }
        family.score = worker->score(parents);
        family.scored = family.score > worst;            // no model of several had the room for it
        if (family.scored) log(thread, rank, parents.size(), family.score);
        ++(family.scored ? counts.scored : counts.left_out);
    }
    std::uint64_t rank_of(const std::vector<int>& parents) const {
        std::uint64_t rank = 0;
        int k = static_cast<int>(parents.size());
        for (int p : parents) rank += binomials_.at(allowed_.place(child_, p), k--);
        return rank;
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
    const Binomials& binomials_;
    const std::vector<int>&required_, &candidates_;
    int child_;
    double first_ = std::numeric_limits<double>::quiet_NaN();
    bool replaying_ = false;                             // nothing is scored: a size below that of the block
    KeptSets kept_;
    std::vector<Below> below_;                           // by rank: the sets with one parent less
};

}  // namespace

ScoredSets score_family_sets(const FamilyScores& scores, const SetsRequest& request, Team& team, Control& control) {
    const Allowed& allowed = request.allowed;
    const int n = allowed.variables(), deepest = *std::max_element(allowed.most.begin(), allowed.most.end());
    const Binomials binomials(n, deepest + 1);
    ScoredSets result;
    Counts counts;
    control.total = result.families = static_cast<std::uint64_t>(allowed.families());
    std::vector<ChildSets> children;
    children.reserve(n);
    for (int child = 0; child < n; ++child) children.emplace_back(scores, request, binomials, child);
    if (const Block* block = request.block) {
        for (int size = 0; size <= block->size && !control.stop; ++size) children[block->child].layer(size, team, control, counts);
        result.scored = counts.scored;
        result.left_out = counts.left_out;
        return result;
    }
    team.run(n, [&](int thread, std::size_t child) { children[child].first(thread, counts); });
    if (control.stop && request.partial) team.finish(n, [&](int thread, std::size_t child) { children[child].first(thread, counts); });
    for (int size = 0; size <= deepest && !control.stop; ++size)
        for (int child = 0; child < n && !control.stop; ++child) children[child].layer(size, team, control, counts);
    result.scored = counts.scored;
    result.left_out = counts.left_out;
    result.known = counts.known;
    result.looked = std::max<std::uint64_t>(control.done, n);
    if (control.stop && !request.partial) return result;
    std::vector<KeptSets> kept;
    for (ChildSets& child : children) kept.push_back(std::move(child.kept()));
    result.pack(std::move(kept), team);
    return result;
}

}  // namespace spinney
