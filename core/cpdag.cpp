#include "cpdag.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <unordered_set>

namespace spinney {
namespace {

bool has(const std::vector<int>& set, int v) { return std::binary_search(set.begin(), set.end(), v); }
void put(std::vector<int>& set, int v) {
    auto at = std::lower_bound(set.begin(), set.end(), v);
    if (at == set.end() || *at != v) set.insert(at, v);
}
void take(std::vector<int>& set, int v) {
    auto at = std::lower_bound(set.begin(), set.end(), v);
    if (at != set.end() && *at == v) set.erase(at);
}
bool includes(const std::vector<int>& all, const std::vector<int>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

Cpdag::Cpdag(const std::vector<std::vector<int>>& dag)
    : nodes_(dag.size()), saved_at_(dag.size(), 0), seen_(dag.size(), 0), is_changed_(dag.size(), 0), from_(dag.size(), -1),
      rest_(dag.size(), 0) {
    for (int v = 0; v < variables(); ++v) {
        nodes_[v].parents = nodes_[v].member = dag[v];
        for (int p : dag[v]) nodes_[p].children.push_back(v);
    }
    std::vector<int> everybody(variables());
    for (int v = 0; v < variables(); ++v) everybody[v] = v;
    label(std::move(everybody), 0);
    start_operator();
}

bool Cpdag::adjacent(int a, int b) const {
    const Node& node = nodes_[a];
    return has(node.neighbours, b) || has(node.parents, b) || has(node.children, b);
}

bool Cpdag::clique(std::span<const int> set) const {
    for (std::size_t i = 0; i < set.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!adjacent(set[i], set[j])) return false;
    return true;
}

std::vector<int> Cpdag::way(int from, int to, std::span<const int> avoided, std::span<const int> also) {
    ++stamp_;
    for (int v : avoided) seen_[v] = stamp_;
    for (int v : also) seen_[v] = stamp_;
    seen_[from] = stamp_;
    queue_.assign(1, from);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const int v = queue_[i];
        for (const auto* next : {&nodes_[v].neighbours, &nodes_[v].children})
            for (int w : *next) {
                if (w == to && v != from) {
                    std::vector<int> found{to};
                    for (int u = v; u != from; u = from_[u]) found.push_back(u);
                    found.push_back(from);
                    std::reverse(found.begin(), found.end());
                    return found;
                }
                if (seen_[w] == stamp_ || w == to) continue;
                seen_[w] = stamp_;
                from_[w] = v;
                queue_.push_back(w);
            }
    }
    return {};
}

std::vector<int> Cpdag::ways(int from, std::span<const int> avoided) {
    std::vector<int> before(nodes_.size(), -1);
    ++stamp_;
    for (int v : avoided) seen_[v] = stamp_;
    seen_[from] = stamp_;
    queue_.assign(1, from);
    for (std::size_t i = 0; i < queue_.size(); ++i)
        for (const auto* next : {&nodes_[queue_[i]].neighbours, &nodes_[queue_[i]].children})
            for (int w : *next) {
                if (seen_[w] == stamp_) continue;
                seen_[w] = stamp_;
                before[w] = queue_[i];
                queue_.push_back(w);
            }
    return before;
}

std::size_t Cpdag::mark() {
    ++epoch_;
    remembering_ = true;
    return saved_.size();
}

void Cpdag::undo(std::size_t mark) {
    for (; saved_.size() > mark; saved_.pop_back()) nodes_[saved_.back().first] = std::move(saved_.back().second);
    ++epoch_;
}

void Cpdag::forget() {
    saved_.clear();
    remembering_ = false;
    ++epoch_;
}

std::vector<std::pair<int, std::vector<int>>> Cpdag::members_before(std::size_t mark) const {
    std::vector<std::pair<int, std::vector<int>>> found;
    std::unordered_set<int> seen;
    for (std::size_t i = mark; i < saved_.size(); ++i) {
        const auto& [v, node] = saved_[i];
        if (seen.insert(v).second && node.member != nodes_[v].member) found.emplace_back(v, node.member);
    }
    return found;
}

Cpdag::Node& Cpdag::edit(int v) {
    if (remembering_ && saved_at_[v] != epoch_) {
        saved_.emplace_back(v, nodes_[v]);
        saved_at_[v] = epoch_;
    }
    return nodes_[v];
}

void Cpdag::start_operator() {
    for (int v : changed_) is_changed_[v] = 0;
    changed_.clear();
    closed_.clear();
}

void Cpdag::touch(int v) {
    if (!is_changed_[v]) changed_.push_back(v);
    is_changed_[v] = 1;
}

void Cpdag::component(int v, std::vector<int>& found) {
    ++stamp_;
    seen_[v] = stamp_;
    found.assign(1, v);
    for (std::size_t i = 0; i < found.size(); ++i)
        for (int w : nodes_[found[i]].neighbours)
            if (seen_[w] != stamp_) seen_[w] = stamp_, found.push_back(w);
}

// Dor and Tarsi (1992): one after another is taken away who may be last among those that are left, the largest number first.
// may_be_last(v, left): `left` are the neighbours of v that are left, a clique. The member changes only if nobody stays.
template <class May>
bool Cpdag::eliminate(std::span<const int> component, May may_be_last) {
    for (int v : component) rest_[v] = 1;
    std::vector<std::pair<int, std::vector<int>>> taken;
    std::vector<int> left;
    auto ready = [&](int v) {
        left.clear();
        for (int w : nodes_[v].neighbours)
            if (rest_[w]) left.push_back(w);
        return clique(left) && may_be_last(v, left);
    };
    std::priority_queue<int> queue;
    for (int v : component)
        if (ready(v)) queue.push(v), rest_[v] = 2;
    while (!queue.empty()) {
        const int v = queue.top();
        queue.pop();
        ready(v);                                        // who is left by now
        rest_[v] = 0;
        taken.emplace_back(v, left);
        const auto around = taken.back().second;
        for (int w : around)
            if (rest_[w] == 1 && ready(w)) queue.push(w), rest_[w] = 2;
    }
    const bool all = taken.size() == component.size();
    for (int v : component) rest_[v] = 0;
    for (std::size_t i = 0; all && i < taken.size(); ++i) {
        auto& [v, last] = taken[i];
        std::vector<int> member;
        std::set_union(nodes_[v].parents.begin(), nodes_[v].parents.end(), last.begin(), last.end(), std::back_inserter(member));
        if (member != nodes_[v].member) edit(v).member = std::move(member);
    }
    return all;
}

void Cpdag::turn_to(int v, std::span<const int> first) {
    // Most often the member is like that already.
    bool is_so = true;
    for (std::size_t i = 0; i < first.size() && is_so; ++i)
        for (int w : nodes_[first[i]].neighbours) {
            const bool before = std::find(first.begin(), first.begin() + i, w) != first.begin() + i;
            if (has(nodes_[first[i]].member, w) != before) {
                is_so = false;
                break;
            }
        }
    if (is_so) return;
    std::vector<int> all;
    component(v, all);
    const bool found = eliminate(all, [&](int u, const std::vector<int>& left) {
        const auto place = std::find(first.begin(), first.end(), u);
        if (place == first.end()) return true;
        for (int w : left)                               // all that are left come before it
            if (std::find(first.begin(), place, w) == place) return false;
        return true;
    });
    if (!found) throw std::logic_error("an operator that is not valid");
}

void Cpdag::set_edge(int from, int to, bool directed) {
    Node& source = nodes_[from];
    if (directed ? has(source.children, to) : has(source.neighbours, to)) return;
    Node &a = edit(from), &b = edit(to);
    touch(from), touch(to);
    take(a.parents, to), take(a.children, to), take(a.neighbours, to);
    take(b.parents, from), take(b.children, from), take(b.neighbours, from);
    if (directed) {
        put(a.children, to), put(b.parents, from);
        closed_.emplace_back(to, from);
    } else {
        put(a.neighbours, to), put(b.neighbours, from);
    }
}

void Cpdag::drop_edge(int x, int y) {
    Node &a = edit(x), &b = edit(y);
    touch(x), touch(y);
    take(a.parents, y), take(a.children, y), take(a.neighbours, y);
    take(b.parents, x), take(b.children, x), take(b.neighbours, x);
    closed_.emplace_back(x, y);
    closed_.emplace_back(y, x);
}

// Which of the parents are compelled: Chickering (1995), seen per child. Its last parent is the one that has all its others
// as parents; without such a one two of them are not adjacent, and all are compelled.
void Cpdag::label(std::vector<int> waiting, std::size_t anyway) {
    std::vector<int> compelled;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        const int c = waiting[i];
        const auto& parents = nodes_[c].member;
        compelled = parents;
        for (int last : parents) {
            const auto& above = nodes_[last].member;
            if (above.size() + 1 < parents.size()) continue;
            bool all = true;
            for (int p : parents) all = all && (p == last || has(above, p));
            if (!all) continue;
            if (includes(parents, nodes_[last].parents)) compelled = nodes_[last].parents;
            break;
        }
        const bool same = compelled == nodes_[c].parents;
        for (int p : parents) set_edge(p, c, has(compelled, p));
        if (same && i >= anyway) continue;
        for (const auto* below : {&nodes_[c].children, &nodes_[c].neighbours})
            for (int w : *below)
                if (has(nodes_[w].member, c)) waiting.push_back(w);
    }
}

void Cpdag::add_parent(int x, int y) {
    put(edit(y).member, x);
    set_edge(x, y, true);
}

// The two whose edge has changed are parents of these; whether two of their parents are adjacent has changed too.
namespace {
std::vector<int> below_both(const Cpdag& graph, int x, int y) {
    std::vector<int> found;
    for (const auto* below : {&graph[y].children, &graph[y].neighbours})
        for (int c : *below)
            if (c != x && has(graph[c].member, x) && has(graph[c].member, y)) found.push_back(c);
    return found;
}
}  // namespace

void Cpdag::insert(int x, int y, std::span<const int> above) {
    start_operator();
    std::vector<int> first(above.begin(), above.end());
    first.push_back(y);
    turn_to(y, first);
    add_parent(x, y);
    std::vector<int> waiting = below_both(*this, x, y);
    waiting.insert(waiting.begin(), y);
    label(std::move(waiting), 1);
}

void Cpdag::remove(int x, int y, std::span<const int> above) {
    start_operator();
    std::vector<int> first(above.begin(), above.end());
    if (has(nodes_[y].neighbours, x)) first.push_back(x);
    first.push_back(y);
    turn_to(y, first);
    take(edit(y).member, x);
    drop_edge(x, y);
    std::vector<int> waiting = below_both(*this, x, y);
    waiting.insert(waiting.begin(), y);
    label(std::move(waiting), 1);
}

void Cpdag::turn(int x, int y, std::span<const int> above) {
    start_operator();
    std::vector<int> first(above.begin(), above.end());
    first.push_back(y);
    if (has(nodes_[y].neighbours, x)) {
        first.push_back(x);
        turn_to(y, first);
    } else {
        turn_to(y, first);
        turn_to(x, std::span(&x, 1));
    }
    take(edit(x).member, y);
    put(edit(y).member, x);
    set_edge(x, y, true);
    std::vector<int> waiting = below_both(*this, x, y);
    waiting.insert(waiting.begin(), {x, y});
    label(std::move(waiting), 2);
}

bool Cpdag::settle(std::span<const int> variables, const Allowed& allowed) {
    std::vector<int> of_one;
    std::unordered_set<int> settled;
    const std::size_t before = mark();
    for (int v : variables) {
        if (settled.count(v)) continue;
        component(v, of_one);
        for (int u : of_one) {
            settled.insert(u);
            for (int p : nodes_[u].parents)
                if (!allowed.may(u, p) || has(allowed.required[p], u)) return undo(before), false;
        }
        const bool possible = eliminate(of_one, [&](int u, const std::vector<int>& left) {
            if (static_cast<int>(nodes_[u].parents.size() + left.size()) > allowed.most[u]) return false;
            return std::all_of(left.begin(), left.end(),
                               [&](int w) { return allowed.may(u, w) && !has(allowed.required[w], u); });
        });
        if (!possible) return undo(before), false;
    }
    return true;
}

}  // namespace spinney
