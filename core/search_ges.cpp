// Idea. For every variable y three rows are kept: the deletes, turns and inserts of edges into y that gain, best first. A row is
// made of what is near y alone, so after an operator only the rows near it are made again. Three tournaments tell the best
// operator of each kind; whether a directed way forbids it is looked at only then, and who was refused is asked again when an
// edge of that way is gone. Inserts into y are grouped by the set of y's neighbours that become its parents: all x together
// extend one family (family_gains.hpp).
// A forced delete and what follows from it is undone by restoring the nodes and rows that it touched.
// Deletes come before turns before inserts, and deletes are forced at the end: Nazaret and Blei (2024). The operators:
// Chickering (2002); Hauser and Buehlmann (2012). First only pairs that gain without any other parent (Ramsey 2015), then all.
#include "search_ges.hpp"

#include <chrono>
#include <cmath>
#include <memory>

#include "cpdag.hpp"
#include "family_gains.hpp"
#include "ges_rows.hpp"
#include "tournament.hpp"

namespace spinney {
namespace {

using namespace ges_rows;
using Clock = std::chrono::steady_clock;
using Set = FamilyGains::Set;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t most_sets = 1u << 12;              // of neighbours, per variable: the smaller ones
constexpr std::size_t many_refused = 2;                  // operators of a row, one by one
constexpr std::size_t most_known = std::size_t{128} << 20;       // bytes of rows that are remembered

bool has(const Set& set, int v) { return std::binary_search(set.begin(), set.end(), v); }
Set joined(const Set& a, const Set& b) {
    Set all;
    all.reserve(a.size() + b.size() + 1);
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}
Set without(const Set& set, int v) {
    Set less;
    less.reserve(set.size());
    for (int u : set)
        if (u != v) less.push_back(u);
    return less;
}

class Ges {
public:
    Ges(LocalScores& scores, const GesRequest& request, Team& team, Control& control)
        : request_(request), allowed_(request.allowed), control_(control), gains_(scores, request.allowed, team, control),
          n_(static_cast<int>(request.start.size())), graph_(request.start), rows_(n_), saved_at_(n_, 0),
          best_{Tournament(n_), Tournament(n_), Tournament(n_)}, marked_(n_, 0), alone_(n_, 0), start_(Clock::now()) {
        // One limit for all needs no look at the class: in every component its largest clique and the parents from outside
        // give the same largest number of parents in every member.
        for (int v = 0; v < n_; ++v)
            constrained_ |= !allowed_.everybody(v) || !allowed_.required[v].empty() || allowed_.most[v] != allowed_.most[0];
    }

    GesResult run() {
        Listening listening(&control_);
        try {
            gains_.begin(member());
            rebuild_all();
            climb();
            note();
            gains_.all_pairs();
            rebuild_all();
            climb();
            note();
            if (request_.extended) force_deletes();
        } catch (const Stopped&) {}                      // the best class so far stands
        if (trying_) graph_.undo(0);                     // what was being tried has not been better yet
        return finish();
    }

private:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    double family(int child, const Set& parents) { return gains_.score(child, parents); }
    double gain_of(double after, double before) const { return gains_.gain_of(after, before); }
    std::int64_t rank_of(double gain) const { return gains_.rank_of(gain); }

    // ---- Operators into y

    // The cliques among these, the smaller ones first.
    std::vector<Set> cliques(const Set& of, std::size_t largest) const {
        std::vector<Set> found{{}};
        for (std::size_t i = 0; i < found.size() && found.size() < most_sets; ++i) {
            if (found[i].size() >= largest) break;
            for (int v : of) {
                if (!found[i].empty() && v <= found[i].back()) continue;
                if (!std::all_of(found[i].begin(), found[i].end(), [&](int u) { return graph_.adjacent(u, v); })) continue;
                Set larger = found[i];
                larger.push_back(v);
                found.push_back(std::move(larger));
            }
        }
        return found;
    }
    // May y have these and no other neighbours as parents?
    bool may_have(int y, const Set& parents, const Set& neighbours) const {
        if (!constrained_) return true;
        if (static_cast<int>(parents.size()) > allowed_.most[y]) return false;
        if (!std::includes(parents.begin(), parents.end(), allowed_.required[y].begin(), allowed_.required[y].end())) return false;
        for (int p : parents)
            if (!allowed_.may(y, p)) return false;
        for (int w : neighbours)
            if (!has(parents, w) && (!allowed_.may(w, y))) return false;
        return true;
    }
    bool required(int x, int y) const { return has(allowed_.required[y], x) || has(allowed_.required[x], y); }

    static void finish_row(Row& row) {
        std::sort(row.list.begin(), row.list.end(), [&](const Operator& a, const Operator& b) {
            return std::tuple(-a.rank, a.x, a.set) < std::tuple(-b.rank, b.x, b.set);
        });
    }
    std::size_t room(int y) const {
        const int left = allowed_.most[y] - static_cast<int>(graph_[y].parents.size());
        return static_cast<std::size_t>(std::max(left, 0));
    }

    std::shared_ptr<const Row> insert_row(int y) {
        const auto& node = graph_[y];
        auto row = std::make_shared<Row>();
        if (room(y) == 0) return row;
        for (Set& above : cliques(node.neighbours, room(y) - 1)) {
            const Set base = joined(node.parents, above);
            const auto extension = gains_.extension(y, base);
            if (extension->gains.empty()) continue;
            ++mark_;
            for (const auto* near : {&node.parents, &node.neighbours, &node.children})
                for (int v : *near) marked_[v] = mark_;
            for (int w : node.neighbours)                // adjacent to x and not above y: this is another set's operator
                if (!has(above, w))
                    for (const auto* near : {&graph_[w].parents, &graph_[w].neighbours, &graph_[w].children})
                        for (int v : *near) marked_[v] = mark_;
            const int number = static_cast<int>(row->sets.size());
            for (auto& [x, gain] : extension->gains)
                if (marked_[x] != mark_ && (!constrained_ || may_have(y, with(base, x), node.neighbours)))
                    row->list.push_back({rank_of(gain), gain, x, number});
            row->sets.push_back(std::move(above));
        }
        finish_row(*row);
        return row;
    }

    Set common(int y, int x) const {                     // neighbours of y that are adjacent to x
        Set found;
        for (int w : graph_[y].neighbours)
            if (w != x && graph_.adjacent(w, x)) found.push_back(w);
        return found;
    }

    std::ptrdiff_t forbidden_above(int y, const Set& above) const {
        return std::count_if(above.begin(), above.end(), [&](int w) { return !allowed_.may(y, w); });
    }
    // With some neighbours above, which are adjacent to one another, an edge to any of these and to any parent that is adjacent to
    // all of them may go.
    std::shared_ptr<const Row> delete_row(int y, bool all) {
        const auto& node = graph_[y];
        auto row = std::make_shared<Row>();
        for (const Set& clique : cliques(node.neighbours, n_)) {
            const Set more = joined(node.parents, clique);
            if (more.empty() || (constrained_ && (static_cast<int>(more.size()) > allowed_.most[y] || forbidden_above(y, clique) > 1))) continue;
            const auto gains = gains_.reduction(y, more);
            for (std::size_t i = 0; i < more.size(); ++i) {
                const int x = more[i];
                const double gain = (*gains)[i];
                const std::int64_t rank = rank_of(gain);
                if (rank <= 0 && (!all || gain == -infinite)) continue;
                if (!std::all_of(clique.begin(), clique.end(), [&](int w) { return w == x || graph_.adjacent(w, x); })) continue;
                if (constrained_ && (required(x, y) || !may_have(y, without(more, x), without(node.neighbours, x)))) continue;
                row->list.push_back({rank, gain, x, static_cast<int>(row->sets.size())});
                row->sets.push_back(without(clique, x));
            }
        }
        finish_row(*row);
        return row;
    }

    std::shared_ptr<const Turns> turns_of(int y) {
        const auto& node = graph_[y];
        auto found = std::make_shared<Turns>();
        if (room(y) == 0 || (node.children.empty() && node.neighbours.size() < 2)) return found;
        for (const Set& above : cliques(node.neighbours, room(y) - 1)) {
            const Set base = joined(node.parents, above);
            const int number = static_cast<int>(found->sets.size());
            const double without = gains_.score(y, base);
            auto gain_with = [&](int x) { return gain_of(gains_.score_with(y, base, x), without); };
            for (int x : node.children) {
                if (constrained_ && (required(y, x) || !allowed_.may(y, x))) continue;
                bool fits = true;                        // all neighbours that are adjacent to x are above
                for (int w : node.neighbours) fits = fits && (has(above, w) || !graph_.adjacent(w, x));
                if (fits && (!constrained_ || may_have(y, with(base, x), node.neighbours))) found->list.push_back({gain_with(x), x, number, true});
            }
            if (!above.empty())
                for (int x : node.neighbours) {
                    if (has(above, x) || (constrained_ && (required(y, x) || !allowed_.may(y, x)))) continue;
                    if (!turns_undirected(y, x, above)) continue;
                    Set of_x = node.parents;             // the same for all of a component
                    for (int w : above)
                        if (graph_.adjacent(w, x)) of_x = with(of_x, w);
                    if (constrained_ && !may_have(y, with(base, x), node.neighbours)) continue;
                    found->list.push_back({gain_with(x) + gain_of(gains_.score(x, of_x), gains_.score_with(x, of_x, y)), x, number, false});
                }
            found->sets.push_back(above);
        }
        return found;
    }
    // What a child gains without y is in its own surroundings, and is added here.
    std::shared_ptr<const Row> turn_row(int y, const Turns& turns) {
        auto row = std::make_shared<Row>();
        ++mark_;
        auto alone = [&](int x) {
            if (std::exchange(marked_[x], mark_) != mark_) {
                const Set& parents = graph_[x].parents;
                alone_[x] = (*gains_.reduction(x, parents))[std::lower_bound(parents.begin(), parents.end(), y) - parents.begin()];
            }
            return alone_[x];
        };
        for (const Turn& one : turns.list) {
            const double gain = one.child ? one.gain + alone(one.x) : one.gain;
            const std::int64_t rank = rank_of(gain);
            if (rank <= 0) continue;
            row->list.push_back({rank, gain, one.x, static_cast<int>(row->sets.size())});
            row->sets.push_back(turns.sets[one.set]);
        }
        finish_row(*row);
        return row;
    }
    // Hauser and Buehlmann (2012): some of `above` are not adjacent to x, and among the neighbours of y no way that avoids those
    // above that are leads from them to a neighbour that is adjacent to x and not above.
    bool turns_undirected(int y, int x, const Set& above) {
        ++mark_;
        std::vector<int> queue;
        for (int w : above) {
            marked_[w] = mark_;
            if (!graph_.adjacent(w, x)) queue.push_back(w);
        }
        if (queue.empty()) return false;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (int w : graph_[y].neighbours) {
                if (w == x || marked_[w] == mark_ || !graph_.adjacent(queue[i], w)) continue;
                if (graph_.adjacent(w, x)) return false;
                marked_[w] = mark_;
                queue.push_back(w);
            }
        return true;
    }

    // ---- Rows

    Rows& edit(int y) {
        if (trying_ && saved_at_[y] != epoch_) {
            saved_.emplace_back(y, rows_[y]);
            saved_at_[y] = epoch_;
        }
        return rows_[y];
    }
    void compete(int y, int kind) {
        const Rows& rows = rows_[y];
        const auto& list = rows.row[kind]->list;
        best_[kind].set(y, rows.at[kind] < list.size() ? list[rows.at[kind]].rank : 0);
    }
    // All that the rows of y are made of, as one number: who is near y, and who is near its neighbours.
    SetKey surroundings(int y) const {
        const auto& node = graph_[y];
        SetKey sum = key_of(y);
        auto add = [&](const SetKey& key, int place) {
            sum = sum + SetKey{mixed_bits(key.high + mixed_bits(place + 1)), mixed_bits(key.low ^ mixed_bits(~static_cast<std::uint64_t>(place)))};
        };
        add(gains_.key(node.parents), 0);
        add(gains_.key(node.neighbours), 1);
        add(gains_.key(node.children), 2);
        for (int w : node.neighbours)
            add(gains_.key(graph_[w].parents) + gains_.key(graph_[w].neighbours) + gains_.key(graph_[w].children), w + 3);
        return sum;
    }
    Known make(int y) { return {insert_row(y), delete_row(y, false), turns_of(y)}; }
    // While deletes are forced, one after another, the same surroundings come again and again.
    const Known& known(int y) {
        Known& found = known_[surroundings(y)];
        if (!found.turns) {
            found = make(y);
            held_bytes_ += found.bytes();
        }
        return found;
    }
    void rebuild(int y) {
        if (held_bytes_ > most_known) known_.clear(), held_bytes_ = 0;
        const Known now = trying_ ? known(y) : make(y);
        Rows& rows = edit(y);
        rows.row[inserts] = now.inserts;
        rows.row[deletes] = now.deletes;
        rows.turns = now.turns;
        for (int kind : {deletes, inserts}) renew(rows, y, kind);
        rebuild_turns(y);
    }
    void rebuild_turns(int y) {
        Rows& rows = edit(y);
        rows.row[turns] = turn_row(y, *rows.turns);
        renew(rows, y, turns);
    }
    void renew(Rows& rows, int y, int kind) {
        rows.at[kind] = 0;
        rows.made = ++clock_;
        compete(y, kind);
    }
    void reset(int y, int kind) {
        if (!rows_[y].row[kind] || rows_[y].at[kind] == 0) return;
        edit(y).at[kind] = 0;
        compete(y, kind);
    }
    void refuse(int y, int kind) {
        ++edit(y).at[kind];
        compete(y, kind);
    }
    void rebuild_all() {
        score_bases();
        for (int y = 0; y < n_; ++y) {
            Listening::look();
            rebuild(y);
        }
    }
    // The families that all variables' inserts extend, by all threads.
    void score_bases() {
        std::vector<std::pair<int, Set>> bases;
        for (int y = 0; y < n_; ++y) {
            if (room(y) == 0) continue;
            for (const Set& above : cliques(graph_[y].neighbours, room(y) - 1)) {
                Set base = joined(graph_[y].parents, above);
                if (!gains_.known(y, base)) bases.emplace_back(y, std::move(base));
            }
        }
        gains_.prepare(bases);
    }

    // After an operator on x and y.
    void refresh(int x, int y) {
        const auto& changed = graph_.changed();
        std::vector<int> near(changed), turned;
        for (int v : {x, y}) near.insert(near.end(), graph_[v].neighbours.begin(), graph_[v].neighbours.end());
        for (int v : changed) turned.insert(turned.end(), graph_[v].parents.begin(), graph_[v].parents.end());
        for (auto* list : {&near, &turned}) {
            std::sort(list->begin(), list->end());
            list->erase(std::unique(list->begin(), list->end()), list->end());
        }
        for (int v : near) rebuild(v);
        for (int v : turned)
            if (!has(near, v)) rebuild_turns(v);
        wake();
    }
    void wake() {
        for (auto& [from, to] : graph_.closed()) {
            auto range = [to = to](Rows& rows) {
                const auto first = std::lower_bound(rows.waiting.begin(), rows.waiting.end(), waits(to, 0));
                return std::pair(first, std::lower_bound(first, rows.waiting.end(), waits(to + 1, 0)));
            };
            if (const auto [first, last] = range(rows_[from]); first == last) continue;
            Rows& rows = edit(from);
            const auto [first, last] = range(rows);
            std::vector<int> woken;
            for (auto one = first; one != last; ++one) woken.push_back(static_cast<int>(*one & 0xffffffffu));
            rows.waiting.erase(first, last);
            for (int v : woken) reset(v, inserts), reset(v, turns);
        }
        for (int v : held_)
            for (int kind = 0; kind < kinds; ++kind) reset(v, kind);
        held_.clear();
    }

    // ---- Steps

    static std::uint64_t waits(int to, int y) { return static_cast<std::uint64_t>(to) << 32 | static_cast<std::uint32_t>(y); }
    // No way from y to x that avoids those above, and for a turn the neighbours of x.
    bool open_way(int kind, int x, int y, const Set& above) {
        if (kind == deletes || (kind == turns && has(graph_[y].neighbours, x))) return false;
        const auto way = kind == turns ? graph_.way(y, x, above, graph_[x].neighbours) : graph_.way(y, x, above);
        for (std::size_t i = 0; i + 1 < way.size(); ++i) wait_for(way[i], way[i + 1], y);
        return !way.empty();
    }
    void wait_for(int from, int to, int y) {
        auto& waiting = edit(from).waiting;
        const std::uint64_t entry = waits(to, y);
        const auto place = std::lower_bound(waiting.begin(), waiting.end(), entry);
        if (place == waiting.end() || *place != entry) waiting.insert(place, entry);
    }
    // Refuses what comes next in a row of inserts, as far as ways forbid it: all ways from y are found at once.
    void refuse_reached(int y) {
        Rows& rows = edit(y);
        const std::shared_ptr<const Row> row = rows.row[inserts];
        std::vector<Set> trees(row->sets.size());
        for (; rows.at[inserts] < row->list.size(); ++rows.at[inserts]) {
            const Operator& op = row->list[rows.at[inserts]];
            Set& before = trees[op.set];
            if (before.empty()) before = graph_.ways(y, row->sets[op.set]);
            if (before[op.x] == -1) break;
            for (int v = op.x, u; v != y && (u = before[v]) >= 0; v = u) {
                before[v] = -2 - u;                      // it is waited for from here on
                wait_for(u, v, y);
            }
        }
        compete(y, inserts);
    }
    // False: the class that it leads to is not possible, and all is as before.
    bool apply(int kind, int x, int y, const Set& above, bool forced = false) {
        const bool may_fail = constrained_ || !request_.equivalent;
        const std::size_t before = may_fail ? graph_.mark() : 0;
        if (kind == inserts) graph_.insert(x, y, above);
        else if (kind == deletes) graph_.remove(x, y, above);
        else graph_.turn(x, y, above);
        if (may_fail) {
            bool possible = !constrained_ || graph_.settle(graph_.changed(), allowed_);
            // The member had to be turned before it was changed. Where this costs more than the operator gains, steps could
            // lead in a circle.
            if (possible && !forced && !request_.equivalent) possible = gained_since(before);
            if (!possible) {
                graph_.undo(before);
                return false;
            }
            if (!trying_) graph_.forget();
        }
        ++result_.steps;
        return true;
    }
    bool step() {
        for (int kind = 0; kind < kinds; ++kind)
            for (int y; (y = best_[kind].best()) >= 0;) {
                Listening::look();
                const std::shared_ptr<const Row> row = rows_[y].row[kind];
                const Operator& op = row->list[rows_[y].at[kind]];
                const Set& above = row->sets[op.set];
                const bool blocked = kind == inserts && std::count(blocked_.begin(), blocked_.end(), std::pair<int, int>(std::minmax(op.x, y)));
                if (blocked || open_way(kind, op.x, y, above)) {
                    refuse(y, kind);
                    if (kind == inserts && rows_[y].at[kind] >= many_refused) refuse_reached(y);
                    continue;
                }
                if (!apply(kind, op.x, y, above)) {
                    refuse(y, kind);
                    held_.push_back(y);
                    continue;
                }
                refresh(op.x, y);
                return true;
            }
        return false;
    }
    void climb() {
        while (step()) control_.done = result_.steps;
    }

    // ---- Forced deletes

    struct Forced {
        std::int64_t rank;
        int x, y;
        Set above;
        auto key() const { return std::tuple(-rank, y, x, above); }
    };
    using Pairs = std::vector<std::pair<int, int>>;
    std::vector<Forced> all_deletes() {
        std::vector<Forced> found;
        for (int y = 0; y < n_; ++y) {
            Listening::look();
            const auto row = delete_row(y, true);
            for (const Operator& op : row->list) found.push_back({op.rank, op.x, y, row->sets[op.set]});
        }
        std::sort(found.begin(), found.end(), [](const Forced& a, const Forced& b) { return a.key() < b.key(); });
        return found;
    }
    bool still_there(const Forced& op) const {
        const auto& node = graph_[op.y];
        if (!has(node.parents, op.x) && !has(node.neighbours, op.x)) return false;
        const Set near = common(op.y, op.x);
        return std::includes(near.begin(), near.end(), op.above.begin(), op.above.end()) && graph_.clique(op.above);
    }
    // Edge by edge; where that has ended, two edges of a triangle at once, and all edges of a variable in one.
    void force_deletes() {
        for (bool better = true; better;) {
            do {
                better = false;
                for (const Forced& op : all_deletes()) {
                    Listening::look();
                    if (still_there(op)) better |= attempt({{op.x, op.y}}, op.above, [&] { return force(op.x, op.y, op.above); });
                }
            } while (better);
            for (int v = 0; v < n_; ++v) better |= force_several(v);
        }
    }
    // In triangles wrong orientations hold each other: there one in sixty pairs leads to something better, elsewhere one in 300
    // (linear-Gaussian graphs of 50 and 100 variables).
    bool force_several(int v) {
        bool better = false, triangles = false;
        const Set near = around(v);
        Pairs apart;
        auto both = [&] {
            for (auto& [x, y] : apart)
                if (!force_best(x, y)) return false;
            return true;
        };
        for (std::size_t i = 0; i < near.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                Listening::look();
                const int a = near[i], b = near[j];
                if (!graph_.adjacent(a, v) || !graph_.adjacent(b, v) || !graph_.adjacent(a, b)) continue;
                triangles = true;
                apart = {{a, v}, {b, v}};
                better |= attempt(apart, {}, both);
            }
        if (const Set now = around(v); triangles && now.size() > 2) {
            apart.clear();
            for (int u : now) apart.emplace_back(u, v);
            better |= attempt(apart, {}, both);
        }
        return better;
    }
    Set around(int v) const { return joined(joined(graph_[v].parents, graph_[v].neighbours), graph_[v].children); }
    bool force(int x, int y, const Set& above) {
        if (!apply(deletes, x, y, above, true)) return false;
        refresh(x, y);
        return true;
    }
    // The delete of the edge that costs least.
    bool force_best(int x, int y) {
        Forced best{0, -1, -1, {}};
        auto offer = [&](int from, int to) {
            if (!has(graph_[to].parents, from) && !has(graph_[to].neighbours, from)) return;
            if (constrained_ && required(from, to)) return;
            for (Set& above : cliques(common(to, from), n_)) {
                const Set less = joined(without(graph_[to].parents, from), above);
                const double gain = gain_of(family(to, less), family(to, with(less, from)));
                if (gain == -infinite) continue;
                Forced one{rank_of(gain), from, to, std::move(above)};
                if (best.x < 0 || one.key() < best.key()) best = std::move(one);
            }
        };
        offer(x, y);
        offer(y, x);
        return best.x >= 0 && force(best.x, best.y, best.above);
    }
    // Without the edges between these pairs: is there anything better? What failed is not tried again while nothing has changed
    // where it went.
    struct Failed {
        std::uint64_t when = 0;
        Set touched;
    };
    template <class Make>
    bool attempt(const Pairs& apart, const Set& above, Make make) {
        std::uint64_t name = 0;
        for (int v : above) name = mixed_bits(name + static_cast<std::uint64_t>(v) + 1);
        for (auto& [x, y] : apart) name = mixed_bits(name ^ (static_cast<std::uint64_t>(x) << 32 | static_cast<std::uint32_t>(y)));
        Failed& failed = failed_[name];
        auto changed = [&](int v) { return rows_[v].made > failed.when; };
        if (failed.when > 0 && std::none_of(failed.touched.begin(), failed.touched.end(), changed)) return false;
        const auto held = held_;
        trying_ = true;
        ++epoch_;
        graph_.mark();
        for (auto& [x, y] : apart) blocked_.push_back(std::minmax(x, y));
        const auto steps = result_.steps;
        bool better = false;
        if (make()) {
            climb();
            better = request_.equivalent && gained_since(0);
            // With scores that are not equivalent no gain is certain before all has been climbed.
            if (!better && (apart.size() > 1 || !request_.equivalent)) {
                unblock();
                climb();
                better = gained_since(0);
            }
        }
        if (better) {
            trying_ = false;
            saved_.clear();
            graph_.forget();
            unblock();
            climb();
            note();
            return true;
        }
        blocked_.clear();
        graph_.undo(0);
        graph_.forget();
        failed.when = ++clock_;
        failed.touched.clear();
        for (auto& [v, rows] : saved_) failed.touched.push_back(v);
        for (; !saved_.empty(); saved_.pop_back()) {
            const int v = saved_.back().first;
            rows_[v] = std::move(saved_.back().second);
            for (int kind = 0; kind < kinds; ++kind) compete(v, kind);
        }
        trying_ = false;
        held_ = held;
        result_.steps = steps;
        return false;
    }
    void unblock() {
        for (auto& [x, y] : std::exchange(blocked_, {}))
            for (int v : {x, y}) reset(v, inserts);
    }
    // Does the member score more than at a mark, rounding left aside? Sums of gains instead could lead in a circle.
    bool gained_since(std::size_t mark) {
        double sum = 0, size = 0;
        for (auto& [v, before] : graph_.members_before(mark)) {
            const double now = family(v, graph_[v].member), then = family(v, before);
            sum += gain_of(now, then);
            if (std::isfinite(now) && std::isfinite(then)) size += std::abs(now) + std::abs(then);
        }
        return rank_of(sum) > 0 && sum > 1e-13 * size;
    }

    // ---- The end

    void note() {
        double sum = 0;
        for (int v = 0; v < n_; ++v) sum += family(v, graph_[v].member);
        result_.trace.emplace_back(seconds(), sum);
    }
    double total(const std::vector<Set>& parents, std::vector<double>& local) {
        local.assign(n_, 0);
        double sum = 0;
        for (int v = 0; v < n_; ++v) sum += local[v] = family(v, parents[v]);
        return sum;
    }
    std::vector<Set> member() const {
        std::vector<Set> parents;
        for (int v = 0; v < n_; ++v) parents.push_back(graph_[v].member);
        return parents;
    }
    GesResult finish() {
        Listening undisturbed(nullptr);                  // what is scored now is brief
        result_.parents = member();
        std::vector<int> everybody(n_);
        for (int v = 0; v < n_; ++v) everybody[v] = v;
        graph_.settle(everybody, allowed_);              // the member that the rule for ties names
        const auto canonical = member();
        std::vector<double> local;
        const double of_canonical = total(canonical, local);
        result_.score = of_canonical;
        if (!request_.equivalent) result_.score = total(result_.parents, result_.local);
        if (request_.equivalent || rank_of(result_.score - of_canonical) <= 0) {
            result_.parents = canonical;
            result_.local = local;
            result_.score = of_canonical;
        }
        for (int v = 0; v < n_; ++v) {
            result_.directed.push_back(graph_[v].parents);
            result_.undirected.emplace_back();
            for (int w : graph_[v].neighbours)
                if (w < v) result_.undirected.back().push_back(w);
        }
        result_.trace.emplace_back(seconds(), result_.score);
        return result_;
    }

    const GesRequest& request_;
    const Allowed& allowed_;
    Control& control_;
    FamilyGains gains_;
    int n_;
    bool constrained_ = false, trying_ = false;
    Cpdag graph_;
    std::vector<Rows> rows_;
    std::vector<std::pair<int, Rows>> saved_;            // as they were before what is tried
    std::vector<std::uint64_t> saved_at_;
    std::uint64_t epoch_ = 1, clock_ = 0;
    std::unordered_map<SetKey, Known, SetKeyHash> known_;            // by surroundings
    std::size_t held_bytes_ = 0;
    std::unordered_map<std::uint64_t, Failed> failed_;   // by a name of the edges
    Tournament best_[kinds];
    std::vector<std::uint64_t> marked_;
    std::vector<double> alone_;                          // of children: what they gain without the variable that is looked at
    std::uint64_t mark_ = 0;
    std::vector<std::pair<int, int>> blocked_;           // may not be joined while it is tried without
    std::vector<int> held_;                              // whose operators were refused for another reason than a way
    GesResult result_;
    Clock::time_point start_;
};

}  // namespace

GesResult ges(LocalScores& scores, const GesRequest& request, Team& team, Control& control) {
    return Ges(scores, request, team, control).run();
}

}  // namespace spinney
