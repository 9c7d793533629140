#include "clusters.hpp"

#include <limits>
#include <map>

namespace spinney {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

bool serves(std::span<const int> parents, const std::vector<char>& inside) {
    for (int p : parents)
        if (inside[p]) return false;
    return true;
}

class Ascent {
public:
    Ascent(const Families& families, Control& control)
        : f_(families), n_(families.variables), control_(control), reduced_(families.cost), inside_(n_), zero_(n_) {
        double scale = 0;
        for (double c : families.cost) scale = std::max(scale, c);
        nothing_ = 1e-12 * (1 + scale);
        for (int v = 0; v < n_; ++v) list_zeros(v);
    }

    // One round: every sink component of what the zero families cannot place gives a cluster. False: they hold a DAG.
    bool round() {
        std::vector<int> rest(n_);
        for (int v = 0; v < n_; ++v) rest[v] = v;
        unplaced(rest);
        if (rest.empty()) return false;
        std::vector<int> place(n_, -1);
        for (std::size_t i = 0; i < rest.size(); ++i) place[rest[i]] = static_cast<int>(i);
        std::vector<std::vector<int>> graph(rest.size());
        for (std::size_t i = 0; i < rest.size(); ++i)
            for (int family : zero_[rest[i]])
                for (int p : f_.parents(family))
                    if (place[p] >= 0) graph[i].push_back(place[p]);
        std::vector<char> closed(rest.size(), 0);        // components with a way out are no sinks
        std::vector<int> label(rest.size());
        auto found = components(graph);
        for (std::size_t k = 0; k < found.size(); ++k)
            for (int i : found[k]) label[i] = static_cast<int>(k);
        for (std::size_t k = 0; k < found.size(); ++k) {
            bool sink = true;
            for (int i : found[k])
                for (int j : graph[i]) sink = sink && label[j] == static_cast<int>(k);
            if (!sink) continue;
            std::vector<int> cluster;
            for (int i : found[k]) cluster.push_back(rest[i]);
            shrink(cluster);
            raise(cluster);
        }
        return true;
    }

    double bound() const { return bound_; }
    std::vector<Cluster> clusters() const {
        std::vector<Cluster> out;
        for (auto& [members, weight] : weights_) out.push_back({members, weight});
        return out;
    }

private:
    void list_zeros(int v) {
        zero_[v].clear();
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] <= nothing_) zero_[v].push_back(i);
    }

    // Leaves in `rest` (sorted) what cannot be placed: all zero families of each member meet the rest.
    void unplaced(std::vector<int>& rest) {
        for (int v : rest) inside_[v] = 1;
        for (bool again = true; again;) {
            again = false;
            std::size_t kept = 0;
            for (int v : rest) {
                bool place = false;
                for (int family : zero_[v])
                    if ((place = serves(f_.parents(family), inside_))) break;
                if (place) inside_[v] = 0, again = true;
                else rest[kept++] = v;
            }
            rest.resize(kept);
        }
        for (int v : rest) inside_[v] = 0;
    }

    double slack(int v) const {                          // REQUIRES: inside_ is the cluster
        double least = infinite;
        for (int i = f_.first[v]; i < f_.first[v + 1]; ++i)
            if (reduced_[i] < least && serves(f_.parents(i), inside_)) least = reduced_[i];
        return least;
    }

    // A smaller cluster has fewer families that serve it. Members that limit the weight go first.
    void shrink(std::vector<int>& cluster) {
        std::vector<std::pair<double, int>> order;
        for (int v : cluster) inside_[v] = 1;
        for (int v : cluster) order.emplace_back(slack(v), v);
        for (int v : cluster) inside_[v] = 0;
        std::sort(order.begin(), order.end());
        for (auto [least, v] : order) {
            if (!std::binary_search(cluster.begin(), cluster.end(), v)) continue;
            std::vector<int> smaller;
            for (int w : cluster)
                if (w != v) smaller.push_back(w);
            unplaced(smaller);
            if (!smaller.empty()) cluster = std::move(smaller);
        }
    }

    void raise(const std::vector<int>& cluster) {
        for (int v : cluster) inside_[v] = 1;
        double least = infinite;
        for (int v : cluster) least = std::min(least, slack(v));
        if (least < infinite) {
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
        }
        bound_ += least;
        for (int v : cluster) inside_[v] = 0;
    }

    const Families& f_;
    int n_;
    Control& control_;
    std::vector<double> reduced_;
    std::vector<char> inside_;                           // scratch: all 0 between calls
    std::vector<std::vector<int>> zero_;
    std::map<std::vector<int>, double> weights_;
    double bound_ = 0, nothing_ = 0;
};

}  // namespace

Priced price(const Families& f, const std::vector<Cluster>& clusters) {
    Priced out{0, f.cost};
    std::vector<char> inside(f.variables, 0);
    for (const Cluster& cluster : clusters) {
        out.bound += cluster.weight;
        for (int v : cluster.members) inside[v] = 1;
        for (int v : cluster.members)
            for (int i = f.first[v]; i < f.first[v + 1]; ++i)
                if (serves(f.parents(i), inside)) out.reduced[i] -= cluster.weight;
        for (int v : cluster.members) inside[v] = 0;
    }
    for (int v = 0; v < f.variables; ++v) {
        double least = *std::min_element(out.reduced.begin() + f.first[v], out.reduced.begin() + f.first[v + 1]);
        out.bound += least;
        for (int i = f.first[v]; i < f.first[v + 1]; ++i) out.reduced[i] -= least;
    }
    return out;
}

std::vector<int> serving(const Families& f, const std::vector<int>& cluster) {
    std::vector<char> inside(f.variables, 0);
    std::vector<int> out;
    for (int v : cluster) inside[v] = 1;
    for (int v : cluster)
        for (int i = f.first[v]; i < f.first[v + 1]; ++i)
            if (serves(f.parents(i), inside)) out.push_back(i);
    return out;
}

std::vector<Cluster> ascend(const Families& families, double enough, Control& control) {
    Ascent ascent(families, control);
    while (!control.stop && ascent.bound() < enough && ascent.round()) {}
    return ascent.clusters();
}

}  // namespace spinney
