// After Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld (2023): every variable in turn goes to its best place in the
// order, the others where they are, until none has a better one; parents are grown and shrunk among those before (grow_shrink.hpp).
//
// What makes it quick. Of every variable it is known who matters to it: those its parents were grown from, and those that would have been
// taken had they come before. For all others it makes no difference where they stand. So a place for v is worth what v takes there
// and, over the few variables to which v matters, what v's coming before them brings; other places are only passed. What v
// brings to a variable is remembered until the variables before that one change.
//
// The first run begins with the order of a plain climb over DAGs: from a random order the first parent sets are large. On top of
// the moves, as in search_order.cpp: after a move only the variables around it are looked at again, a shake and its
// climb cost what its surroundings cost, a shake that ends worse is undone, and better parts of other orders are taken over.
#include "search_boss.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>

#include "grow_shrink.hpp"
#include "near_scores.hpp"
#include "recombine.hpp"
#include "search_greedy.hpp"
#include "varset.hpp"

namespace spinney {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int few_variables = 30;                        // fewer have as many shakes: they cost nothing

struct Shared {                                          // by all runs
    const Allowed& allowed;
    Control& control;
    std::atomic<std::size_t> held{0};
    std::deque<GrowShrinkTree> trees;
    ParentLists required_children;                       // per variable: whose required parent it is
    std::mutex lock;
    double shown = -std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> trace;
    const Clock::time_point began = Clock::now();

    Shared(const Allowed& given, Control& own) : allowed(given), control(own), required_children(given.variables()) {
        for (int v = 0; v < allowed.variables(); ++v) {
            trees.emplace_back(v, allowed, held);
            for (int p : allowed.required[v]) required_children[p].push_back(v);
        }
    }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - began).count(); }
    void show(double score) {
        std::lock_guard guard(lock);
        if (score <= shown) return;
        shown = score;
        trace.emplace_back(seconds(), score);
    }
};

struct Best {
    double score = -std::numeric_limits<double>::infinity();
    std::vector<int> order;
    ParentLists parents;
    std::vector<double> local;
};

// Climb, trees and runs ask for many families more than once.
class Remembered final : public LocalScores, public NearScores {
public:
    explicit Remembered(std::unique_ptr<LocalScores> scores)
        : scores_(std::move(scores)), near_(dynamic_cast<NearScores*>(scores_.get())), known_(std::size_t{1} << 20) {}
    double score(int child, std::span<const int> parents) override {
        const SetKey key = key_of(parents) + own(child);
        if (const double* known = known_.find(key)) return *known;
        const double score = scores_->score(child, parents);
        known_.put(key, score);
        return score;
    }
    void extend(int child, std::span<const int> parents, std::span<const int> candidates, double* out) override {
        const SetKey key = key_of(parents) + own(child);
        std::vector<int> unknown;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (const double* known = known_.find(key + key_of(candidates[i]))) out[i] = *known;
            else unknown.push_back(candidates[i]), places.push_back(i);
        }
        if (unknown.empty()) return;
        std::vector<double> found(unknown.size(), std::numeric_limits<double>::quiet_NaN());
        auto keep = [&] {
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (std::isnan(found[i])) continue;      // after a stop
                out[places[i]] = found[i];
                known_.put(key + key_of(unknown[i]), found[i]);
            }
        };
        try {
            scores_->extend(child, parents, unknown, found.data());
        } catch (const Stopped&) {
            keep();
            throw;
        }
        keep();
    }
    void near(int child, std::span<const int> parents, std::span<const int> candidates, double least, double* out) override {
        if (near_) near_->near(child, parents, candidates, least, out);
        else extend(child, parents, candidates, out);
    }
    bool near_without(int child, std::span<const int> parents, double* out) override {
        return near_ && near_->near_without(child, parents, out);
    }
    double unavailable(int child) const override { return scores_->unavailable(child); }
    std::uint64_t left_out() const override { return scores_->left_out(); }
    std::unique_ptr<LocalScores> another() const override { return std::make_unique<Remembered>(scores_->another()); }

private:
    static SetKey own(int child) { return {mixed_bits(static_cast<std::uint64_t>(child) + 1), 1}; }
    std::unique_ptr<LocalScores> scores_;
    NearScores* near_;                                   // the same, if it has them
    SetCache<double> known_;
};

class Boss {
public:
    Boss(Shared& shared, LocalScores& scores, std::uint64_t seed)
        : shared_(shared), scores_(scores), allowed_(shared.allowed), n_(allowed_.variables()), order_(n_), position_(n_), hash_(n_),
          state_(n_), matters_(n_, VarSet(n_)), gains_(std::size_t{1} << 16), queue_(n_), queued_(n_), marked_(n_),
          most_(n_, std::numeric_limits<double>::quiet_NaN()), random_(seed) {}

    void start_at_random() {
        std::vector<int> order(n_);
        std::iota(order.begin(), order.end(), 0);
        for (int i = n_ - 1; i > 0; --i) std::swap(order[i], order[chance(i + 1)]);
        // Required parents first, else as drawn.
        std::vector<char> placed(n_);
        std::vector<int> sorted, stack;
        for (int first : order)
            for (stack.assign(1, first); !stack.empty();) {
                const int v = stack.back();
                const auto& above = allowed_.required[v];
                const auto missing = std::find_if(above.begin(), above.end(), [&](int p) { return !placed[p]; });
                if (missing != above.end()) {
                    stack.push_back(*missing);
                    continue;
                }
                stack.pop_back();
                if (!std::exchange(placed[v], 1)) sorted.push_back(v);
            }
        start_from_order(sorted);
    }

    void start_from_order(const std::vector<int>& order) {
        order_ = order;
        for (int i = 0; i < n_; ++i) position_[order_[i]] = i;
        std::uint64_t hash = 0;
        for (int v : order_) hash_[v] = std::exchange(hash, hash ^ name(v));
        for (int v : order_) set_state(v, project(v));
        steps_.clear();
        changes_.clear();
        wake_everyone();
        slack_ = 1e-11;
        for (const Grown& own : state_)
            if (own.score > GrowShrinkTree::lowest) slack_ += 1e-11 * std::abs(own.score);
        accepted_ = total();
        keep_if_best();
    }

    // Climbs, then shakes and climbs until `patience` shakes in a row brought nothing. The best is kept.
    void improve(std::uint64_t patience) {
        climb_to_the_end();
        accept();
        // Rounds that begin hot and end cold. The first is cold throughout; then a round that brought something is
        // followed by a colder one, others by hotter and longer ones.
        constexpr double coldest = 0.12, hottest = 1;
        std::uint64_t round = std::uint64_t{10} * n_, in_round = 0;
        double heat = 0, round_began = best_.score;
        for (std::uint64_t failed = 0; failed < patience; ++failed) {
            if (in_round++ == round) {
                take_from(state_parents(), state_scores());
                if (best_.score > round_began) {
                    failed = 0;
                    heat = std::max(coldest, heat / 2);
                } else {
                    heat = std::min(hottest, std::max(coldest, heat * 2));
                    round += round / 10;
                }
                in_round = 0;
                round_began = best_.score;
            }
            ++shared_.control.done;
            shake();
            climb();
            if (held_ >= 0) {
                wake(std::exchange(held_, -1));
                climb();
            }
            const double cool = heat * (1 - static_cast<double>(in_round) / static_cast<double>(round));
            if (!accepts(accepted_ - total(), cool)) undo();
            else if (accept()) failed = 0;
        }
        start_from_order(best_.order);                   // shakes wake only those nearby: a last look at everyone
        climb_to_the_end();
        accept();
    }

    // Takes over the parts that are better in another DAG, and climbs from there.  REQUIRES: there is a best.
    void take_from(const ParentLists& parents, const std::vector<double>& scores) {
        start_from_order(recombined_order(best_.parents, best_.local, parents, scores, slack_));
        climb_to_the_end();
        accept();
    }

    void learn_from(const Best& other) { take_from(other.parents, other.local); }
    void keep(const Best& given) { best_ = given; }
    const Best& best() const { return best_; }

private:
    struct Slot {
        double gain = 0;
        int position = -1;
    };
    struct Step { int variable, from; };
    struct Change { int variable; Grown state; };

    std::size_t chance(std::size_t below) { return random_() % below; }
    static std::uint64_t name(int v) { return mixed_bits((static_cast<std::uint64_t>(v) + 1) * 0x9e3779b97f4a7c15ull); }
    double total() const {
        double sum = 0;
        for (const Grown& own : state_) sum += own.score;
        return sum;
    }
    ParentLists state_parents() const {
        ParentLists parents;
        for (const Grown& own : state_) parents.push_back(own.parents);
        return parents;
    }
    std::vector<double> state_scores() const {
        std::vector<double> scores;
        for (const Grown& own : state_) scores.push_back(own.score);
        return scores;
    }

    // With those before `place`, but for v itself.
    Grown project_at(int v, int place) {
        return shared_.trees[v].grow(scores_, [&](int u) { return position_[u] < place; });
    }
    Grown project(int v) { return project_at(v, position_[v]); }

    void set_state(int v, Grown&& state) {
        for (int u : state_[v].taken) matters_[u].erase(v);
        for (int u : state_[v].missed) matters_[u].erase(v);
        state_[v] = std::move(state);
        for (int u : state_[v].taken) matters_[u].insert(v);
        for (int u : state_[v].missed) matters_[u].insert(v);
    }

    // What w has of v before it rather than behind it.  REQUIRES: v matters to w.
    double gain(int w, int v) {
        const bool there = position_[v] < position_[w];
        const std::uint64_t key = mixed_bits((there ? hash_[w] ^ name(v) : hash_[w]) + static_cast<std::uint64_t>(w) * n_ + v);
        auto& [known, value] = gains_[key & (gains_.size() - 1)];
        if (known == key) return value;
        const int place = position_[w];
        const double other = shared_.trees[w].grow(scores_, [&](int u) { return u == v ? !there : position_[u] < place; }).score;
        known = key;
        return value = there ? state_[w].score - other : other - state_[w].score;
    }

    // What v has when all others come before it: taken as the most that it can have, and raised where that is wrong.
    double most(int v) {
        if (std::isnan(most_[v])) most_[v] = shared_.trees[v].grow(scores_, [](int) { return true; }).score;
        return most_[v] = std::max(most_[v], state_[v].score);
    }

    // The best place, if it is better than here; among equals the nearest, on the left before the right. A walk ends where what is
    // left to win cannot pay.
    Slot best_slot(int v) {
        const int here = position_[v];
        const auto [low, high] = range(v);
        const double own = state_[v].score;
        Slot best{slack_, -1};
        auto mark = [&](const std::vector<int>& list) {
            ++stamp_;
            for (int u : list) marked_[u] = stamp_;
        };
        double others = 0, mine = 0, left = 0;
        for (int i = low + 1; i < here; ++i)
            if (const int u = order_[i]; matters_[v].contains(u)) left += most(u) - state_[u].score;
        mark(state_[v].taken);
        for (int i = here - 1; i > low && mine + others + left > best.gain; --i) {
            const int u = order_[i];
            const bool to_u = matters_[v].contains(u), to_v = marked_[u] == stamp_;
            if (to_u) {
                others += gain(u, v);
                left -= most(u) - state_[u].score;
            }
            if (to_v) {
                const Grown grown = project_at(v, i);
                mine = grown.score - own;
                mark(grown.taken);
            }
            if ((to_u || to_v) && mine + others > best.gain + slack_) best = {mine + others, i};
        }
        others = mine = 0;
        mark(state_[v].missed);
        left = state_[v].missed.empty() ? 0 : most(v) - own;
        for (int i = here + 1; i < high && others + left > best.gain; ++i) {
            const int u = order_[i];
            const bool to_u = matters_[v].contains(u), to_v = marked_[u] == stamp_;
            if (to_u) others -= gain(u, v);
            if (to_v) {
                const Grown grown = project_at(v, i + 1);
                mine = grown.score - own;
                mark(grown.missed);
            }
            if ((to_u || to_v) && mine + others > best.gain + slack_) best = {mine + others, i};
        }
        return best;
    }
    // Between which places, both left out, it may stand.
    std::pair<int, int> range(int v) const {
        int low = -1, high = n_;
        for (int p : allowed_.required[v]) low = std::max(low, position_[p]);
        for (int c : shared_.required_children[v]) high = std::min(high, position_[c]);
        return {low, high};
    }

    void wake(int v) {
        if (queued_[v]) return;
        queued_[v] = 1;
        const std::size_t at = head_ + waiting_++;
        queue_[at < queue_.size() ? at : at - queue_.size()] = v;
    }
    void wake_everyone() {
        head_ = waiting_ = 0;
        std::fill(queued_.begin(), queued_.end(), 0);
        for (int v : order_) wake(v);
    }

    void shift(int v, int to) {
        const int from = position_[v];
        auto pass = [&](int i, int by) {
            const int u = order_[i];
            hash_[v] ^= name(u);
            hash_[u] ^= name(v);
            order_[i + by] = u;
            position_[u] = i + by;
        };
        for (int i = from + 1; i <= to; ++i) pass(i, -1);
        for (int i = from - 1; i >= to; --i) pass(i, 1);
        order_[to] = v;
        position_[v] = to;
    }

    void change(int v) {
        Grown now = project(v);
        const bool other = now.parents != state_[v].parents;
        changes_.push_back({v, state_[v]});
        if (other)
            for (int u : state_[v].parents) wake(u);
        set_state(v, std::move(now));
        wake(v);
        if (!other) return;
        for (int u : state_[v].taken) wake(u);
        for (int u : state_[v].missed) wake(u);
    }

    void move(int v, int to) {
        const int from = position_[v];
        if (to == from) return;
        steps_.push_back({v, from});
        shift(v, to);
        touched_.clear();
        for (int i = std::min(from, to); i <= std::max(from, to); ++i)
            if (matters_[v].contains(order_[i])) touched_.push_back(order_[i]);
        for (int u : touched_) change(u);
        change(v);
    }

    void climb() {
        while (waiting_ > 0) {
            if (shared_.control.asked()) throw Stopped{};
            const int v = queue_[head_];
            if (++head_ == queue_.size()) head_ = 0;
            --waiting_;
            queued_[v] = 0;
            if (v == held_) continue;
            const Slot slot = best_slot(v);
            if (slot.position >= 0) move(v, slot.position);
        }
    }
    // Until a look at everyone brings nothing.
    void climb_to_the_end() {
        for (std::size_t before;;) {
            before = steps_.size();
            climb();
            keep_if_best();
            if (steps_.size() == before) return;
            wake_everyone();
        }
    }

    void shake() {
        if (chance(2) || !grant_a_wish()) jump();
    }
    // Those that matter to v or to which v matters.
    const std::vector<int>& relations(int v) {
        relations_.clear();
        relations_.insert(relations_.end(), state_[v].taken.begin(), state_[v].taken.end());
        relations_.insert(relations_.end(), state_[v].missed.begin(), state_[v].missed.end());
        for (int u = 0; u < n_; ++u)
            if (matters_[v].contains(u)) relations_.push_back(u);
        return relations_;
    }
    // A few variables, one after another, jump over one that matters to them.
    void jump() {
        int v = static_cast<int>(chance(n_));
        for (std::size_t left = 1 + chance(3); left > 0; --left) {
            const auto& near = relations(v);
            if (near.empty()) return;
            const int over = near[chance(near.size())], next = near[chance(near.size())];
            const auto [low, high] = range(v);
            move(v, std::clamp(position_[over], low + 1, high - 1));
            v = next;
        }
    }
    // Some variable gets one that it would have taken, and is held there: either that one comes before it with its own
    // ancestors, or it goes behind that one with its descendants; so others lose only where there would be a cycle.
    bool grant_a_wish() {
        int v = static_cast<int>(chance(n_));
        for (int look = 0; look < 50 && state_[v].missed.empty(); ++look) v = static_cast<int>(chance(n_));
        if (state_[v].missed.empty()) return false;
        const int wish = state_[v].missed[chance(state_[v].missed.size())], here = position_[v], last = position_[wish];
        std::vector<int> block;
        auto chosen = [&](int u) { return marked_[u] == stamp_; };
        ++stamp_;
        if (chance(2)) {
            marked_[wish] = stamp_;
            for (int i = last; i > here; --i)
                if (const int u = order_[i]; chosen(u)) {
                    const auto& required = allowed_.required[u];
                    if (std::binary_search(required.begin(), required.end(), v)) return false;
                    block.push_back(u);
                    for (int p : state_[u].parents) marked_[p] = stamp_;
                }
            for (auto u = block.rbegin(); u != block.rend(); ++u) move(*u, position_[v]);
        } else {
            marked_[v] = stamp_;
            block.push_back(v);
            for (int i = here + 1; i < last; ++i) {
                const auto& above = state_[order_[i]].parents;
                if (std::any_of(above.begin(), above.end(), chosen)) marked_[order_[i]] = stamp_, block.push_back(order_[i]);
            }
            const auto& required = allowed_.required[wish];
            if (std::any_of(required.begin(), required.end(), chosen)) return false;
            for (int u : block) move(u, last);
        }
        held_ = v;
        return true;
    }

    // As in annealing; the heat is in units of what shakes here usually cost.
    bool accepts(double drop, double heat) {
        if (drop <= slack_) return true;
        usual_drop_ = usual_drop_ == 0 ? drop : usual_drop_ * (drop > usual_drop_ ? 1.025 : 0.975);
        const double luck = (static_cast<double>(random_() >> 11) + 1) * 0x1p-53;
        return drop < -std::log(luck) * heat * usual_drop_;
    }
    void undo() {
        for (; !steps_.empty(); steps_.pop_back()) shift(steps_.back().variable, steps_.back().from);
        for (; !changes_.empty(); changes_.pop_back()) set_state(changes_.back().variable, std::move(changes_.back().state));
    }
    bool keep_if_best() {
        const double now = total();
        if (now <= best_.score + slack_) return false;
        best_ = {now, order_, state_parents(), state_scores()};
        shared_.show(now);
        return true;
    }
    bool accept() {
        steps_.clear();
        changes_.clear();
        accepted_ = total();
        return keep_if_best();
    }

    Shared& shared_;
    LocalScores& scores_;
    const Allowed& allowed_;
    const int n_;
    std::vector<int> order_, position_;
    std::vector<std::uint64_t> hash_;                    // of those before a variable
    std::vector<Grown> state_;                           // of every variable where it stands
    std::vector<VarSet> matters_;                        // per variable: to whom it matters
    std::vector<std::pair<std::uint64_t, double>> gains_;            // by a key of child, variable and those before the child
    std::vector<int> queue_;                             // a ring of variables that may have a better place
    std::size_t head_ = 0, waiting_ = 0;
    std::vector<char> queued_;
    int held_ = -1;                                      // a variable that may not move yet
    std::vector<Step> steps_;                            // since the last accepted order
    std::vector<Change> changes_;
    double accepted_ = 0, slack_ = 0;
    double usual_drop_ = 0;                              // about the median of what shakes cost
    std::vector<std::uint64_t> marked_;
    std::uint64_t stamp_ = 0;
    std::vector<int> touched_, relations_;
    std::vector<double> most_;                           // NaN: not known yet
    Best best_;
    std::mt19937_64 random_;
};

// The start, or where a plain climb ends.
Best begin(LocalScores& scores, const BossRequest& request, Team& team, Control& control) {
    const Allowed& allowed = request.allowed;
    const int n = allowed.variables();
    Best given;
    if (request.start.empty()) {
        GreedyResult found = greedy(scores, {allowed.required, allowed}, team, control);
        given.parents = std::move(found.parents);
        given.local = std::move(found.local);
    } else {
        Listening undisturbed(nullptr);                  // whatever comes, there is an answer
        given.parents = request.start;
        for (int v = 0; v < n; ++v) given.local.push_back(scores.score(v, given.parents[v]));
    }
    for (double& score : given.local) score = std::max(score, GrowShrinkTree::lowest);
    given.order = topological_order(given.parents);
    given.score = std::accumulate(given.local.begin(), given.local.end(), 0.0);
    return given;
}

}  // namespace

BossResult boss(LocalScores& scores, const BossRequest& request, Team& team, Control& control) {
    const int n = request.allowed.variables();
    Shared shared(request.allowed, control);
    Remembered first(scores.another());
    std::vector<std::unique_ptr<LocalScores>> others(team.size());
    auto mine = [&](int thread) -> LocalScores& {
        if (thread == 0) return first;
        if (!others[thread]) others[thread] = first.another();
        return *others[thread];
    };
    const Best given = begin(first, request, team, control);
    shared.show(given.score);
    // The first look at all pairs, which is most of the work for many variables, on all threads.
    team.run(n, [&](int thread, std::size_t v) { shared.trees[v].grow(mine(thread), [](int) { return false; }); });

    std::vector<Best> ended(std::max(1, request.runs), given);
    team.run(ended.size(), [&](int thread, std::size_t task) {
        std::seed_seq words{static_cast<std::uint32_t>(request.seed), static_cast<std::uint32_t>(request.seed >> 32),
                            static_cast<std::uint32_t>(task)};
        std::uint32_t seed[2];
        words.generate(seed, seed + 2);
        Boss one(shared, mine(thread), std::uint64_t{seed[0]} << 32 | seed[1]);
        one.keep(given);
        try {
            if (task == 0) one.start_from_order(given.order);
            else one.start_at_random();
            one.improve(static_cast<std::uint64_t>(request.patience) * std::max(n, few_variables));
        } catch (const Stopped&) {}                      // the best so far was kept
        ended[task] = one.best();
    });
    std::size_t top = 0;
    for (std::size_t i = 1; i < ended.size(); ++i)
        if (ended[i].score > ended[top].score) top = i;
    Boss all(shared, first, request.seed);
    all.keep(ended[top]);
    try {
        for (std::size_t i = 0; i < ended.size(); ++i)
            if (i != top) all.learn_from(ended[i]);
    } catch (const Stopped&) {}
    const Best& best = all.best();
    return {best.parents, best.order, best.score, best.local, shared.trace};
}

BossResult project_order(LocalScores& scores, const Allowed& allowed, const std::vector<int>& order) {
    Control control;
    Shared shared(allowed, control);
    Boss one(shared, scores, 0);
    one.start_from_order(order);
    const Best& best = one.best();
    return {best.parents, best.order, best.score, best.local, {}};
}

}  // namespace spinney
