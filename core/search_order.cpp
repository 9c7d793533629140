// After Lee and van Beek (2017): orders, neighbours by insertion, shakes. What makes it quick:
//
// Taking v out of the order leaves every other variable's predecessors fixed, so a place for v is worth v's own best set
// there plus, over the children that come later, what v adds to each. These gains are remembered by (child, v) until the child's
// predecessors change. Walking from v's place to the left only takes predecessors away, to the right only brings some, and both walks
// end as soon as what is left to win cannot pay. Variables that share no set with v are not looked at.
//
// After a move only the variables around it can have a better place; they wait in a queue. So a shake and its
// climb cost what its surroundings cost, not n, and a shake that ends worse is undone step by step.
#include "search_order.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "recombine.hpp"

namespace spinney {
namespace {

constexpr double worst = -std::numeric_limits<double>::infinity();

}  // namespace

OrderSearch::OrderSearch(const OrderTables& tables, std::uint64_t seed)
    : tables_(tables), n_(tables.variables()), order_(n_), position_(n_), set_(n_), hash_(n_),
      gains_(tables.pairs_, {0, 0.0}), queue_(n_), queued_(n_), marks_((n_ + 63) / 64 + 1), relation_at_(n_), chosen_(n_),
      best_score_(worst), random_(seed) {
    std::size_t words = 0, most = 0;
    for (const Child& child : tables.children_) {
        before_from_.push_back(words);
        words += child.words;
        most = std::max<std::size_t>(most, child.words);
    }
    before_.resize(words);
    scratch_.resize(most);
    std::iota(order_.begin(), order_.end(), 0);
    start_at_random();
}

void OrderSearch::start_at_random() {
    for (int i = n_ - 1; i > 0; --i) std::swap(order_[i], order_[chance(i + 1)]);
    settle();
}

void OrderSearch::start_from_order(const std::vector<int>& order) {
    order_ = order;
    settle();
}

void OrderSearch::start_from_parents(const std::vector<std::vector<int>>& parents) { start_from_order(topological_order(parents)); }

void OrderSearch::start_from_weights(const std::vector<std::vector<double>>& weights) {
    std::vector<double> expected(n_);
    std::fill(before_.begin(), before_.end(), 0);
    for (int v = 0; v < n_; ++v) {
        double sum = 0, mass = 0;
        for (std::size_t k = 0; k < weights[v].size(); ++k) {
            sum += weights[v][k] * tables_.sets_[v][k].score;
            mass += weights[v][k];
        }
        const Child& child = tables_.children_[v];
        expected[v] = mass > 0 ? sum / mass : child.scores.front();
        set_[v] = next_within(child, &before_[before_from_[v]], 0);
    }
    order_.clear();
    std::vector<char> placed(n_);
    for (int place = 0; place < n_; ++place) {
        int next = -1;
        double least = 0;
        for (int v = 0; v < n_; ++v) {
            if (placed[v]) continue;
            double loss = expected[v] - tables_.children_[v].scores[set_[v]];
            if (next < 0 || loss < least - tables_.slack_) next = v, least = loss;
        }
        placed[next] = true;
        order_.push_back(next);
        for (const auto& r : tables_.children_[next].relations) {
            if (r.as_child < 0 || placed[r.other]) continue;
            const Child& child = tables_.children_[r.other];
            std::uint64_t* before = &before_[before_from_[r.other]];
            set_[r.other] = best_with(child, before, r.as_child, set_[r.other]);
            before[r.as_child / 64] |= bit(r.as_child);
        }
    }
    settle();
}

// All that follows from order_.
void OrderSearch::settle() {
    for (int i = 0; i < n_; ++i) position_[order_[i]] = i;
    std::fill(before_.begin(), before_.end(), 0);
    score_ = 0;
    for (int v = 0; v < n_; ++v) {
        const Child& child = tables_.children_[v];
        std::uint64_t* before = &before_[before_from_[v]];
        hash_[v] = 1;                                    // an untouched memory of gains has 0
        for (std::size_t i = 0; i < child.candidates.size(); ++i)
            if (position_[child.candidates[i]] < position_[v]) {
                before[i / 64] |= bit(static_cast<int>(i));
                hash_[v] ^= child.names[i];
            }
        set_[v] = next_within(child, before, 0);
        score_ += child.scores[set_[v]];
    }
    head_ = waiting_ = 0;
    std::fill(queued_.begin(), queued_.end(), 0);
    for (int v : order_) wake(v);
    steps_.clear();
    changes_.clear();
    accepted_ = score_;
}

void OrderSearch::forget() { best_score_ = worst; }

template <class What>
void OrderSearch::for_parents(int v, int set, What&& what) const {
    const Child& child = tables_.children_[v];
    for (int w = 0; w < child.words; ++w)
        for (std::uint64_t bits = child.mask(set)[w]; bits; bits &= bits - 1)
            what(child.candidates[w * 64 + std::countr_zero(bits)]);
}

int OrderSearch::next_within(const Child& child, const std::uint64_t* before, int from) const {
    if (child.words == 1) {
        const std::uint64_t missing = ~before[0];
        const std::uint64_t* mask = child.masks.data() + from;
        while (*mask & missing) ++mask;
        return static_cast<int>(mask - child.masks.data());
    }
    for (;; ++from) {
        const std::uint64_t* mask = child.mask(from);
        int w = 0;
        while (w < child.words && !(mask[w] & ~before[w])) ++w;
        if (w == child.words) return from;
    }
}

// The best set when the candidate joins `before`; `now` without it.
int OrderSearch::best_with(const Child& child, std::uint64_t* before, int candidate, int now) const {
    const int* end = child.holding.data() + child.holding_from[candidate + 1];
    const int* set = child.holding.data() + child.holding_from[candidate];
    if (child.words == 1) {
        const std::uint64_t missing = ~(before[0] | bit(candidate));
        for (; set < end && *set < now; ++set)
            if (!(child.masks[*set] & missing)) return *set;
        return now;
    }
    const std::uint64_t was = before[candidate / 64];
    before[candidate / 64] |= bit(candidate);
    int found = now;
    for (; set < end && *set < now && found == now; ++set) {
        const std::uint64_t* mask = child.mask(*set);
        int w = 0;
        while (w < child.words && !(mask[w] & ~before[w])) ++w;
        if (w == child.words) found = *set;
    }
    before[candidate / 64] = was;
    return found;
}

// What the child has of this candidate before it rather than after it.
double OrderSearch::gain(int v, int candidate) {
    const Child& child = tables_.children_[v];
    auto& [known, value] = gains_[child.first_gain + candidate];
    std::uint64_t* before = &before_[before_from_[v]];
    const int now = set_[v];
    const bool there = before[candidate / 64] & bit(candidate);
    // Whether the candidate itself is before makes no difference.
    const std::uint64_t key = there ? hash_[v] ^ child.names[candidate] : hash_[v];
    if (known == key) return value;
    known = key;
    if (!there) return value = child.scores[best_with(child, before, candidate, now)] - child.scores[now];
    if (!child.holds(now, candidate)) return value = 0;
    before[candidate / 64] ^= bit(candidate);
    const int without = next_within(child, before, now + 1);
    before[candidate / 64] ^= bit(candidate);
    return value = child.scores[now] - child.scores[without];
}

OrderSearch::Slot OrderSearch::best_slot(int v) {
    const Child& child = tables_.children_[v];
    const int here = position_[v];
    const double slack = tables_.slack_;
    double left = 0;                                     // all that children before v could have of it
    for (const auto& r : child.relations)
        if (r.as_child >= 0 && position_[r.other] < here && r.best_as_child < set_[r.other]) left += gain(r.other, r.as_child);
    const double right = child.scores.front() - child.scores[set_[v]];       // all that v could have of those behind it
    if (left <= slack && right <= slack) return {};
    std::fill(marks_.begin(), marks_.end(), 0);
    for (std::size_t i = 0; i < child.relations.size(); ++i) {
        const auto& r = child.relations[i];
        const int at = position_[r.other];
        const bool matters = at < here ? left > slack && (r.as_parent >= 0 || r.best_as_child < set_[r.other])
                                       : right > slack && (r.as_child >= 0 || r.best_as_parent < set_[v]);
        if (!matters) continue;
        marks_[at / 64] |= bit(at);
        relation_at_[at] = static_cast<int>(i);
    }
    Slot best{slack, -1};
    if (left > slack) best = best_on_the_left(v, left);
    if (right > best.gain) best = best_on_the_right(v, right, best);
    return best;
}

OrderSearch::Slot OrderSearch::best_on_the_left(int v, double most) {
    const Child& child = tables_.children_[v];
    const int here = position_[v];
    const double own = child.scores[set_[v]];
    std::copy_n(&before_[before_from_[v]], child.words, scratch_.data());
    Slot best{tables_.slack_, -1};
    int set = set_[v];
    double won = 0, lost = 0;
    std::uint64_t bits = marks_[here / 64] & (bit(here) - 1);
    for (int word = here / 64;; bits = marks_[--word]) {
        while (bits) {
            const int in_word = 63 - std::countl_zero(bits), at = word * 64 + in_word;
            bits ^= bit(in_word);
            const auto& r = child.relations[relation_at_[at]];
            if (r.as_parent >= 0) {
                scratch_[r.as_parent / 64] ^= bit(r.as_parent);
                if (child.holds(set, r.as_parent)) {
                    set = next_within(child, scratch_.data(), set + 1);
                    lost = own - child.scores[set];
                    if (most - lost <= best.gain) return best;
                }
            }
            if (r.as_child >= 0 && r.best_as_child < set_[r.other]) won += gain(r.other, r.as_child);
            if (won - lost > best.gain + tables_.slack_) best = {won - lost, at};
        }
        if (word == 0) return best;
    }
}

OrderSearch::Slot OrderSearch::best_on_the_right(int v, double most, Slot best) {
    const Child& child = tables_.children_[v];
    const int here = position_[v], words = static_cast<int>(marks_.size());
    const double own = child.scores[set_[v]];
    std::copy_n(&before_[before_from_[v]], child.words, scratch_.data());
    int set = set_[v];
    double won = 0, lost = 0;
    std::uint64_t bits = marks_[here / 64] & ~(bit(here) - 1);
    for (int word = here / 64;; bits = marks_[word]) {
        while (bits) {
            const int at = word * 64 + std::countr_zero(bits);
            bits &= bits - 1;
            const auto& r = child.relations[relation_at_[at]];
            if (r.as_child >= 0) {
                lost += gain(r.other, r.as_child);
                if (most - lost <= best.gain) return best;
            }
            if (r.as_parent >= 0 && r.best_as_parent < set) {        // others are in no better set
                set = best_with(child, scratch_.data(), r.as_parent, set);
                scratch_[r.as_parent / 64] |= bit(r.as_parent);
                won = child.scores[set] - own;
            }
            if (won - lost > best.gain + tables_.slack_) best = {won - lost, at};
        }
        if (++word == words) return best;
    }
}

void OrderSearch::wake(int v) {
    if (queued_[v]) return;
    queued_[v] = 1;
    std::size_t at = head_ + waiting_++;
    queue_[at < queue_.size() ? at : at - queue_.size()] = v;
}

// After a change before v: the candidates from which v may now win, and those it may let go.
void OrderSearch::wake_candidates(int v, int was) {
    const Child& child = tables_.children_[v];
    const std::uint64_t* before = &before_[before_from_[v]];
    for (int i = 0; i < static_cast<int>(child.candidates.size()); ++i) {
        const int c = child.candidates[i];
        if (before[i / 64] & bit(i) ? set_[c] > 0 && (child.holds(set_[v], i) || child.holds(was, i)) : child.best_holding[i] < set_[v])
            wake(c);
    }
}

void OrderSearch::set_to(int v, int set) {
    if (set == set_[v]) return;
    changes_.push_back({v, set_[v]});
    score_ += tables_.children_[v].scores[set] - tables_.children_[v].scores[set_[v]];
    set_[v] = set;
}

// Moves v in the order and in the masks; the sets are the caller's.
void OrderSearch::shift(int v, int to) {
    const Child& child = tables_.children_[v];
    const int from = position_[v], low = std::min(from, to), high = std::max(from, to);
    for (const auto& r : child.relations) {
        const int at = position_[r.other];
        if (at < low || at > high) continue;
        if (r.as_parent >= 0) {
            before_[before_from_[v] + r.as_parent / 64] ^= bit(r.as_parent);
            hash_[v] ^= child.names[r.as_parent];
        }
        if (r.as_child >= 0) {
            before_[before_from_[r.other] + r.as_child / 64] ^= bit(r.as_child);
            hash_[r.other] ^= tables_.children_[r.other].names[r.as_child];
        }
    }
    for (int i = from; i < to; ++i) position_[order_[i] = order_[i + 1]] = i;
    for (int i = from; i > to; --i) position_[order_[i] = order_[i - 1]] = i;
    order_[to] = v;
    position_[v] = to;
}

void OrderSearch::move(int v, int to) {
    const int from = position_[v];
    const bool leftward = to < from;
    const Child& child = tables_.children_[v];
    steps_.push_back({v, from});
    shift(v, to);
    int own = set_[v];
    bool more = false;                                   // before v than there were
    for (const auto& r : child.relations) {
        const int at = position_[r.other];
        if (leftward ? at <= to || at > from : at >= to || at < from) continue;
        wake(r.other);
        if (r.as_parent >= 0 && !leftward) {
            own = best_with(child, &before_[before_from_[v]], r.as_parent, own);
            more = true;
        }
        if (r.as_child < 0) continue;
        const Child& other = tables_.children_[r.other];
        std::uint64_t* before = &before_[before_from_[r.other]];
        const int was = set_[r.other];
        if (leftward) {
            set_to(r.other, best_with(other, before, r.as_child, was));
        } else if (other.holds(was, r.as_child)) {
            set_to(r.other, next_within(other, before, was + 1));
        }
        if (leftward || set_[r.other] != was) wake_candidates(r.other, was);
    }
    if (leftward) own = next_within(child, &before_[before_from_[v]], own);
    const int was = set_[v];
    set_to(v, own);
    if (more || own != was) wake_candidates(v, was);
}

void OrderSearch::climb(const Stop& stop) {
    while (waiting_ > 0) {
        const int v = queue_[head_];
        if (++head_ == queue_.size()) head_ = 0;
        --waiting_;
        queued_[v] = 0;
        if (v == held_) continue;
        Slot slot = best_slot(v);
        if (slot.position >= 0) move(v, slot.position);
        if (stop && stop()) return;
    }
}

void OrderSearch::shake() {
    if (chance(2) || !grant_a_wish()) jump();
}

// A few variables that share sets, one after another, jump over one of their relations.
void OrderSearch::jump() {
    int v = static_cast<int>(chance(n_));
    for (std::size_t left = 1 + chance(3); left > 0; --left) {
        const auto& relations = tables_.children_[v].relations;
        if (relations.empty()) return;
        move(v, position_[relations[chance(relations.size())].other]);
        v = relations[chance(relations.size())].other;
    }
}

// Some variable gets one of the sets it would rather have, and is held there. Either the missing parents come before it and bring
// their own ancestors along, or it goes behind them and takes its descendants with it; so others lose
// only where there would be a cycle.
bool OrderSearch::grant_a_wish() {
    int v = static_cast<int>(chance(n_));
    for (int look = 0; look < 50 && set_[v] == 0; ++look) v = static_cast<int>(chance(n_));
    if (set_[v] == 0) return false;
    const Child& child = tables_.children_[v];
    const int wish = static_cast<int>(chance(set_[v])), here = position_[v];
    int last = here;
    std::fill(chosen_.begin(), chosen_.end(), 0);
    block_.clear();
    for (int i = 0; i < static_cast<int>(child.candidates.size()); ++i)
        if (child.holds(wish, i) && position_[child.candidates[i]] > here) {
            chosen_[child.candidates[i]] = 1;
            last = std::max(last, position_[child.candidates[i]]);
        }
    if (chance(2)) {
        for (int i = last; i > here; --i)
            if (const int u = order_[i]; chosen_[u]) {
                block_.push_back(u);
                for_parents(u, set_[u], [&](int p) { chosen_[p] = 1; });
            }
        for (auto u = block_.rbegin(); u != block_.rend(); ++u) move(*u, position_[v]);
    } else {
        for (int i = here + 1; i < last; ++i)            // chosen: a missing parent, which stays; descendants are 2
            if (const int u = order_[i]; !chosen_[u])
                for_parents(u, set_[u], [&](int p) { if (p == v || chosen_[p] == 2) chosen_[u] = 2; });
        block_.push_back(v);
        for (int i = here + 1; i < last; ++i)
            if (chosen_[order_[i]] == 2) block_.push_back(order_[i]);
        for (int u : block_) move(u, last);
    }
    held_ = v;
    return true;
}

// As in annealing; the heat is in units of what shakes here usually cost.
bool OrderSearch::accepts(double drop, double heat) {
    if (drop <= tables_.slack_) return true;
    usual_drop_ = usual_drop_ == 0 ? drop : usual_drop_ * (drop > usual_drop_ ? 1.025 : 0.975);
    const double luck = (static_cast<double>(random_() >> 11) + 1) * 0x1p-53;
    return drop < -std::log(luck) * heat * usual_drop_;
}

void OrderSearch::undo() {
    while (!steps_.empty()) {
        shift(steps_.back().variable, steps_.back().from);
        steps_.pop_back();
    }
    while (!changes_.empty()) {
        set_[changes_.back().variable] = changes_.back().set;
        changes_.pop_back();
    }
    score_ = accepted_;
    for (; waiting_ > 0; --waiting_) {                   // only after a stop
        queued_[queue_[head_]] = 0;
        if (++head_ == queue_.size()) head_ = 0;
    }
}

// The parts that are better here go into the best, and the search goes on from there.
void OrderSearch::mend_the_best() {
    ParentLists here(n_), best(n_);
    std::vector<double> own(n_), of_best(n_);
    for (int v = 0; v < n_; ++v) {
        for_parents(v, set_[v], [&](int p) { here[v].push_back(p); });
        for_parents(v, best_sets_[v], [&](int p) { best[v].push_back(p); });
        own[v] = tables_.children_[v].scores[set_[v]];
        of_best[v] = tables_.children_[v].scores[best_sets_[v]];
    }
    start_from_order(recombined_order(std::move(best), of_best, here, own, tables_.slack_));
}

bool OrderSearch::keep_if_best() {
    if (score_ <= best_score_ + tables_.slack_) return false;
    double sum = 0;                                      // without the rounding of many small steps
    for (int v = 0; v < n_; ++v) sum += tables_.children_[v].scores[set_[v]];
    score_ = sum;
    best_score_ = sum;
    best_ = order_;
    best_sets_ = set_;
    return true;
}

bool OrderSearch::accept() {
    steps_.clear();
    changes_.clear();
    const bool best = keep_if_best();
    accepted_ = score_;
    return best;
}

void OrderSearch::improve(std::uint64_t patience, const Stop& stop, const std::function<void()>& better) {
    auto keep = [&] {
        const bool best = accept();
        if (best && better) better();
        return best;
    };
    climb(stop);
    keep();
    // Rounds that begin hot and end cold. The first is cold throughout; then a round that brought something is
    // followed by a colder one, others by hotter and longer ones.
    constexpr double coldest = 0.12, hottest = 1;
    std::uint64_t round = std::uint64_t{10} * n_, in_round = 0;
    double heat = 0, round_began = best_score_;
    for (std::uint64_t failed = 0; failed < patience && !(stop && stop()); ++failed) {
        if (in_round++ == round) {
            mend_the_best();
            climb(stop);
            if (keep()) failed = 0;
            if (best_score_ > round_began) {
                heat = std::max(coldest, heat / 2);
            } else {
                heat = std::min(hottest, std::max(coldest, heat * 2));
                round += round / 10;
            }
            in_round = 0;
            round_began = best_score_;
        }
        ++shakes_;
        shake();
        climb(stop);
        if (held_ >= 0) {
            wake(std::exchange(held_, -1));
            climb(stop);
        }
        if (!accepts(accepted_ - score_, heat * (1 - static_cast<double>(in_round) / static_cast<double>(round)))) undo();
        else if (keep()) failed = 0;
    }
    start_from_order(best_);                             // shakes wake only those nearby: a last look at everyone
    climb(stop);
    keep();
}

void OrderSearch::learn_from(const std::vector<int>& order, const Stop& stop) {
    start_from_order(order);
    mend_the_best();
    climb(stop);
    accept();
}

bool OrderSearch::feasible() const {
    std::vector<char> seen(n_);
    for (int v : best_) {
        const bool some = std::any_of(tables_.sets_[v].begin(), tables_.sets_[v].end(), [&](const ListedSet& set) {
            return std::all_of(set.parents.begin(), set.parents.end(), [&](int p) { return seen[p]; });
        });
        if (!some) return false;
        seen[v] = 1;
    }
    return true;
}

std::vector<std::vector<int>> OrderSearch::parents() const {
    std::vector<std::vector<int>> parents(n_);
    std::vector<char> seen(n_);
    for (int v : best_) {
        const ListedSet* chosen = nullptr;
        double top = worst;
        for (const ListedSet& set : tables_.sets_[v]) {  // best first; among equals the smaller, then the earlier names
            if (set.score < top - tables_.slack_) break;
            if (!std::all_of(set.parents.begin(), set.parents.end(), [&](int p) { return seen[p]; })) continue;
            if (!chosen || std::pair(set.parents.size(), set.parents) < std::pair(chosen->parents.size(), chosen->parents))
                chosen = &set;
            top = std::max(top, set.score);
        }
        if (chosen) parents[v] = chosen->parents;
        seen[v] = 1;
    }
    return parents;
}

OrderResult order_search(const ListedSets& sets, const OrderRequest& request, Team& team, Control& control) {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
    auto stopped = [&] { return control.asked(); };
    const OrderTables tables(sets);
    const int n = tables.variables();
    const std::size_t runs = std::max(1, request.runs);

    struct Run {
        double score = worst;
        std::vector<int> order;
    };
    std::vector<Run> ended(runs);
    OrderResult result;
    double shown = worst;
    std::mutex lock;
    auto search = [&](std::size_t task) {
        std::seed_seq words{static_cast<std::uint32_t>(request.seed), static_cast<std::uint32_t>(request.seed >> 32),
                            static_cast<std::uint32_t>(task)};
        std::uint32_t own[2];
        words.generate(own, own + 2);
        OrderSearch one(tables, std::uint64_t{own[0]} << 32 | own[1]);
        if (task == 0 && !request.start.empty()) one.start_from_parents(request.start);
        std::uint64_t calls = 0, told = 0;
        auto stop = [&] {
            if (++calls % 64 == 0) control.done += one.shakes() - std::exchange(told, one.shakes());
            return stopped();
        };
        auto better = [&] {
            std::lock_guard guard(lock);
            if (one.score() <= shown) return;
            shown = one.score();
            if (one.feasible()) result.trace.emplace_back(seconds(), shown);
        };
        one.improve(static_cast<std::uint64_t>(request.patience) * n, stop, better);
        ended[task] = {one.score(), one.order()};
    };
    team.run(runs, [&](int, std::size_t task) { search(task); });
    if (ended[0].order.empty()) search(0);               // stopped before anything began
    OrderSearch all(tables, 0);
    std::size_t first = 0;
    for (std::size_t i = 0; i < runs; ++i)
        if (ended[i].score > ended[first].score) first = i;
    all.start_from_order(ended[first].order);
    all.improve(0, stopped);
    for (const Run& run : ended)                         // those that never began have no order
        if (!run.order.empty()) all.learn_from(run.order, stopped);
    result.parents = all.parents();
    result.order = all.order();
    result.score = all.score();
    result.feasible = all.feasible();
    if (result.feasible && result.score > shown) result.trace.emplace_back(seconds(), result.score);
    return result;
}

}  // namespace spinney
