#include "search_local_global.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "varset.hpp"

namespace spinney {
namespace {

class LocalGlobal {
public:
    LocalGlobal(const GraphData& data, const GraphSpec& spec, const Allowed& allowed, Team& team, Control& control)
        : spec_(spec), allowed_(allowed), control_(control), n_(static_cast<int>(data.columns.size())), nodes_(n_),
          began_(std::chrono::steady_clock::now()) {
        for (int v = 0; v < n_; ++v) nodes_[v].is_parent.assign(allowed.candidates(v).size(), 0);
        for (int v = 0; v < n_; ++v)
            for (int p : allowed.required[v]) nodes_[v].is_parent[place_of(v, p)] = 2, ++nodes_[v].parents;
        find_ancestors();
        team.run(n_, [&](int, std::size_t v) {
            nodes_[v].score = std::make_unique<LeafScore>(data, spec, static_cast<int>(v));
            nodes_[v].grower = std::make_unique<Grower>(data, spec, *nodes_[v].score, static_cast<int>(v), allowed.candidates(v));
            look(static_cast<int>(v));
        });
        Listening undisturbed(nullptr);
        for (int v = 0; v < n_; ++v)                     // stopped so early: a leaf each
            if (!nodes_[v].grower) {
                nodes_[v].score = std::make_unique<LeafScore>(data, spec, v);
                nodes_[v].grower = std::make_unique<Grower>(data, spec, *nodes_[v].score, v, std::span<const int>{});
            }
    }

    LocalGlobalResult run() {
        Listening undisturbed(nullptr);                     // a step that is broken off would leave half a graph
        LocalGlobalResult result;
        double score = 0;
        for (int v = 0; v < n_; ++v) score += nodes_[v].grower->value() + spec_.prior(nodes_[v].parents);
        note(result, score);
        Turns turns(spec_);
        while (!control_.stop) {
            const int splitting = first(&Node::split), merging = first(&Node::merge);
            const Move* next = turns.next(nodes_[splitting].split, nodes_[merging].merge);
            if (!next) break;
            score += next->gain;
            next->kind == Move::merge ? merge(merging) : split(splitting);
            note(result, score);
            ++control_.done;
        }
        for (int v = 0; v < n_; ++v) {
            auto& parents = result.parents.emplace_back();
            for (std::size_t i = 0; i < allowed_.candidates(v).size(); ++i)
                if (nodes_[v].is_parent[i]) parents.push_back(allowed_.candidates(v)[i]);
            result.graphs.push_back(nodes_[v].grower->graph());
        }
        return result;
    }

private:
    struct Node {
        std::unique_ptr<LeafScore> score;
        std::unique_ptr<Grower> grower;
        std::vector<char> is_parent;                     // by place among the candidates; 2: required
        std::size_t parents = 0;
        VarSet ancestors;
        Move split, merge;                               // the best
    };

    int place_of(int child, int parent) const {
        auto& own = allowed_.candidates(child);
        return static_cast<int>(std::lower_bound(own.begin(), own.end(), parent) - own.begin());
    }

    bool may_add(int child, int parent) const {
        return static_cast<int>(nodes_[child].parents) < allowed_.most[child] && !nodes_[parent].ancestors.contains(child);
    }

    void look(int v) {
        Node& node = nodes_[v];
        const double arc = spec_.prior(node.parents + 1) - spec_.prior(node.parents);
        std::vector<double> bonus(node.is_parent.size());
        for (std::size_t i = 0; i < bonus.size(); ++i)
            bonus[i] = node.is_parent[i] ? 0 : may_add(v, allowed_.candidates(v)[i]) ? arc : -INFINITY;
        node.split = node.grower->best_split(bonus);
        if (spec_.size_prior.empty()) {
            node.merge = node.grower->best_merge();
            return;
        }
        std::vector<double> fewer;                       // by how many parents go
        std::vector<char> may_go(node.is_parent.size());
        for (std::size_t i = 0; i < may_go.size(); ++i) may_go[i] = node.is_parent[i] == 1;
        for (std::size_t k = 0; k <= node.parents; ++k) fewer.push_back(spec_.prior(node.parents - k) - spec_.prior(node.parents));
        node.merge = node.grower->best_merge(fewer, may_go);
    }

    // The node with the best move of a kind; of those as good, the first.
    int first(Move Node::*move) const {
        double most = -INFINITY;
        for (const Node& node : nodes_) most = std::max(most, (node.*move).gain);
        int v = 0;
        while ((nodes_[v].*move).gain < most - no_gain) ++v;
        return v;
    }

    void split(int v) {
        Node& node = nodes_[v];
        const int place = node.split.parent;
        node.grower->apply(node.split);
        if (!node.is_parent[place]) {
            node.is_parent[place] = 1, ++node.parents;
            add_arc(allowed_.candidates(v)[place], v);
        }
        look(v);
    }

    void merge(int v) {
        Node& node = nodes_[v];
        node.grower->apply(node.merge);
        bool fewer = false;
        for (std::size_t i = 0; i < node.is_parent.size(); ++i)
            if (node.grower->uses(static_cast<int>(i)) && node.grower->forget(static_cast<int>(i)) && node.is_parent[i] == 1) {
                node.is_parent[i] = 0, --node.parents, fewer = true;
            }
        if (!fewer) return look(v);
        find_ancestors();                                // arcs that were closed may be open again
        for (int u = 0; u < n_; ++u) look(u);
    }

    void add_arc(int parent, int child) {
        VarSet more = nodes_[parent].ancestors;
        more.insert(parent);
        for (int v = 0; v < n_; ++v)
            if (v == child || nodes_[v].ancestors.contains(child)) nodes_[v].ancestors |= more;
        for (int u = 0; u < n_; ++u) {                   // whoever planned an arc that would now close a circle
            const Move& plan = nodes_[u].split;
            if (u != child && plan.parent >= 0 && !nodes_[u].is_parent[plan.parent] &&
                !may_add(u, allowed_.candidates(u)[plan.parent]))
                look(u);
        }
    }

    void find_ancestors() {
        for (Node& node : nodes_) node.ancestors = VarSet(n_);
        std::vector<int> waiting(n_), order;
        std::vector<std::vector<int>> children(n_);
        for (int v = 0; v < n_; ++v)
            for (std::size_t i = 0; i < nodes_[v].is_parent.size(); ++i)
                if (nodes_[v].is_parent[i]) children[allowed_.candidates(v)[i]].push_back(v), ++waiting[v];
        for (int v = 0; v < n_; ++v)
            if (!waiting[v]) order.push_back(v);
        for (std::size_t at = 0; at < order.size(); ++at)
            for (int child : children[order[at]]) {
                nodes_[child].ancestors |= nodes_[order[at]].ancestors;
                nodes_[child].ancestors.insert(order[at]);
                if (--waiting[child] == 0) order.push_back(child);
            }
    }

    void note(LocalGlobalResult& result, double score) const {
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began_;
        result.trace.emplace_back(seconds.count(), score);
    }

    const GraphSpec& spec_;
    const Allowed& allowed_;
    Control& control_;
    int n_;
    std::vector<Node> nodes_;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace

LocalGlobalResult local_global(const GraphData& data, const GraphSpec& spec, const Allowed& allowed, Team& team,
                               Control& control) {
    return LocalGlobal(data, spec, allowed, team, control).run();
}

}  // namespace spinney
