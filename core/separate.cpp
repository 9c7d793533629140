// For a cluster C let f(C) = sum over v in C of the share of v's families that are disjoint from C; it is violated when f(C) < 1.
// A cluster of one has f = 1. From every variable C grows by the member that lowers f most, also uphill for a while; each grown
// cluster is then stripped of members that do not pay. The shares are kept up to date family by family, so a step costs
// what it changes.
#include "separate.hpp"

#include <array>
#include <cmath>
#include <map>
#include <set>

namespace spinney {
namespace {

class Growth {
public:
    Growth(const Families& families, std::span<const double> x) : f_(families), n_(families.variables), of_parent_(n_), own_(n_),
        gain_(n_), inside_(n_) {
        for (int i = 0; i < families.size(); ++i)
            if (x[i] > 1e-7) {
                const int k = static_cast<int>(taken_.size());
                taken_.push_back({i, x[i], 0});
                own_[families.child[i]].push_back(k);
                for (int p : families.parents(i)) of_parent_[p].push_back(k);
            }
    }
    double value() const { return value_; }
    const std::vector<int>& members() const { return members_; }

    void clear() {
        while (!members_.empty()) remove(members_.back());
        value_ = 0;
        for (int v : touched_) gain_[v] = 0;             // what rounding left
        touched_.clear();
    }
    void add(int u) {
        value_ += 1 - gain_[u];
        inside_[u] = 1;
        members_.push_back(u);
        for (int k : of_parent_[u])
            if (taken_[k].hit++ == 0) shift(k, -1);
        for (int k : own_[u])
            if (!taken_[k].hit) spread(k, 1);
    }
    void remove(int u) {
        for (int k : own_[u])
            if (!taken_[k].hit) spread(k, -1);
        for (int k : of_parent_[u])
            if (--taken_[k].hit == 0) shift(k, 1);
        inside_[u] = 0;
        members_.erase(std::find(members_.rbegin(), members_.rend(), u).base() - 1);
        value_ -= 1 - gain_[u];
    }
    int best() const {                                   // the outsider that gains most, -1: none gains
        int found = -1;
        for (int v : touched_)
            if (!inside_[v] && gain_[v] > 1e-9 && (found < 0 || gain_[v] > gain_[found] + 1e-12 ||
                                                  (gain_[v] > gain_[found] - 1e-12 && v < found)))
                found = v;
        return found;
    }
    double without(int u) {
        remove(u);
        double value = value_;
        add(u);
        return value;
    }

private:
    struct Taken {
        int family;
        double share;
        int hit;                                         // how many of its parents are inside
    };
    void gain(int v, double by) {
        if (gain_[v] == 0) touched_.push_back(v);
        gain_[v] += by;
    }
    void spread(int k, int sign) {                       // an insider's family that no member meets: any of its parents would
        for (int p : f_.parents(taken_[k].family)) gain(p, sign * taken_[k].share);
    }
    void shift(int k, int sign) {                        // a family starts (-1) or ceases (1) to meet the cluster
        const int v = f_.child[taken_[k].family];
        if (inside_[v]) spread(k, sign);
        gain(v, -sign * taken_[k].share);
    }

    const Families& f_;
    int n_;
    std::vector<Taken> taken_;
    std::vector<std::vector<int>> of_parent_, own_;
    std::vector<double> gain_;                           // how much of f a new member saves against the 1 that it brings
    std::vector<char> inside_;
    std::vector<int> members_, touched_;
    double value_ = 0;
};

// Clusters of three with k = 2: at most one member may have both others as parents.
void triples(const Families& families, std::span<const double> x, double by, std::vector<Cluster>& out) {
    std::map<std::array<int, 3>, double> shares;
    for (int i = 0; i < families.size(); ++i) {
        if (x[i] < 1e-7) continue;
        auto parents = families.parents(i);
        for (std::size_t a = 0; a < parents.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                std::array<int, 3> key{parents[b], parents[a], families.child[i]};
                std::sort(key.begin(), key.end());
                shares[key] += x[i];
            }
    }
    for (auto& [key, share] : shares)
        if (share > 1 + by) out.push_back({{key.begin(), key.end()}, 2, 0});
}

}  // namespace

std::vector<Cluster> violated(const Families& families, std::span<const double> x, double by, int most) {
    // What the families with any share cannot place is violated in full; no need to look further.
    std::vector<std::vector<int>> taken(families.variables);
    for (int i = 0; i < families.size(); ++i)
        if (x[i] > 1e-6) taken[families.child[i]].push_back(i);
    std::vector<Cluster> out;
    for (std::vector<int>& members : unserved(families, taken)) out.push_back({std::move(members), 1, 0});
    if (!out.empty()) return out;

    Growth growth(families, x);
    std::set<std::pair<double, std::vector<int>>> found;
    constexpr int longest = 40;
    auto strip = [&] {
        for (bool again = true; again && growth.members().size() > 2;) {
            again = false;
            std::vector<int> now = growth.members();
            for (int u : now) {
                if (growth.members().size() == 2) break;
                if (growth.without(u) <= growth.value() + 1e-9) growth.remove(u), again = true;
            }
        }
        if (growth.value() < 1 - by) {
            std::vector<int> members = growth.members();
            std::sort(members.begin(), members.end());
            found.emplace(std::round(growth.value() * 1e9) * 1e-9, std::move(members));
        }
    };
    for (int v = 0; v < families.variables; ++v) {
        growth.clear();
        growth.add(v);
        double least = 1;
        for (int step = 0; step < longest; ++step) {
            const int u = growth.best();
            if (u < 0) break;
            growth.add(u);
            if (growth.value() < std::min(least, 1 - by)) {
                least = growth.value();
                strip();
                least = std::min(least, growth.value());
                if (found.size() > static_cast<std::size_t>(20 * most)) break;
            }
        }
    }
    for (auto& [value, members] : found) {
        if (static_cast<int>(out.size()) == most) break;
        out.push_back({members, 1, 0});
    }
    triples(families, x, by, out);
    return out;
}

}  // namespace spinney
