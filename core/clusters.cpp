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

// Which variables can be placed, one after another, by their available families. Families count their parents that are not
// placed, so a placement costs the families it is a parent in, and can be taken back.
class Placing {
public:
    explicit Placing(const Families& families)
        : f_(families), available_(families.variables), uses_(families.variables), hits_(families.size()),
          inside_(families.variables), taking_part_(families.variables) {}

    const std::vector<int>& available(int v) const { return available_[v]; }
    void set_available(int v, std::vector<int> families) {
        for (int family : available_[v])
            for (int p : f_.parents(family)) uses_[p].erase(std::find(uses_[p].begin(), uses_[p].end(), family));
        for (int family : families)
            for (int p : f_.parents(family)) uses_[p].push_back(family);
        available_[v] = std::move(families);
    }

    // As far as variables can be placed.
    std::vector<int> order() {
        std::vector<int> all(f_.variables);
        for (int v = 0; v < f_.variables; ++v) all[v] = v;
        std::vector<int> out = enter(all);
        leave(all);
        return out;
    }

    // Clusters that no available family serves: the components of what cannot be placed whose parents there are their own.
    std::vector<std::vector<int>> clusters() {
        std::vector<int> all(f_.variables), rest, number(f_.variables, -1);
        for (int v = 0; v < f_.variables; ++v) all[v] = v;
        enter(all);
        for (int v : all)
            if (inside_[v]) number[v] = static_cast<int>(rest.size()), rest.push_back(v);
        leave(all);
        std::vector<std::vector<int>> graph(rest.size()), out;
        for (std::size_t i = 0; i < rest.size(); ++i)
            for (int family : available_[rest[i]])
                for (int p : f_.parents(family))
                    if (number[p] >= 0) graph[i].push_back(number[p]);
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
        const std::vector<int> all = cluster;
        enter(all);
        std::size_t left = cluster.size();
        for (int v : order) {
            if (!inside_[v]) continue;
            std::vector<int> gone = place(v);
            if (gone.size() < left) left -= gone.size();
            else
                for (auto u = gone.rbegin(); u != gone.rend(); ++u) take_back(*u);
        }
        std::erase_if(cluster, [&](int v) { return !inside_[v]; });
        leave(all);
    }

private:
    // All members wait; who need not is placed. The order of placement comes back.
    std::vector<int> enter(const std::vector<int>& members) {
        for (int v : members) inside_[v] = taking_part_[v] = 1;
        std::vector<int> free, placed;
        for (int v : members) {
            bool waits = true;
            for (int family : available_[v]) {
                hits_[family] = 0;
                for (int p : f_.parents(family)) hits_[family] += inside_[p];
                waits = waits && hits_[family];
            }
            if (!waits) free.push_back(v);
        }
        for (int v : free)
            if (inside_[v])
                for (int u : place(v)) placed.push_back(u);
        return placed;
    }
    void leave(const std::vector<int>& members) {
        for (int v : members) inside_[v] = taking_part_[v] = 0;
    }

    // Places v, then the variables that waited for v only.
    std::vector<int> place(int v) {
        std::vector<int> placed{v};
        inside_[v] = 0;
        for (std::size_t next = 0; next < placed.size(); ++next)
            for (int family : uses_[placed[next]]) {
                const int child = f_.child[family];
                if (taking_part_[child] && --hits_[family] == 0 && inside_[child]) {
                    inside_[child] = 0;
                    placed.push_back(child);
                }
            }
        return placed;
    }
    void take_back(int v) {
        inside_[v] = 1;
        for (int family : uses_[v])
            if (taking_part_[f_.child[family]]) ++hits_[family];
    }

    const Families& f_;
    std::vector<std::vector<int>> available_, uses_;     // families per child, and per parent
    std::vector<int> hits_;                              // per family: its parents that wait
    std::vector<char> inside_, taking_part_;             // who waits, who is asked; all 0 between calls
};

class Ascent {
public:
    explicit Ascent(const Families& families)
        : f_(families), reduced_(families.cost), zero_(families), inside_(families.variables) {
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
            for (int v : cluster) inside_[v] = 1;
            for (int v : cluster) slacks.emplace_back(slack(v), v);
            for (int v : cluster) inside_[v] = 0;
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
        std::vector<int> families;
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] <= nothing_) families.push_back(i);
        zero_.set_available(v, std::move(families));
    }

    double slack(int v) const {                          // REQUIRES: inside_ is the cluster
        double least = infinite;
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] < least && serves(f_.parents(i), inside_)) least = reduced_[i];
        return least;
    }

    void raise(const std::vector<int>& cluster) {
        for (int v : cluster) inside_[v] = 1;
        double least = infinite;
        for (int v : cluster) least = std::min(least, slack(v));
        for (int v : cluster) {
            bool touched = false;
            for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
                if (serves(f_.parents(i), inside_)) {
                    reduced_[i] -= least;
                    touched = touched || reduced_[i] <= nothing_;
                }
            if (touched) list_zeros(v);
        }
        weights_[cluster] += least;
        for (int v : cluster) inside_[v] = 0;
    }

    const Families& f_;
    std::vector<double> reduced_;
    Placing zero_;                                       // by families of reduced cost 0
    std::vector<char> inside_;                           // scratch: all 0 between calls
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
    Placing placing(families);
    for (int v = 0; v < families.variables; ++v) placing.set_available(v, available[v]);
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
    Placing placing(families);
    for (int v = 0; v < families.variables; ++v) {
        std::vector<int> all;
        for (int i = families.first[v]; i < families.first[v + 1]; ++i) all.push_back(i);
        placing.set_available(v, std::move(all));
    }
    return placing.order();
}

}  // namespace spinney
