#include "recombine.hpp"

namespace spinney {

std::vector<int> topological_order(const ParentLists& parents) {
    const int n = static_cast<int>(parents.size());
    std::vector<int> missing(n), order;
    ParentLists children(n);
    order.reserve(n);
    for (int v = 0; v < n; ++v) {
        for (int p : parents[v]) children[p].push_back(v);
        if (!(missing[v] = static_cast<int>(parents[v].size()))) order.push_back(v);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
        for (int c : children[order[i]])
            if (!--missing[c]) order.push_back(c);
    return order;
}

std::vector<int> recombined_order(ParentLists best, const std::vector<double>& best_scores, const ParentLists& other,
                                  const std::vector<double>& other_scores, double slack) {
    const int n = static_cast<int>(best.size());
    const ParentLists before = best;
    std::vector<char> differs(n), seen(n);
    ParentLists near(n);
    for (int v = 0; v < n; ++v) differs[v] = best[v] != other[v];
    for (int v = 0; v < n; ++v) {
        if (!differs[v]) continue;
        for (const auto* parents : {&before[v], &other[v]})
            for (int p : *parents)
                if (differs[p]) near[v].push_back(p), near[p].push_back(v);
    }
    std::vector<int> part;
    for (int first = 0; first < n; ++first) {
        if (!differs[first] || seen[first]) continue;
        double better = 0;
        part.assign(1, first);
        seen[first] = 1;
        for (std::size_t i = 0; i < part.size(); ++i) {
            better += other_scores[part[i]] - best_scores[part[i]];
            for (int u : near[part[i]])
                if (!seen[u]) seen[u] = 1, part.push_back(u);
        }
        if (better <= slack) continue;
        for (int v : part) best[v] = other[v];
        if (static_cast<int>(topological_order(best).size()) < n)
            for (int v : part) best[v] = before[v];
    }
    return topological_order(best);
}

}  // namespace spinney
