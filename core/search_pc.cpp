#include "search_pc.hpp"

#include <cmath>
#include <queue>
#include <tuple>

namespace spinney {
namespace {

using Lists = std::vector<std::vector<int>>;

bool contains(const std::vector<int>& sorted, int v) { return std::binary_search(sorted.begin(), sorted.end(), v); }

void erase(std::vector<int>& sorted, int v) { sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), v)); }

struct Edge {
    int x, y;                                            // x < y
    double p = 0;                                        // the largest of its tests; 0: it was not tested
    bool required = false;
};

// visit(subset) for all subsets of this size, in lexicographic order.
template <class Visit>
void each_subset(const std::vector<int>& base, std::size_t size, Visit&& visit) {
    if (size > base.size()) return;
    std::vector<std::size_t> at(size);
    std::vector<int> subset(size);
    for (std::size_t i = 0; i < size; ++i) at[i] = i;
    for (;;) {
        for (std::size_t i = 0; i < size; ++i) subset[i] = base[at[i]];
        visit(subset);
        std::size_t i = size;
        while (i > 0 && at[i - 1] == base.size() - size + i - 1) --i;
        if (i == 0) return;
        for (++at[i - 1]; i < size; ++i) at[i] = at[i - 1] + 1;
    }
}

// The tests of one job: a worker per thread.
class Asking {
public:
    Asking(const Tests& tests, double most_bytes, const Team& team) : workers_(team.size()), count_(team.size(), 0) {
        workers_[0] = tests.local(most_bytes);
    }
    double p_value(int thread, int x, int y, std::span<const int> given) {
        Listening::look();
        if (!workers_[thread]) workers_[thread] = workers_[0]->another();
        ++count_[thread];
        return workers_[thread]->p_value(x, y, given);
    }
    void add_to(PcResult& result) const {
        for (std::uint64_t n : count_) result.tests += n;
        result.left_out = workers_[0]->left_out();
    }

private:
    std::vector<std::unique_ptr<LocalTests>> workers_;
    std::vector<std::uint64_t> count_;
};

class Skeleton {
public:
    Skeleton(const PcRequest& request, Asking& asking, Team& team, Control& control)
        : allowed_(request.allowed), request_(request), asking_(asking), team_(team), control_(control), around_(allowed_.variables()) {}

    void find(PcResult& result) {
        join_pairs(result);
        // At the most as large as there are neighbours beside the other of the pair.
        for (int size = 1; size <= request_.most_given && !control_.stop; ++size)
            if (!part(static_cast<std::size_t>(size), result)) break;
        std::sort(result.separations.begin(), result.separations.end(),
                  [](const Separation& a, const Separation& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
    }
    bool looked_at_all_pairs() const { return all_pairs_; }
    bool may_join(int x, int y) const { return allowed_.may(x, y) || allowed_.may(y, x); }
    std::vector<Edge>& edges() { return edges_; }
    const Lists& around() const { return around_; }
    double p_of(int x, int y) const { return place_of(x, y)->p; }
    void drop(int x, int y) {
        edges_.erase(place_of(x, y));
        erase(around_[x], y);
        erase(around_[y], x);
    }
    // Neighbours of x that can be its parents, without y.
    std::vector<int> possible(int x, int y) const {
        std::vector<int> found;
        for (int v : around_[x])
            if (v != y && allowed_.may(x, v)) found.push_back(v);
        return found;
    }
    // visit(set) for all sets of this size among the possible parents of x, or of y; a set of both once.
    template <class Visit>
    void each_given(int x, int y, std::size_t size, Visit&& visit) const {
        const std::vector<int> first = possible(x, y), second = possible(y, x);
        each_subset(first, size, visit);
        if (size == 0) return;
        each_subset(second, size, [&](const std::vector<int>& set) {
            if (!std::includes(first.begin(), first.end(), set.begin(), set.end())) visit(set);
        });
    }

private:
    std::vector<Edge>::const_iterator place_of(int x, int y) const {
        const auto [a, b] = std::minmax(x, y);
        return std::lower_bound(edges_.begin(), edges_.end(), std::pair(a, b),
                                [](const Edge& edge, const std::pair<int, int>& pair) { return std::pair(edge.x, edge.y) < pair; });
    }
    void join_pairs(PcResult& result) {
        const int n = allowed_.variables();
        std::vector<std::vector<Edge>> found(n);
        std::vector<char> done(n, 0);
        control_.total = n;
        team_.run(n, [&](int thread, std::size_t task) {
            const int x = static_cast<int>(task);
            std::vector<Edge> own;
            for (int y = x + 1; y < n; ++y) {
                if (!may_join(x, y)) continue;
                Edge edge{x, y, 0, contains(allowed_.required[x], y) || contains(allowed_.required[y], x)};
                if (!edge.required) {
                    const double p = asking_.p_value(thread, x, y, {});
                    if (p > request_.alpha) continue;
                    if (!std::isnan(p)) edge.p = p;
                }
                own.push_back(edge);
            }
            found[x] = std::move(own);
            done[x] = 1;
            ++control_.done;
        });
        for (int x = 0; x < n; ++x) {
            if (!done[x]) {                              // required ones hold in any case
                all_pairs_ = false;
                for (int y = x + 1; y < n; ++y) {
                    if (contains(allowed_.required[x], y) || contains(allowed_.required[y], x)) found[x].push_back({x, y, 0, true});
                    else result.untested += may_join(x, y);
                }
            }
            edges_.insert(edges_.end(), found[x].begin(), found[x].end());
        }
        see_neighbours();
    }
    bool part(std::size_t size, PcResult& result) {
        std::vector<std::size_t> tasks;
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            const Edge& edge = edges_[e];
            if (!edge.required && std::max(possible(edge.x, edge.y).size(), possible(edge.y, edge.x).size()) >= size) tasks.push_back(e);
        }
        if (tasks.empty()) return false;
        control_.done = 0;
        control_.total = tasks.size();
        std::vector<Separation> best(tasks.size(), {0, 0, {}, -1});
        team_.run(tasks.size(), [&](int thread, std::size_t task) {
            const Edge& edge = edges_[tasks[task]];
            each_given(edge.x, edge.y, size, [&](const std::vector<int>& given) {
                const double p = asking_.p_value(thread, edge.x, edge.y, given);
                if (p > best[task].p) best[task] = {edge.x, edge.y, given, p};
            });
            ++control_.done;
        });
        for (std::size_t task = 0; task < tasks.size(); ++task) {
            Edge& edge = edges_[tasks[task]];
            edge.p = std::max(edge.p, best[task].p);
            if (best[task].p > request_.alpha) result.separations.push_back(std::move(best[task]));
        }
        std::erase_if(edges_, [this](const Edge& edge) { return edge.p > request_.alpha; });
        see_neighbours();
        return true;
    }
    void see_neighbours() {
        for (auto& own : around_) own.clear();
        for (const Edge& edge : edges_) around_[edge.y].push_back(edge.x);
        for (const Edge& edge : edges_) around_[edge.x].push_back(edge.y);
        for (auto& own : around_) std::sort(own.begin(), own.end());
    }

    const Allowed& allowed_;
    const PcRequest& request_;
    Asking& asking_;
    Team& team_;
    Control& control_;
    std::vector<Edge> edges_;                            // sorted
    Lists around_;                                       // the neighbours, sorted
    bool all_pairs_ = true;
};

// Two variables that are not adjacent and have common neighbours.
struct Ends {
    int x, y;
    std::vector<int> common, colliders, ambiguous;       // sorted
    double p = -1;                                       // the largest of a set that parts them
};

const Ends* ends_of(const std::vector<Ends>& all, int x, int y) {
    const std::pair<int, int> pair = std::minmax(x, y);
    const auto at = std::lower_bound(all.begin(), all.end(), pair, [](const Ends& ends, const std::pair<int, int>& own) {
        return std::pair(ends.x, ends.y) < own;
    });
    return at != all.end() && std::pair(at->x, at->y) == pair ? &*at : nullptr;
}

class Colliders {
public:
    Colliders(const Skeleton& skeleton, const PcRequest& request, const std::vector<Separation>& separations, Asking& asking)
        : skeleton_(skeleton), request_(request), separations_(separations), asking_(asking) {}

    std::vector<Ends> find(Team& team, Control& control) {
        std::vector<Ends> all = open_triples();
        control.done = 0;
        control.total = all.size();
        const bool late = control.stop;
        const auto judge = [&](int thread, std::size_t task) {
            if (request_.conservative) by_all_sets(thread, all[task]);
            else by_one_set(thread, all[task], late);
            ++control.done;
        };
        if (!late) team.run(all.size(), judge);
        else if (!request_.conservative) team.finish(all.size(), judge);           // from what is known
        return all;
    }

private:
    std::vector<Ends> open_triples() const {
        const Lists& around = skeleton_.around();
        std::vector<std::tuple<int, int, int>> triples;
        for (int z = 0; z < static_cast<int>(around.size()); ++z)
            for (std::size_t i = 0; i < around[z].size(); ++i)
                for (std::size_t j = i + 1; j < around[z].size(); ++j)
                    if (!contains(around[around[z][i]], around[z][j])) triples.emplace_back(around[z][i], around[z][j], z);
        std::sort(triples.begin(), triples.end());
        std::vector<Ends> all;
        for (auto [x, y, z] : triples) {
            if (all.empty() || all.back().x != x || all.back().y != y) all.push_back({x, y, {}, {}, {}});
            all.back().common.push_back(z);
        }
        return all;
    }
    void by_one_set(int thread, Ends& ends, bool late) {
        std::vector<int> given;
        const auto at = std::lower_bound(separations_.begin(), separations_.end(), std::pair(ends.x, ends.y),
                                         [](const Separation& s, const std::pair<int, int>& pair) { return std::pair(s.x, s.y) < pair; });
        if (at != separations_.end() && at->x == ends.x && at->y == ends.y) {
            given = at->given;
            ends.p = at->p;
        } else if (skeleton_.may_join(ends.x, ends.y)) { // parted by nothing
            if (late && !skeleton_.looked_at_all_pairs()) return;
            ends.p = late ? request_.alpha : asking_.p_value(thread, ends.x, ends.y, {});
        } else if (late) {
            return;
        } else {                                         // parted by the constraints, so that there is no set yet
            each_set(thread, ends, [&](const std::vector<int>& set, double p) {
                if (p > ends.p) given = set, ends.p = p;
            });
            if (ends.p < 0) return;
        }
        for (int z : ends.common)
            if (!contains(given, z)) ends.colliders.push_back(z);
    }
    void by_all_sets(int thread, Ends& ends) {
        std::vector<char> with(ends.common.size(), 0), without(ends.common.size(), 0);
        each_set(thread, ends, [&](const std::vector<int>& set, double p) {
            ends.p = std::max(ends.p, p);
            for (std::size_t i = 0; i < ends.common.size(); ++i) (contains(set, ends.common[i]) ? with : without)[i] = 1;
        });
        for (std::size_t i = 0; i < ends.common.size(); ++i) {
            if (without[i] && !with[i]) ends.colliders.push_back(ends.common[i]);
            if (without[i] == with[i]) ends.ambiguous.push_back(ends.common[i]);         // in some; or nothing parts the two any more
        }
    }
    // found(set, p) for all sets that part the two.
    template <class Found>
    void each_set(int thread, const Ends& ends, Found&& found) {
        const std::size_t largest = std::max(skeleton_.possible(ends.x, ends.y).size(), skeleton_.possible(ends.y, ends.x).size());
        for (std::size_t size = 0; size <= std::min(largest, static_cast<std::size_t>(request_.most_given)); ++size)
            skeleton_.each_given(ends.x, ends.y, size, [&](const std::vector<int>& set) {
                const double p = asking_.p_value(thread, ends.x, ends.y, set);
                if (p > request_.alpha) found(set, p);
            });
    }

    const Skeleton& skeleton_;
    const PcRequest& request_;
    const std::vector<Separation>& separations_;
    Asking& asking_;
};

// The edges that have a direction; never a cycle.
class Arrows {
public:
    explicit Arrows(int variables) : children_(variables), parents_(variables), seen_(variables, 0) {}
    bool has(int parent, int child) const { return contains(children_[parent], child); }
    const std::vector<int>& children(int parent) const { return children_[parent]; }
    const std::vector<int>& parents_of(int child) const { return parents_[child]; }
    bool add(int parent, int child) {                    // unless it closes a cycle
        if (has(parent, child)) return true;
        if (reaches(child, parent)) return false;
        auto& own = children_[parent];
        own.insert(std::lower_bound(own.begin(), own.end(), child), child);
        parents_[child].push_back(parent);
        return true;
    }
    bool reaches(int from, int to) {
        ++round_;
        std::vector<int> todo{from};
        while (!todo.empty()) {
            const int v = todo.back();
            todo.pop_back();
            if (v == to) return true;
            for (int child : children_[v])
                if (std::exchange(seen_[child], round_) != round_) todo.push_back(child);
        }
        return false;
    }

private:
    Lists children_;                                     // sorted
    Lists parents_;
    std::vector<std::uint64_t> seen_;
    std::uint64_t round_ = 0;
};

// Required edges, and those that have one direction only: the strongest first, and what would close a cycle is left out.
void add_known(Skeleton& skeleton, const Allowed& allowed, Arrows& arrows, PcResult& result) {
    for (int child = 0; child < allowed.variables(); ++child)
        for (int parent : allowed.required[child]) arrows.add(parent, child);
    std::vector<Edge> known;
    for (const Edge& edge : skeleton.edges())
        if (!edge.required && (!allowed.may(edge.x, edge.y) || !allowed.may(edge.y, edge.x))) known.push_back(edge);
    std::sort(known.begin(), known.end(), [](const Edge& a, const Edge& b) { return std::tuple(a.p, a.x, a.y) < std::tuple(b.p, b.x, b.y); });
    for (const Edge& edge : known) {
        const bool to_y = allowed.may(edge.y, edge.x);
        if (arrows.add(to_y ? edge.x : edge.y, to_y ? edge.y : edge.x)) continue;
        skeleton.drop(edge.x, edge.y);
        ++result.dropped;
    }
}

// Would this arrow make a collider, with an earlier one, that the tests deny?
bool denied(const std::vector<Ends>& all, const Arrows& arrows, int x, int z) {
    if (arrows.has(x, z)) return false;
    return std::ranges::any_of(arrows.parents_of(z), [&](int other) {
        const Ends* ends = ends_of(all, x, other);
        return ends && !contains(ends->colliders, z) && !contains(ends->ambiguous, z);
    });
}

void add_colliders(const std::vector<Ends>& all, const Allowed& allowed, Arrows& arrows, PcResult& result) {
    std::vector<std::tuple<double, int, int, int>> sorted;
    for (const Ends& ends : all) {
        result.ambiguous += ends.ambiguous.size();
        for (int z : ends.colliders) sorted.emplace_back(-ends.p, z, ends.x, ends.y);
    }
    std::sort(sorted.begin(), sorted.end());
    for (auto [p, z, x, y] : sorted) {
        const int more = !arrows.has(x, z) + !arrows.has(y, z);
        const bool holds = arrows.parents_of(z).size() + more <= static_cast<std::size_t>(allowed.most[z]) && !arrows.reaches(z, x) &&
                           !arrows.reaches(z, y) && !denied(all, arrows, x, z) && !denied(all, arrows, y, z);
        if (holds) arrows.add(x, z), arrows.add(y, z);
        else ++result.overruled;
    }
}

// A DAG with these edges and arrows, without further colliders where there is one: nodes that can be last are taken away, one
// after another, the last name first (Dor and Tarsi 1992). Where none can be, the one goes that costs least: parents beyond the most
// that it may have, then further colliders, above all where the tests deny one, then the evidence against these. Arrows have no
// cycle, so some node has none that leaves it.
class Extension {
public:
    Extension(const Skeleton& skeleton, const std::vector<Ends>& ends, const Allowed& allowed, const Arrows& arrows)
        : skeleton_(skeleton), ends_(ends), allowed_(allowed), arrows_(arrows), left_(skeleton.around()), leaving_(left_.size()),
          gone_(left_.size(), 0), queued_(left_.size(), 0) {
        for (std::size_t v = 0; v < left_.size(); ++v) leaving_[v] = arrows.children(static_cast<int>(v)).size();
    }
    void find(PcResult& result) {
        const int n = static_cast<int>(left_.size());
        result.parents.resize(n);
        for (int v = 0; v < n; ++v) look_at(v);
        for (int taken = 0; taken < n; ++taken) {
            int v;
            if (ready_.empty()) {
                v = least_costly();
                result.dropped += cost(v).beyond;
            } else {
                v = ready_.top();
                ready_.pop();
            }
            result.parents[v] = kept(v);
            take(v);
        }
    }

private:
    struct Cost {
        std::size_t beyond, denied, colliders;
        double evidence;
        auto operator<=>(const Cost&) const = default;
    };
    bool directed(int a, int b) const { return arrows_.has(a, b) || arrows_.has(b, a); }
    bool can_be_last(int v) const {
        if (leaving_[v] || left_[v].size() > static_cast<std::size_t>(allowed_.most[v])) return false;
        for (int u : left_[v]) {
            if (directed(u, v)) continue;
            for (int w : left_[v])
                if (w != u && !contains(left_[u], w)) return false;
        }
        return true;
    }
    void look_at(int v) {
        if (queued_[v] || gone_[v] || !can_be_last(v)) return;
        queued_[v] = 1;
        ready_.push(v);
    }
    void take(int v) {
        gone_[v] = queued_[v] = 1;
        const std::vector<int> around = std::move(left_[v]);
        for (int u : around) {
            erase(left_[u], v);
            leaving_[u] -= arrows_.has(u, v);
        }
        for (int u : around) look_at(u);
    }
    // The neighbours that become its parents: required ones, then the strongest.
    std::vector<int> kept(int v) const {
        std::vector<int> own = left_[v];
        const auto most = static_cast<std::size_t>(allowed_.most[v]);
        if (own.size() <= most) return own;
        const auto rank = [&](int u) { return std::tuple(!contains(allowed_.required[v], u), skeleton_.p_of(u, v), u); };
        std::sort(own.begin(), own.end(), [&](int a, int b) { return rank(a) < rank(b); });
        own.resize(most);
        std::sort(own.begin(), own.end());
        return own;
    }
    Cost cost(int v) const {
        const std::vector<int> own = kept(v);
        Cost found{left_[v].size() - own.size(), 0, 0, 0};
        for (std::size_t i = 0; i < own.size(); ++i)
            for (std::size_t j = i + 1; j < own.size(); ++j) {
                if (contains(left_[own[i]], own[j]) || (directed(own[i], v) && directed(own[j], v))) continue;
                const Ends* ends = ends_of(ends_, own[i], own[j]);
                ++found.colliders;
                found.denied += ends && !contains(ends->ambiguous, v);
                if (ends) found.evidence = std::max(found.evidence, ends->p);
            }
        return found;
    }
    int least_costly() const {
        int best = -1;
        Cost least{};
        for (int v = static_cast<int>(left_.size()) - 1; v >= 0; --v) {
            if (gone_[v] || leaving_[v]) continue;
            if (const Cost own = cost(v); best < 0 || own < least) best = v, least = own;
        }
        return best;
    }

    const Skeleton& skeleton_;
    const std::vector<Ends>& ends_;
    const Allowed& allowed_;
    const Arrows& arrows_;
    Lists left_;                                         // neighbours that have not gone
    std::vector<std::size_t> leaving_;                   // arrows to them
    std::vector<char> gone_, queued_;
    std::priority_queue<int> ready_;
};

// Colliders of the DAG that no test has found.
std::uint64_t further_colliders(const Lists& parents, const std::vector<Ends>& all) {
    std::uint64_t count = 0;
    for (int v = 0; v < static_cast<int>(parents.size()); ++v)
        for (std::size_t i = 0; i < parents[v].size(); ++i)
            for (std::size_t j = i + 1; j < parents[v].size(); ++j) {
                const int x = parents[v][i], y = parents[v][j];
                if (contains(parents[x], y) || contains(parents[y], x)) continue;
                const Ends* ends = ends_of(all, x, y);
                count += !ends || !contains(ends->colliders, v);
            }
    return count;
}

}  // namespace

PcResult pc(const Tests& tests, const PcRequest& request, double most_bytes, Team& team, Control& control) {
    PcResult result;
    Asking asking(tests, most_bytes, team);
    Skeleton skeleton(request, asking, team, control);
    skeleton.find(result);
    Arrows arrows(request.allowed.variables());
    add_known(skeleton, request.allowed, arrows, result);
    const std::vector<Ends> ends = Colliders(skeleton, request, result.separations, asking).find(team, control);
    add_colliders(ends, request.allowed, arrows, result);
    Extension(skeleton, ends, request.allowed, arrows).find(result);
    result.further = further_colliders(result.parents, ends);
    asking.add_to(result);
    return result;
}

}  // namespace spinney
