#include "clusters.hpp"

#include <limits>
#include <map>

namespace spinney {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

bool serves(std::span<const int> parents, const std::vector<char>& inside, int k = 1) {
    for (int p : parents)
        if (inside[p] && --k == 0) return false;
    return true;
}

// Which variables can be placed, one after another, by their available families.
class Placing {
public:
    Placing(const Families& families, std::vector<std::vector<int>> available)
        : available(std::move(available)), inside(families.variables), f_(families) {}

    // Leaves in `rest` (sorted) what cannot be placed: all available families of each member meet the rest.
    void unplaced(std::vector<int>& rest) {
        for (int v : rest) inside[v] = 1;
        for (bool again = true; again;) {
            again = false;
            std::size_t kept = 0;
            for (int v : rest) {
                bool place = false;
                for (int family : available[v])
                    if ((place = serves(f_.parents(family), inside))) break;
                if (place) inside[v] = 0, again = true;
                else rest[kept++] = v;
            }
            rest.resize(kept);
        }
        for (int v : rest) inside[v] = 0;
    }

    // As far as variables can be placed, in rounds.
    std::vector<int> order() {
        std::vector<int> out;
        std::fill(inside.begin(), inside.end(), 1);
        for (std::size_t before = out.size() + 1; before != out.size();) {
            before = out.size();
            for (int v = 0; v < f_.variables; ++v)
                if (inside[v] && std::any_of(available[v].begin(), available[v].end(),
                                             [&](int family) { return serves(f_.parents(family), inside); }))
                    inside[v] = 0, out.push_back(v);
        }
        std::fill(inside.begin(), inside.end(), 0);
        return out;
    }

    // Clusters that no available family serves: the components of what cannot be placed whose parents there are their own.
    std::vector<std::vector<int>> clusters() {
        std::vector<int> rest(f_.variables), place(f_.variables, -1);
        for (int v = 0; v < f_.variables; ++v) rest[v] = v;
        unplaced(rest);
        for (std::size_t i = 0; i < rest.size(); ++i) place[rest[i]] = static_cast<int>(i);
        std::vector<std::vector<int>> graph(rest.size()), out;
        for (std::size_t i = 0; i < rest.size(); ++i)
            for (int family : available[rest[i]])
                for (int p : f_.parents(family))
                    if (place[p] >= 0) graph[i].push_back(place[p]);
        for (const std::vector<int>& own : components(graph)) {
            bool leaves = false;
            for (int i : own)
                for (int j : graph[i]) leaves = leaves || !std::binary_search(own.begin(), own.end(), j);
            if (leaves) continue;
            out.emplace_back();
            for (int i : own) out.back().push_back(rest[i]);
        }
        return out;
    }

    // A smaller cluster has fewer families that serve it. Members go in this order, as long as one is left that cannot be placed.
    void shrink(std::vector<int>& cluster, const std::vector<int>& order) {
        for (int v : order) {
            if (!std::binary_search(cluster.begin(), cluster.end(), v)) continue;
            std::vector<int> smaller;
            for (int w : cluster)
                if (w != v) smaller.push_back(w);
            unplaced(smaller);
            if (!smaller.empty()) cluster = std::move(smaller);
        }
    }

    std::vector<std::vector<int>> available;             // per variable
    std::vector<char> inside;                            // scratch: all 0 between calls

private:
    const Families& f_;
};

class Ascent {
public:
    explicit Ascent(const Families& families)
        : f_(families), reduced_(families.cost), zero_(families, std::vector<std::vector<int>>(families.variables)) {
        double scale = 0;
        for (double c : families.cost) scale = std::max(scale, c);
        nothing_ = 1e-12 * (1 + scale);
        for (int v = 0; v < families.variables; ++v) list_zeros(v);
    }

    // False: the families of reduced cost 0 hold a DAG.
    bool round() {
        auto clusters = zero_.clusters();
        for (std::vector<int>& cluster : clusters) {
            // Members that limit the weight go first.
            std::vector<std::pair<double, int>> slacks;
            std::vector<int> order;
            for (int v : cluster) zero_.inside[v] = 1;
            for (int v : cluster) slacks.emplace_back(slack(v), v);
            for (int v : cluster) zero_.inside[v] = 0;
            std::sort(slacks.begin(), slacks.end());
            for (auto& [least, v] : slacks) order.push_back(v);
            zero_.shrink(cluster, order);
            raise(cluster);
        }
        return !clusters.empty();
    }

    std::vector<int> order() {
        auto order = zero_.order();
        return static_cast<int>(order.size()) == f_.variables ? order : std::vector<int>();
    }
    std::vector<Cluster> clusters() const {
        std::vector<Cluster> out;
        for (auto& [members, weight] : weights_) out.push_back({members, 1, weight});
        return out;
    }

private:
    void list_zeros(int v) {
        zero_.available[v].clear();
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] <= nothing_) zero_.available[v].push_back(i);
    }

    double slack(int v) const {                          // REQUIRES: inside is the cluster
        double least = infinite;
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] < least && serves(f_.parents(i), zero_.inside)) least = reduced_[i];
        return least;
    }

    void raise(const std::vector<int>& cluster) {
        for (int v : cluster) zero_.inside[v] = 1;
        double least = infinite;
        for (int v : cluster) least = std::min(least, slack(v));
        for (int v : cluster) {
            bool touched = false;
            for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
                if (serves(f_.parents(i), zero_.inside)) {
                    reduced_[i] -= least;
                    touched = touched || reduced_[i] <= nothing_;
                }
            if (touched) list_zeros(v);
        }
        weights_[cluster] += least;
        for (int v : cluster) zero_.inside[v] = 0;
    }

    const Families& f_;
    std::vector<double> reduced_;
    Placing zero_;                                       // by families of reduced cost 0
    std::map<std::vector<int>, double> weights_;
    double nothing_ = 0;
};

}  // namespace

Priced price(const Families& f, const std::vector<Cluster>& clusters) {
    Priced out{0, f.cost};
    std::vector<char> inside(f.variables, 0);
    for (const Cluster& cluster : clusters) {
        out.bound += cluster.k * cluster.weight;
        for (int v : cluster.members) inside[v] = 1;
        for (int v : cluster.members)
            for (int i = f.first[v]; i < f.first[v + 1]; ++i)
                if (serves(f.parents(i), inside, cluster.k)) out.reduced[i] -= cluster.weight;
        for (int v : cluster.members) inside[v] = 0;
    }
    for (int v = 0; v < f.variables; ++v) {
        double least = *std::min_element(out.reduced.begin() + f.first[v], out.reduced.begin() + f.first[v + 1]);
        out.bound += least;
        for (int i = f.first[v]; i < f.first[v + 1]; ++i) out.reduced[i] -= least;
    }
    return out;
}

std::vector<std::vector<int>> unserved(const Families& families, const std::vector<std::vector<int>>& available) {
    Placing placing(families, available);
    auto clusters = placing.clusters();
    for (std::vector<int>& cluster : clusters) placing.shrink(cluster, std::vector<int>(cluster));
    return clusters;
}

Row row_of(const Families& f, const Cluster& cluster) {
    std::vector<char> inside(f.variables, 0);
    std::vector<int> serving, others;
    for (int v : cluster.members) inside[v] = 1;
    for (int v : cluster.members)
        for (int i = f.first[v]; i < f.first[v + 1]; ++i) (serves(f.parents(i), inside, cluster.k) ? serving : others).push_back(i);
    if (serving.size() <= others.size()) return {std::move(serving), double(cluster.k), infinite};
    return {std::move(others), -infinite, double(cluster.members.size()) - cluster.k};
}

std::vector<std::vector<int>> columns_of(const Families& f, std::span<const int> chosen,
                                         const std::vector<Cluster>& clusters, const std::vector<bool>& at_least) {
    std::vector<std::vector<int>> rows(chosen.size());
    std::vector<char> inside(f.variables, 0);
    for (std::size_t i = 0; i < chosen.size(); ++i) rows[i].push_back(f.child[chosen[i]]);
    for (std::size_t c = 0; c < clusters.size(); ++c) {
        for (int v : clusters[c].members) inside[v] = 1;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (inside[f.child[chosen[i]]] && serves(f.parents(chosen[i]), inside, clusters[c].k) == at_least[c])
                rows[i].push_back(f.variables + static_cast<int>(c));
        for (int v : clusters[c].members) inside[v] = 0;
    }
    return rows;
}

Ascended ascend(const Families& families, Control& control) {
    Ascent ascent(families);
    while (!control.stop && ascent.round()) {}
    return {ascent.clusters(), ascent.order()};
}

std::vector<int> placed(const Families& families) {
    std::vector<std::vector<int>> all(families.variables);
    for (int i = 0; i < families.size(); ++i) all[families.child[i]].push_back(i);
    return Placing(families, std::move(all)).order();
}

}  // namespace spinney
