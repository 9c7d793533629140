// Idea. The counts of a set S of variables serve all families {v | S - v} with v in S, so sets are walked, not
// families: depth first along sorted variables, the rows split by the prefix once (Cells), all last variables counted
// together. Sizes go up one at a time, so that when a family comes up the best score of its subsets is known, and with
// it whether a bound lets us leave it and everything above it unscored.
#include "parent_sets.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "binomials.hpp"
#include "varset.hpp"

namespace spinney {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity(), worst = -infinite;

enum : std::uint8_t { closed_above = 1, kept = 2 };      // no proper superset need be scored; the set is handed out

// Families of one child with one number of parents.
struct Layer {
    void put(std::uint64_t rank, double own_score, double own_best, std::uint8_t own_flags) {
        if (best) {
            score[rank] = own_score, best[rank] = own_best, flags[rank] = own_flags;
        } else {
            score[rank] = own_flags & kept ? own_score : unknown;
        }
    }
    // Nothing is known of any set: after a stop, what was not written must be told from what was.
    void forget() {
        std::fill_n(score, sets, unknown);
        if (best) std::fill_n(best, sets, worst), std::fill_n(flags, sets, std::uint8_t{0});
    }
    bool stays(std::uint64_t rank) const { return flags ? flags[rank] & kept : !std::isnan(score[rank]); }
    std::size_t sets = 0;
    // best: of this set and all its subsets. The last layer has the scores of what stays and no more: no larger set asks
    // for it (the entropy rule may, where limits differ, and does without what is not there), and two threads that
    // write the small flags of neighbouring sets would be in each other's way.
    double *score = nullptr, *best = nullptr;
    std::uint8_t* flags = nullptr;
};

// All layers of one child, in one piece of memory. It is not initialised: every family is written once, by the thread
// that comes by it, before the next layer reads it.
class Layers {
public:
    Layers(const Binomials& binomials, int candidates, int most) : layers_(most + 1) {
        std::size_t lower = 0;                           // sets of all layers but the last
        for (int size = 0; size <= most; ++size) layers_[size].sets = binomials.at(candidates, size);
        for (int size = 0; size < most; ++size) lower += layers_[size].sets;
        const std::size_t doubles = 2 * lower + layers_[most].sets;
        memory_.reset(new std::byte[doubles * sizeof(double) + lower]);
        auto* next = reinterpret_cast<double*>(memory_.get());
        auto* flags = reinterpret_cast<std::uint8_t*>(next + doubles);
        for (int size = 0; size <= most; ++size) {
            Layer& layer = layers_[size];
            layer.score = std::exchange(next, next + layer.sets);
            if (size == most) break;
            layer.best = std::exchange(next, next + layer.sets);
            layer.flags = std::exchange(flags, flags + layer.sets);
        }
    }
    std::size_t size() const { return layers_.size(); }
    Layer& operator[](std::size_t size) { return layers_[size]; }
    const Layer& operator[](std::size_t size) const { return layers_[size]; }
    void clear() { layers_.clear(), memory_.reset(); }

private:
    std::vector<Layer> layers_;
    std::unique_ptr<std::byte[]> memory_;
};

class Enumeration {
public:
    Enumeration(const Data& data, const ScoreSpec& spec, const SetsRequest& request, Team& team, Control& control)
        : data_(data), spec_(spec), request_(request), allowed_(request.allowed), team_(team), control_(control),
          workers_(team.size()), n_(data.variables()),
          deepest_(*std::max_element(allowed_.most.begin(), allowed_.most.end())),
          binomials_(n_, deepest_ + 1), child_of_(allowed_.child_of()), begun_(n_, 0), falling_(n_) {
        layers_.reserve(n_);
        for (int v = 0; v < n_; ++v) {
            layers_.emplace_back(binomials_, allowed_.count(v), allowed_.most[v]);
            if (!request.bounds) continue;
            for (int p : allowed_.candidates(v)) falling_[v].push_back(data.levels(p));
            std::sort(falling_[v].rbegin(), falling_[v].rend());
        }
        penalty_ = spec.penalty(static_cast<double>(data.rows()));
        // The entropy rule compares a set with the set less one parent: a prior that rewards size enters there.
        for (int size = 1; size <= deepest_; ++size) prior_gain_.push_back(spec.prior(size) - spec.prior(size - 1));
    }

    ScoredSets run() {
        ScoredSets result;
        result.families = static_cast<std::uint64_t>(allowed_.families());
        control_.total = result.families;
        const int last = request_.block ? std::min(request_.block->size, deepest_) : deepest_;
        for (int size = 0; size <= last && !control_.stop; ++size) layer(size);
        if ((control_.stop && request_.partial) || request_.only_known) smallest_sets();
        result.scored = scored_;
        result.known = known_;
        result.looked = control_.done;
        if (request_.block) return result;
        if (!control_.stop || request_.partial) collect(result);
        return result;
    }

private:
    struct Worker {
        Worker(FamilyScorer&& own, int own_lane) : scorer(std::move(own)), lane(own_lane) {}
        FamilyScorer scorer;
        int lane;                                        // of the log
        std::vector<int> prefix, lasts, parents, set;
        std::vector<VarSet> possible;
        std::vector<const std::uint32_t*> matrices;
        std::vector<std::pair<int, int>> wanted;         // (index into lasts, position of the child in the sorted set)
        KeptSets kept;
        std::uint64_t scored = 0, known = 0, done = 0;
    };
    Worker& at(int thread) {
        if (!workers_[thread]) workers_[thread] = std::make_unique<Worker>(FamilyScorer(data_, spec_, tables_), thread);
        return *workers_[thread];
    }

    // Places count from the last candidate, so that sets with the same first parent lie together: threads, which share
    // out first variables, then write to memory of their own. Falling rank is lexicographic order.
    std::uint64_t rank(int child, const std::vector<int>& parents) const {
        std::uint64_t r = 0;
        int k = static_cast<int>(parents.size());
        for (int p : parents) r += binomials_.at(allowed_.place(child, p), k--);
        return r;
    }
    // The rank of the parents less the one at a position; -1 if some of them is no candidate of the child.
    std::int64_t rank_without(int child, const std::vector<int>& parents, std::size_t skip) const {
        std::uint64_t r = 0;
        int k = static_cast<int>(parents.size()) - 1;
        for (std::size_t i = 0; i < parents.size(); ++i) {
            if (i == skip) continue;
            int place = allowed_.place(child, parents[i]);
            if (place < 0) return -1;
            r += binomials_.at(place, k--);
        }
        return static_cast<std::int64_t>(r);
    }

    // After a stop, and where nothing is to be scored: the layers that have been begun, and of every child at least the smallest
    // set that it may have.
    void smallest_sets() {
        Listening undisturbed(nullptr);
        Worker& worker = at(0);
        replaying_ = false;
        for (int child = 0; child < n_; ++child) {
            worker.parents = allowed_.required[child];
            const std::size_t size = worker.parents.size();
            while (begun_[child] <= size) layers_[child][begun_[child]++].forget();
            if (layers_[child][size].stays(rank(child, worker.parents))) continue;
            if (was_known(worker, child, worst)) continue;
            store(worker, child, worker.scorer.score(child, worker.parents), worst, infinite);
        }
        note(worker);
    }
    void note(Worker& worker) {
        scored_ += std::exchange(worker.scored, 0);
        known_ += std::exchange(worker.known, 0);
        control_.done += std::exchange(worker.done, 0);
    }

    void layer(int size) {
        if (request_.partial)
            team_.run(n_, [&](int, std::size_t child) {
                if (size > allowed_.most[child]) return;
                layers_[child][size].forget();
                begun_[child] = size + 1;
            });
        auto tasks = walk_tasks(allowed_, size, request_.block ? by_pairs(allowed_) : n_ < 16 * team_.size());
        replaying_ = request_.only_known || (request_.block && size < request_.block->size);
        if (request_.block && !replaying_) {
            const auto all = static_cast<std::uint64_t>(tasks.size());
            tasks = {tasks.begin() + std::min(request_.block->begin, all), tasks.begin() + std::min(request_.block->end, all)};
        }
        team_.run(tasks.size(), [&](int thread, std::size_t task) {
            Worker& worker = at(thread);
            auto [u, v] = tasks[task];
            if (size == 0) {
                no_parents(worker, u);
            } else {
                worker.prefix.assign(1, u);
                worker.possible.assign(1, child_of_[u]);
                if (v >= 0) {
                    worker.prefix.push_back(v);
                    worker.possible.push_back(child_of_[u]);
                    worker.possible.back() &= child_of_[v];
                }
                descend(worker, size);
            }
            note(worker);
        });
    }

    void no_parents(Worker& w, int child) {
        w.parents.clear();
        w.scorer.cells().clear();
        if (!allowed_.required[child].empty()) {
            ++w.done;
            return layers_[child][0].put(0, unknown, worst, 0);
        }
        if (was_known(w, child, worst)) return;
        if (spec_.score == TableScore::bde) return store(w, child, w.scorer.score(child, w.parents), worst, infinite);
        w.scorer.cells().count(std::span(&child, 1), w.matrices);
        score_one(w, child, {{w.matrices[0], static_cast<std::size_t>(data_.levels(child))}, w.scorer.cells().counts()}, worst);
    }

    void descend(Worker& w, int size) {
        if (control_.asked()) return;
        if (static_cast<int>(w.prefix.size()) == size) return last_variables(w, size);
        for (int v = w.prefix.back() + 1; v < n_; ++v) {
            if (!w.possible.back().meets(child_of_[v])) continue;
            VarSet both = w.possible.back();
            both &= child_of_[v];
            w.prefix.push_back(v);
            w.possible.push_back(std::move(both));
            descend(w, size);
            w.prefix.pop_back();
            w.possible.pop_back();
        }
    }

    void last_variables(Worker& w, int size) {
        w.lasts.clear();
        w.wanted.clear();
        for (int last = w.prefix.back() + 1; last < n_; ++last) {
            if (!w.possible.back().meets(child_of_[last])) continue;
            int index = static_cast<int>(w.lasts.size());
            bool any = false;
            for (int position = 0; position <= size; ++position) {
                int child = position < size ? w.prefix[position] : last;
                if (size > allowed_.most[child] || !w.possible.back().contains(child) || !child_of_[last].contains(child)) continue;
                parents_of(w, position, last);
                if (!open(child, w.parents)) {
                    ++w.done;
                    continue;
                }
                if (request_.known && was_known(w, child, subset_best(child, w.parents))) continue;
                w.wanted.push_back({index, position});
                any = true;
            }
            if (any) w.lasts.push_back(last);
        }
        if (w.lasts.empty()) return;
        if (spec_.score == TableScore::bde) {
            for (auto [index, position] : w.wanted) {
                int child = position < size ? w.prefix[position] : w.lasts[index];
                parents_of(w, position, w.lasts[index]);
                if (control_.asked()) return;
                store(w, child, w.scorer.score(child, w.parents), subset_best(child, w.parents), infinite);
            }
            return;
        }
        w.scorer.cells().set(w.prefix);
        FamilyCounts::Sum shared;
        int before = -1, first = 0, end = 0;             // [first, end) of the last variables are counted
        for (auto [index, position] : w.wanted) {
            int last = w.lasts[index], child = position < size ? w.prefix[position] : last;
            if (index == end) {
                if (control_.asked()) return;
                std::span<const int> rest(w.lasts.begin() + end, w.lasts.end());
                std::size_t n = w.scorer.cells().at_once(rest);
                w.scorer.cells().count(rest.first(n), w.matrices);
                first = end;
                end += static_cast<int>(n);
            }
            if (index != before) shared = {};
            before = index;
            parents_of(w, position, last);
            const std::uint32_t* matrix = w.matrices[index - first];
            std::size_t cells = static_cast<std::size_t>(w.scorer.cells().size()) * data_.levels(last);
            FamilyCounts counts{{matrix, cells}, w.scorer.cells().counts(), &shared};
            if (position < size) counts.totals = w.scorer.totals_without(position, last, matrix);
            score_one(w, child, counts, subset_best(child, w.parents));
        }
    }

    void parents_of(Worker& w, int position, int last) const {
        w.parents.assign(w.prefix.begin(), w.prefix.end());
        if (position < static_cast<int>(w.parents.size())) {
            w.parents.erase(w.parents.begin() + position);
            w.parents.push_back(last);
        }
    }

    double subset_best(int child, const std::vector<int>& parents) const {
        double best = worst;
        const Layer& below = layers_[child][parents.size() - 1];
        for (std::size_t i = 0; i < parents.size(); ++i) best = std::max(best, below.best[rank_without(child, parents, i)]);
        return best;
    }

    // Must this family be scored? If not, what follows from that for its supersets is noted.
    bool open(int child, const std::vector<int>& parents) {
        Layer& here = layers_[child][parents.size()];
        const Layer& below = layers_[child][parents.size() - 1];
        std::uint64_t own = rank(child, parents);
        if (request_.bounds) {
            for (std::size_t i = 0; i < parents.size(); ++i)
                if (below.flags[rank_without(child, parents, i)] & closed_above || useless(child, parents, i)) {
                    here.put(own, unknown, worst, closed_above);
                    return false;
                }
        }
        const auto& required = allowed_.required[child];
        if (std::includes(parents.begin(), parents.end(), required.begin(), required.end())) return true;
        here.put(own, unknown, subset_best(child, parents), 0);
        return false;
    }

    // de Campos, Scanagatta, Corani and Zaffalon (2018): the likelihood gained by parent j is at most N times the
    // smaller of H(child | others) and H(j | others), and both only fall with more parents, while its penalty grows.
    bool useless(int child, const std::vector<int>& parents, std::size_t j) const {
        if (!spec_.penalised() || penalty_ <= 0) return false;
        const auto& required = allowed_.required[child];
        if (std::binary_search(required.begin(), required.end(), parents[j])) return false;
        double q = 1;
        for (std::size_t i = 0; i < parents.size(); ++i)
            if (i != j) q *= data_.levels(parents[i]);
        double prior = *std::max_element(prior_gain_.begin() + (parents.size() - 1), prior_gain_.end());
        double cost = penalty_ * (data_.levels(child) - 1) * q * (data_.levels(parents[j]) - 1) - prior;
        return entropy(child, parents, j, q) <= cost || entropy(parents[j], parents, j, q) <= cost;
    }
    // N H(v | parents less the one at `skip`), infinite where it has not been computed.
    double entropy(int v, const std::vector<int>& parents, std::size_t skip, double q) const {
        std::size_t size = parents.size() - 1;
        if (static_cast<int>(size) > allowed_.most[v]) return infinite;
        std::int64_t at = rank_without(v, parents, skip);
        double score = at < 0 ? unknown : layers_[v][size].score[at];
        if (std::isnan(score)) return infinite;
        return -(score - spec_.prior(size) + penalty_ * (data_.levels(v) - 1) * q);
    }

    void score_one(Worker& w, int child, const FamilyCounts& counts, double subsets) {
        double score = w.scorer.from_counts(child, w.parents, counts), above = infinite;
        if (request_.bounds) above = w.scorer.bound_above(child, w.parents, counts, allowed_.most[child], falling_[child]);
        store(w, child, score, subsets, above);
    }

    void store(Worker& w, int child, double score, double subsets, double above) {
        const std::uint64_t own = rank(child, w.parents);
        const bool closed = above <= std::max(score, subsets);
        if (request_.log)
            request_.log->add(w.lane, {own, score, child, static_cast<std::uint16_t>(w.parents.size()), static_cast<std::uint16_t>(closed)});
        put(child, w.parents.size(), own, score, subsets, closed);
        ++w.scored, ++w.done;
    }
    void put(int child, std::size_t size, std::uint64_t own, double score, double subsets, bool closed) {
        const double slack = tie * (std::abs(subsets) + static_cast<double>(data_.rows()));
        const bool stays = !request_.prune || subsets == worst || score > subsets + slack;
        layers_[child][size].put(own, score, std::max(score, subsets), (stays ? kept : 0) | (closed ? closed_above : 0));
    }
    // Was the family of this child and these parents scored before? Where nothing is to be scored, the others are left out.
    bool was_known(Worker& w, int child, double subsets) {
        if (!request_.known) return false;
        const std::size_t size = w.parents.size();
        const std::uint64_t own = rank(child, w.parents);
        const double score = request_.known->score(child, size, own);
        if (std::isnan(score)) {
            if (!replaying_) return false;
            layers_[child][size].put(own, unknown, subsets, 0);
        } else {
            put(child, size, own, score, subsets, request_.bounds && request_.known->closed_above(child, size, own));
            ++w.known;
        }
        ++w.done;
        return true;
    }

    std::size_t begun(std::size_t child) const { return request_.partial ? begun_[child] : layers_[child].size(); }

    void collect(ScoredSets& result) {
        std::vector<std::pair<std::size_t, std::size_t>> needed(n_);       // sets, members
        team_.finish(n_, [&](int, std::size_t child) {
            std::size_t sets = 0, members = 0;
            for (std::size_t size = 0; size < begun(child); ++size)
                for (std::uint64_t r = 0; r < layers_[child][size].sets; ++r)
                    if (layers_[child][size].stays(r)) ++sets, members += size;
            needed[child] = {sets, members};
        });
        result.reserve(needed);
        team_.finish(n_, [&](int thread, std::size_t child) {
            KeptSets& own = at(thread).kept;
            own.clear();
            collect_child(static_cast<int>(child), own);
            result.put(child, own);
        });
    }

    void collect_child(int child, KeptSets& out) {
        const auto& candidates = allowed_.candidates(child);
        for (std::size_t size = 0; size < begun(child); ++size) {
            const Layer& layer = layers_[child][size];
            std::vector<std::size_t> place(size);        // the set of this rank, as positions among the candidates
            std::vector<int> parents(size);
            std::iota(place.begin(), place.end(), 0);
            for (std::uint64_t r = layer.sets; r-- > 0;) {
                if (layer.stays(r)) {
                    for (std::size_t i = 0; i < size; ++i) parents[i] = candidates[place[i]];
                    out.add(layer.score[r], parents);
                }
                std::size_t i = size;                    // the next set: raise the last position that has room above it
                while (i-- > 0 && place[i] == candidates.size() - size + i) {}
                if (i < size) {
                    ++place[i];
                    while (++i < size) place[i] = place[i - 1] + 1;
                }
            }
        }
        layers_[child].clear();
        out.sort();
    }

    const Data& data_;
    const ScoreSpec& spec_;
    const SetsRequest& request_;
    const Allowed& allowed_;
    Team& team_;
    Control& control_;
    std::vector<std::unique_ptr<Worker>> workers_;       // one per thread, made there
    int n_;
    Tables tables_;
    int deepest_;
    Binomials binomials_;
    const std::vector<VarSet>& child_of_;
    std::vector<Layers> layers_;
    std::vector<std::size_t> begun_;                     // per child: layers with known contents, where a stop may come
    std::vector<std::vector<int>> falling_;
    std::vector<double> prior_gain_;
    double penalty_ = 0;
    std::atomic<std::uint64_t> scored_{0}, known_{0};
    bool replaying_ = false;                             // nothing is scored: a size below that of the block
};

}  // namespace

// Neighbours write to neighbouring memory: every other one comes first, so that two threads are not at neighbours at the same
// time.
std::vector<std::pair<int, int>> walk_tasks(const Allowed& allowed, int size, bool pairs) {
    const int n = allowed.variables();
    std::vector<std::pair<int, int>> tasks;
    if (size < 2 || !pairs) {
        for (int first : {0, 1})
            for (int v = first; v < n; v += 2) tasks.push_back({v, -1});
    } else {
        for (int u = 0; u < n; ++u)
            for (int v = u + 1; v < n; ++v)
                if (allowed.child_of()[u].meets(allowed.child_of()[v])) tasks.push_back({u, v});
    }
    return tasks;
}

void KeptSets::sort() {
    std::sort(sets_.begin(), sets_.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
}

void KeptSets::write(double* scores, std::int32_t* sizes, std::int32_t* parents) const {
    std::vector<std::size_t> start(first_.size(), 0);    // of the members of size k
    for (std::size_t k = 1; k < first_.size(); ++k) start[k] = start[k - 1] + (k - 1) * (first_[k] - first_[k - 1]);
    for (auto [score, came] : sets_) {
        std::size_t size = first_.size() - 1;
        while (first_[size] > came) --size;
        *scores++ = score;
        *sizes++ = static_cast<std::int32_t>(size);
        parents = std::copy_n(members_.data() + start[size] + size * (came - first_[size]), size, parents);
    }
}

void ScoredSets::pack(std::vector<KeptSets>&& children, Team& team) {
    std::vector<std::pair<std::size_t, std::size_t>> needed;
    for (const KeptSets& child : children) needed.push_back({child.size(), child.members()});
    reserve(needed);
    team.finish(children.size(), [&](int, std::size_t c) {
        const KeptSets child = std::move(children[c]);
        put(c, child);
    });
}

void ScoredSets::reserve(std::span<const std::pair<std::size_t, std::size_t>> needed) {
    std::size_t sets = 0, members = 0;
    for (auto [own_sets, own_members] : needed) {
        sets_end.push_back(sets += own_sets);
        parents_end.push_back(members += own_members);
    }
    scores.reset(new double[sets]);                      // not initialised: the threads write, and touch, their own parts
    sizes.reset(new std::int32_t[sets]);
    parents.reset(new std::int32_t[members]);
}

void ScoredSets::put(std::size_t child, const KeptSets& kept) {
    const std::size_t at = sets_end[child] - kept.size();
    kept.write(scores.get() + at, sizes.get() + at, parents.get() + (parents_end[child] - kept.members()));
}

ScoredSets score_parent_sets(const Data& data, const ScoreSpec& spec, const SetsRequest& request, Team& team, Control& control) {
    return Enumeration(data, spec, request, team, control).run();
}

}  // namespace spinney
