#include "part.hpp"

#include "search_order.hpp"

namespace spinney {

Part whole(ListedSets sets) {
    Part part;
    for (std::size_t v = 0; v < sets.size(); ++v) {
        part.variables.push_back(static_cast<int>(v));
        part.origin.emplace_back(sets[v].size());
        for (std::size_t i = 0; i < sets[v].size(); ++i) part.origin[v][i] = static_cast<int>(i);
    }
    part.families = flat(sets);
    part.sets = std::move(sets);
    return part;
}

namespace {

void drop_dominated(Part& part) {
    auto kept = undominated(part.sets);
    for (std::size_t v = 0; v < kept.size(); ++v) {
        for (std::size_t i = 0; i < kept[v].size(); ++i) {
            part.sets[v][i] = part.sets[v][kept[v][i]];
            part.origin[v][i] = part.origin[v][kept[v][i]];
        }
        part.sets[v].resize(kept[v].size());
        part.origin[v].resize(kept[v].size());
    }
}

}  // namespace

std::vector<Part> split(const Part& part, std::span<const char> keep) {
    const Families& f = part.families;
    std::vector<std::vector<int>> graph(f.variables);
    for (int i = 0; i < f.size(); ++i)
        if (keep[i]) graph[f.child[i]].insert(graph[f.child[i]].end(), f.parents(i).begin(), f.parents(i).end());
    for (auto& parents : graph) {
        std::sort(parents.begin(), parents.end());
        parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    }
    std::vector<Part> out;
    std::vector<int> place(f.variables, -1);
    for (const std::vector<int>& members : components(graph)) {
        Part own;
        for (std::size_t k = 0; k < members.size(); ++k) place[members[k]] = static_cast<int>(k);
        for (int v : members) {
            own.variables.push_back(part.variables[v]);
            std::vector<std::pair<ListedSet, int>> left;
            for (int i = f.first[v]; i < f.first[v + 1]; ++i) {
                if (!keep[i]) continue;
                ListedSet set{part.sets[v][i - f.first[v]].score, {}};
                for (int p : f.parents(i))
                    if (place[p] >= 0) set.parents.push_back(place[p]);
                left.emplace_back(std::move(set), part.origin[v][i - f.first[v]]);
            }
            // Best first; among equals the smaller first, which may be another order now that parents are gone.
            std::stable_sort(left.begin(), left.end(), [](auto& a, auto& b) {
                return a.first.score != b.first.score ? a.first.score > b.first.score
                                                      : a.first.parents.size() < b.first.parents.size();
            });
            own.sets.emplace_back();
            own.origin.emplace_back();
            for (auto& [set, origin] : left) {
                own.sets.back().push_back(std::move(set));
                own.origin.back().push_back(origin);
            }
        }
        drop_dominated(own);
        own.families = flat(own.sets);
        for (int v : members) place[v] = -1;
        out.push_back(std::move(own));
    }
    return out;
}

std::vector<int> best_order(const Part& part, const ClimbRequest& request, Team& team, Control& control) {
    const OrderTables tables(part.sets);
    const std::size_t given = request.orders.size(), weighted = request.weights.empty() ? 0 : 1;
    std::vector<std::pair<double, std::vector<int>>> ended(given + weighted + request.random);
    team.run(ended.size(), [&](int, std::size_t task) {
        OrderSearch one(tables, request.seed + task);
        if (task < given) {
            one.start_from_order(request.orders[task]);
        } else if (task < given + weighted) {
            std::vector<std::vector<double>> weights;
            for (int v = 0; v < part.families.variables; ++v)
                weights.emplace_back(request.weights.begin() + part.families.first[v],
                                     request.weights.begin() + part.families.first[v + 1]);
            one.start_from_weights(weights);
        }
        one.improve(static_cast<std::uint64_t>(request.patience) * tables.variables(),
                    [&] { return control.stop.load(std::memory_order_relaxed); });
        ended[task] = {one.score(), one.order()};
    });
    std::size_t first = 0;                               // a task that was stopped before it began has no order
    for (std::size_t i = 0; i < ended.size(); ++i)
        if (ended[first].second.empty() || (!ended[i].second.empty() && ended[i].first > ended[first].first)) first = i;
    return ended[first].second;
}

}  // namespace spinney
