// Idea. A move changes the parents of one child (two, when an edge is turned), so only that child's row of gains must
// be scored again, all further parents in one pass. Rows are remembered by (child, parents): a tabu walk and a restart
// keep coming back. Every row lists its additions best first, so the best legal move is found after a few looks; who
// is an ancestor of whom is kept as bits and remade after a move.
// A stop may come inside a long family: the climb is left by an exception and the best DAG so far stands. Before the first
// rows are complete, every child gets the one parent that gains most among those that have been scored.
// Equal gains (within `slack`) are decided by the kind of move and the variables' order, not by rounding.
#include "search_greedy.hpp"

#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "set_key.hpp"
#include "varset.hpp"

namespace spinney {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double infinite = std::numeric_limits<double>::infinity();

struct Row {                                             // all that can be done to one child with these parents
    double score = 0;
    std::vector<double> add;                             // gain per new parent; -inf where not allowed
    std::vector<int> order;                              // new parents, best gain first
    std::vector<double> remove;                          // gain per present parent, in their order
    bool complete = true;                                // else a stop came: only additions that were scored are there
};

enum class Kind { add, remove, turn };

struct Move {
    Kind kind = Kind::add;
    int from = -1, to = -1;                              // the edge as it is, or as it will be when added
    double gain = -infinite;
    auto key() const { return std::tuple(static_cast<int>(kind), from, to); }
};

class Greedy {
public:
    Greedy(LocalScores& scores, const GreedyRequest& request, Team& team, Control& control)
        : scores_(scores), request_(request), team_(team), control_(control), n_(static_cast<int>(request.start.size())),
          parents_(request.start), children_(n_), rows_(n_), below_(n_, VarSet(n_)),
          memory_(n_), random_(request.seed), start_(Clock::now()) {}

    GreedyResult run() {
        Listening listening(&control_);
        first_rows();
        if (!complete()) return one_parent_each();
        try {
            search();
        } catch (const Stopped&) {}                      // the best DAG so far was kept
        result_.parents = best_;
        return result_;
    }

private:
    void search() {
        score_ = total();
        double scale = 1;
        for (int v = 0; v < n_; ++v)
            if (rows_[v]->score > scores_.unavailable(v)) scale += std::abs(rows_[v]->score);
        slack_ = 1e-11 * scale;
        for (int v = 0; v < n_; ++v)
            for (int p : parents_[v]) hash_ ^= name(p, v);
        relate();
        keep_best();
        climb();
        if (request_.restarts > 0) walk_the_class();
        for (int round = 0, failed = 0; failed < request_.restarts && !finished(); ++round, ++failed) {
            const double before = score_, best = result_.score;
            const auto from = parents_;
            if (round % 2 == 0) force_a_turn(); else uproot();
            climb();
            held_ = {-1, -1};
            climb();
            walk_the_class();
            if (score_ < before - slack_) go_to(from);
            if (result_.score > best) failed = -1;
        }
    }

    // A number for every edge, from which a DAG's hash is made.
    std::uint64_t name(int from, int to) const {
        return mixed_bits((from * std::uint64_t(n_) + to + 1) * 0x9e3779b97f4a7c15ull);
    }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    bool finished() const { return control_.asked(); }
    bool required(int child, int parent) const {
        const auto& own = request_.allowed.required[child];
        return std::binary_search(own.begin(), own.end(), parent);
    }
    bool complete() const {
        return std::all_of(rows_.begin(), rows_.end(), [](const auto& row) { return row && row->complete; });
    }
    double total() const {
        double sum = 0;
        for (auto& row : rows_) sum += row->score;
        return sum;
    }

    static std::uint64_t hash_of(const std::vector<int>& parents) {
        std::uint64_t h = 1469598103934665603ull;
        for (int p : parents) h = (h ^ (p + 1)) * 1099511628211ull;
        return h;
    }
    struct Hash { std::size_t operator()(const std::vector<int>& p) const { return hash_of(p); } };

    // The candidates of one child among all threads.
    void extend_together(int child, const std::vector<int>& parents, const std::vector<int>& candidates, double* out) {
        others_.resize(team_.size());
        team_.run(candidates.size(), [&](int thread, std::size_t i) {
            if (thread > 0 && !others_[thread]) others_[thread] = scores_.another();
            LocalScores& scores = thread > 0 ? *others_[thread] : scores_;
            scores.extend(child, parents, std::span(candidates).subspan(i, 1), out + i);
        });
        if (control_.asked()) throw Stopped{};           // some may not have been scored
    }

    // `shared`: the threads of the team have nothing else to do.
    std::shared_ptr<Row> make_row(LocalScores& scores, int child, const std::vector<int>& parents, bool shared) {
        auto row = std::make_shared<Row>();
        row->score = scores.score(child, parents);
        row->add.assign(n_, -infinite);
        if (static_cast<int>(parents.size()) < request_.allowed.most[child]) {
            for (int u = 0; u < n_; ++u)
                if (request_.allowed.may(child, u) && !std::binary_search(parents.begin(), parents.end(), u))
                    row->order.push_back(u);
            std::vector<double> found(row->order.size(), -infinite);
            try {
                if (shared) extend_together(child, parents, row->order, found.data());
                else scores.extend(child, parents, row->order, found.data());
            } catch (const Stopped&) {
                row->complete = false;
            }
            for (std::size_t i = 0; i < found.size(); ++i) row->add[row->order[i]] = found[i] - row->score;
            std::erase_if(row->order, [&](int u) { return row->add[u] == -infinite; });
            std::stable_sort(row->order.begin(), row->order.end(),
                             [&](int a, int b) { return row->add[a] > row->add[b]; });
        }
        std::vector<int> fewer;
        for (std::size_t i = 0; i < parents.size() && row->complete; ++i) {
            fewer = parents;
            fewer.erase(fewer.begin() + i);
            if (required(child, parents[i])) {
                row->remove.push_back(-infinite);
                continue;
            }
            auto known = memory_[child].find(fewer);     // most often the climb came through there
            double without = known != memory_[child].end() ? known->second->score : scores.score(child, fewer);
            row->remove.push_back(without - row->score);
        }
        return row;
    }

    void first_rows() {
        std::vector<std::unique_ptr<LocalScores>> own(team_.size());
        team_.run(n_, [&](int thread, std::size_t child) {
            if (!own[thread]) own[thread] = scores_.another();
            rows_[child] = make_row(*own[thread], static_cast<int>(child), parents_[child], false);
        });
        if (!complete()) return;
        for (int v = 0; v < n_; ++v) memory_[v][parents_[v]] = rows_[v];
    }

    // The first rows are not complete. Whoever has none, starts with the required parents alone; then the additions that have been
    // scored, the best first, one per child: the scores of all these families are known.
    GreedyResult one_parent_each() {
        Listening undisturbed(nullptr);
        std::vector<std::unique_ptr<LocalScores>> own(team_.size());
        result_.local.resize(n_);
        team_.finish(n_, [&](int thread, std::size_t v) {
            if (!own[thread]) own[thread] = scores_.another();
            if (!rows_[v]) {
                std::erase_if(parents_[v], [&](int p) { return !required(v, p); });
                rows_[v] = std::make_shared<Row>();
                rows_[v]->score = own[thread]->score(static_cast<int>(v), parents_[v]);
            }
            result_.local[v] = rows_[v]->score;
        });
        constexpr std::size_t most = 16;                 // per child: all of them are more than memory and time allow
        std::vector<Move> moves;
        for (int v = 0; v < n_; ++v)
            for (std::size_t i = 0; i < std::min(most, rows_[v]->order.size()); ++i)
                if (int u = rows_[v]->order[i]; rows_[v]->add[u] > 1e-9) moves.push_back({Kind::add, u, v, rows_[v]->add[u]});
        std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.gain != b.gain ? a.gain > b.gain : a.key() < b.key(); });
        std::vector<char> has(n_, 0);
        relate();
        for (const Move& move : moves) {
            if (has[move.to] || !can_add(move.from, move.to)) continue;
            has[move.to] = 1;
            insert_parent(move.from, move.to);
            result_.local[move.to] += move.gain;
            relate_by(move.from, move.to);
        }
        result_.parents = parents_;
        for (double score : result_.local) result_.score += score;
        result_.trace.emplace_back(seconds(), result_.score);
        return result_;
    }

    void look_up(int child) {
        constexpr std::size_t most_numbers = 32u << 20;  // 256 MiB of gains
        if (remembered_ * n_ > most_numbers) {
            for (auto& m : memory_) m.clear();
            remembered_ = 0;
        }
        auto place = memory_[child].find(parents_[child]);
        if (place == memory_[child].end()) {
            auto row = make_row(scores_, child, parents_[child], team_.size() > 1 && scores_.one_by_one());
            if (!row->complete) throw Stopped{};
            place = memory_[child].emplace(parents_[child], std::move(row)).first;
            ++remembered_;
        }
        rows_[child] = place->second;
    }

    // below_[v]: all descendants of v.
    void relate() {
        for (auto& c : children_) c.clear();
        auto& missing = missing_;
        auto& order = order_;
        missing.resize(n_);
        order.clear();
        for (int v = 0; v < n_; ++v) {
            for (int p : parents_[v]) children_[p].push_back(v);
            below_[v].clear();
        }
        for (int v = 0; v < n_; ++v)
            if (!(missing[v] = static_cast<int>(children_[v].size()))) order.push_back(v);
        for (std::size_t i = 0; i < order.size(); ++i)
            for (int p : parents_[order[i]]) {
                below_[p].insert(order[i]);
                below_[p] |= below_[order[i]];
                if (!--missing[p]) order.push_back(p);
            }
    }
    // The same after one more edge. Who has `to` below already has all that is below it, and so has whoever is above.
    void relate_by(int from, int to) {
        children_[from].insert(std::lower_bound(children_[from].begin(), children_[from].end(), to), to);
        order_.assign(1, from);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const int v = order_[i];
            if (below_[v].contains(to)) continue;
            below_[v].insert(to);
            below_[v] |= below_[to];
            order_.insert(order_.end(), parents_[v].begin(), parents_[v].end());
        }
    }
    bool can_add(int from, int to) const { return !below_[to].contains(from); }
    bool can_turn(int from, int to) const {
        for (int c : children_[from])
            if (c != to && below_[c].contains(to)) return false;
        return true;
    }

    std::uint64_t hash_after(const Move& m) const {
        return hash_ ^ name(m.from, m.to) ^ (m.kind == Kind::turn ? name(m.to, m.from) : 0);
    }
    bool forbidden(const Move& m) const { return tabu_.count(hash_after(m)) > 0; }
    bool beats(const Move& a, const Move& b) const {
        if (std::abs(a.gain - b.gain) > slack_) return a.gain > b.gain;
        return b.from < 0 || a.key() < b.key();
    }

    Move best_move() const {
        Move best;
        auto offer = [&](Kind kind, int from, int to, double gain) {
            if (gain == -infinite || gain < best.gain - slack_) return;
            Move move{kind, from, to, gain};
            if ((best.from < 0 || beats(move, best)) && !forbidden(move)) best = move;
        };
        for (int v = 0; v < n_; ++v) {
            const Row& row = *rows_[v];
            for (int u : row.order) {
                if (row.add[u] < best.gain - slack_) break;
                // An edge that changes nothing is never worth having: equal scores go to the smaller parent set.
                if (std::abs(row.add[u]) > slack_ && can_add(u, v)) offer(Kind::add, u, v, row.add[u]);
            }
        }
        for (int v = 0; v < n_; ++v)
            for (std::size_t i = 0; i < parents_[v].size(); ++i) {
                int u = parents_[v][i];
                if (held_ == std::pair(u, v)) continue;
                double gain = rows_[v]->remove[i];
                offer(Kind::remove, u, v, gain);
                double turned = gain + rows_[u]->add[v];
                if (turned >= best.gain - slack_ && turned > -infinite && can_turn(u, v)) offer(Kind::turn, u, v, turned);
            }
        return best;
    }

    void insert_parent(int from, int to) {
        auto& p = parents_[to];
        p.insert(std::lower_bound(p.begin(), p.end(), from), from);
    }
    void erase_parent(int from, int to) { std::erase(parents_[to], from); }

    void apply(const Move& m) {
        hash_ = hash_after(m);
        if (m.kind == Kind::add) {
            insert_parent(m.from, m.to);
        } else {
            erase_parent(m.from, m.to);
        }
        look_up(m.to);
        if (m.kind == Kind::turn) {
            insert_parent(m.to, m.from);
            look_up(m.from);
        }
        if (m.kind == Kind::add) relate_by(m.from, m.to); else relate();
        score_ = total();
        ++moves_;
    }

    void keep_best() {
        best_ = parents_;
        result_.score = score_;
        result_.local.resize(n_);
        for (int v = 0; v < n_; ++v) result_.local[v] = rows_[v]->score;
        result_.trace.emplace_back(seconds(), score_);
        control_.done = moves_;
    }

    void climb() {
        std::deque<std::uint64_t> past;
        tabu_.clear();
        int without = 0;
        while (!finished()) {
            if (request_.tabu > 0) {
                past.push_back(hash_);
                tabu_.insert(hash_);
                if (static_cast<int>(past.size()) > request_.tabu) {
                    tabu_.erase(tabu_.find(past.front()));
                    past.pop_front();
                }
            }
            Move move = best_move();
            if (move.from < 0 || (request_.tabu == 0 && move.gain <= slack_)) break;
            apply(move);
            if (score_ > result_.score + slack_) {
                keep_best();
                without = 0;
            } else if (request_.tabu > 0 && ++without >= request_.patience) {
                break;
            }
        }
        tabu_.clear();
    }

    void go_to(const std::vector<std::vector<int>>& target) {
        for (int v = 0; v < n_; ++v) {
            if (target[v] == parents_[v]) continue;
            for (int p : parents_[v]) hash_ ^= name(p, v);
            for (int p : target[v]) hash_ ^= name(p, v);
            parents_[v] = target[v];
            look_up(v);
        }
        relate();
        score_ = total();
    }

    // u -> v is covered when v's other parents are u's parents: turning it stays in the equivalence class.
    bool covered(int u, int v) const {
        const auto &of_u = parents_[u], &of_v = parents_[v];
        if (of_v.size() != of_u.size() + 1 || rows_[u]->add[v] == -infinite) return false;
        std::size_t i = 0;
        for (int p : of_v)
            if (p != u && (i == of_u.size() || of_u[i++] != p)) return false;
        return true;
    }

    // Castelo and Kocka (2003): a climb ends where its own DAG has no better neighbour, but another DAG of the same
    // equivalence class may have one. A walk over covered edges leads there at no cost in score.
    void walk_the_class() {
        for (int failed = 0; failed < 2 && !finished(); ++failed) {
            const double before = score_;
            const auto from = parents_;
            for (int step = 0; step < request_.shake && !finished() && turn_a_covered_edge(); ++step) {}
            climb();
            if (score_ > before + slack_) failed = -1;
            if (score_ < before - slack_) go_to(from);
        }
    }
    bool turn_a_covered_edge() {
        std::vector<Move>& moves = scratch_;
        moves.clear();
        for (int v = 0; v < n_; ++v)
            for (std::size_t k = 0; k < parents_[v].size(); ++k)
                if (rows_[v]->remove[k] > -infinite && covered(parents_[v][k], v))
                    moves.push_back({Kind::turn, parents_[v][k], v, 0});
        if (!moves.empty()) apply(moves[chance(moves.size())]);
        return !moves.empty();
    }

    // The modulo's bias is far below what a shake can notice.
    std::size_t chance(std::size_t below) { return random_() % below; }

    // A shake: one edge is turned by force, what would close a cycle is cut, and the edge is held for the next climb, so
    // that its surroundings must make the best of it before it may turn back. Every edge has its turn before one comes again.
    void force_a_turn() {
        bool fresh = waiting_.empty();
        if (fresh)
            for (int v = 0; v < n_; ++v)
                for (int u : parents_[v]) waiting_.insert(waiting_.begin() + chance(waiting_.size() + 1), {u, v});
        while (!waiting_.empty()) {
            auto [u, v] = waiting_.back();
            waiting_.pop_back();
            if (force_turn(u, v)) return;
        }
        if (!fresh) force_a_turn();
    }
    bool force_turn(int u, int v) {
        if (!std::binary_search(parents_[v].begin(), parents_[v].end(), u) || required(v, u) ||
            !request_.allowed.may(u, v) || static_cast<int>(parents_[u].size()) >= request_.allowed.most[u])
            return false;
        auto target = parents_;
        std::erase(target[v], u);
        for (int c : children_[u])
            if (c != v && below_[c].contains(v)) {
                if (required(c, u)) return false;
                std::erase(target[c], u);
            }
        target[u].insert(std::lower_bound(target[u].begin(), target[u].end(), v), v);
        go_to(target);
        held_ = {v, u};
        return true;
    }

    // The other shake: a variable, and perhaps one to three near it, lose all their edges.
    void uproot() {
        auto target = parents_;
        int v = static_cast<int>(chance(n_));
        for (std::size_t left = 1 + chance(4); left > 0; --left) {
            std::erase_if(target[v], [&](int p) { return !required(v, p); });
            for (int c : children_[v])
                if (!required(c, v)) std::erase(target[c], v);
            const auto& near = !parents_[v].empty() && (children_[v].empty() || chance(2)) ? parents_[v] : children_[v];
            v = near.empty() ? static_cast<int>(chance(n_)) : near[chance(near.size())];
        }
        go_to(target);
    }

    LocalScores& scores_;
    const GreedyRequest& request_;
    Team& team_;
    std::vector<std::unique_ptr<LocalScores>> others_;   // of the threads beside the first, once they were needed
    Control& control_;
    int n_;
    std::vector<std::vector<int>> parents_, children_, best_;
    std::vector<std::shared_ptr<Row>> rows_;
    std::vector<VarSet> below_;
    std::vector<std::unordered_map<std::vector<int>, std::shared_ptr<Row>, Hash>> memory_;
    std::vector<int> missing_, order_;
    std::size_t remembered_ = 0;
    std::unordered_multiset<std::uint64_t> tabu_;
    std::uint64_t hash_ = 0;
    double score_ = 0, slack_ = 0;
    std::pair<int, int> held_{-1, -1};                   // an edge that the climb may not touch
    std::vector<Move> scratch_;
    std::vector<std::pair<int, int>> waiting_;           // edges whose forced turn is still to come, in random order
    std::mt19937_64 random_;
    GreedyResult result_;
    std::uint64_t moves_ = 0;
    Clock::time_point start_;
};

}  // namespace

GreedyResult greedy(LocalScores& scores, const GreedyRequest& request, Team& team, Control& control) {
    return Greedy(scores, request, team, control).run();
}

}  // namespace spinney
