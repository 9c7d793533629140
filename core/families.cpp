#include "families.hpp"

#include <cstdint>

namespace spinney {

Families flat(const ListedSets& sets) {
    Families all;
    all.variables = static_cast<int>(sets.size());
    all.first.push_back(0);
    all.at.push_back(0);
    for (std::size_t v = 0; v < sets.size(); ++v) {
        for (const ListedSet& set : sets[v]) {
            all.child.push_back(static_cast<int>(v));
            all.cost.push_back(sets[v].front().score - set.score);
            all.members.insert(all.members.end(), set.parents.begin(), set.parents.end());
            all.at.push_back(static_cast<int>(all.members.size()));
        }
        all.first.push_back(all.size());
    }
    return all;
}

std::vector<std::vector<int>> undominated(const ListedSets& sets) {
    std::vector<std::vector<int>> kept(sets.size());
    std::vector<int> bit(sets.size());
    for (std::size_t v = 0; v < sets.size(); ++v) {
        std::fill(bit.begin(), bit.end(), -1);
        int bits = 0;
        for (const ListedSet& set : sets[v])
            for (int p : set.parents)
                if (bit[p] < 0) bit[p] = bits++;
        const std::size_t words = bits / 64 + 1;
        std::vector<std::uint64_t> masks, own(words);    // of the kept ones, one after another
        SmallSets small;
        for (std::size_t i = 0; i < sets[v].size(); ++i) {
            std::fill(own.begin(), own.end(), 0);
            for (int p : sets[v][i].parents) own[bit[p] / 64] |= std::uint64_t{1} << (bit[p] % 64);
            const bool few = SmallSets::small(sets[v][i].parents);
            bool dominated = few && small.one_within(sets[v][i].parents);
            for (std::size_t k = 0; !few && k < masks.size() && !dominated; k += words) {
                dominated = true;
                for (std::size_t w = 0; w < words && dominated; ++w) dominated = !(masks[k + w] & ~own[w]);
            }
            if (dominated) continue;
            small.add(sets[v][i].parents);
            kept[v].push_back(static_cast<int>(i));
            masks.insert(masks.end(), own.begin(), own.end());
        }
    }
    return kept;
}

// Tarjan (1972), with a stack of its own: a path may run through all variables.
std::vector<std::vector<int>> components(const std::vector<std::vector<int>>& graph) {
    const int n = static_cast<int>(graph.size());
    std::vector<std::vector<int>> found;
    std::vector<int> number(n, -1), low(n), next(n, 0), open, path;
    std::vector<char> waiting(n, 0);
    int count = 0;
    for (int root = 0; root < n; ++root) {
        if (number[root] >= 0) continue;
        path.push_back(root);
        while (!path.empty()) {
            const int v = path.back();
            if (number[v] < 0) {
                number[v] = low[v] = count++;
                open.push_back(v);
                waiting[v] = 1;
            }
            if (next[v] < static_cast<int>(graph[v].size())) {
                const int w = graph[v][next[v]++];
                if (number[w] < 0) path.push_back(w);
                else if (waiting[w]) low[v] = std::min(low[v], number[w]);
                continue;
            }
            path.pop_back();
            if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
            if (low[v] < number[v]) continue;
            std::vector<int> own;
            for (int w = -1; w != v;) {
                w = open.back();
                open.pop_back();
                waiting[w] = 0;
                own.push_back(w);
            }
            std::sort(own.begin(), own.end());
            found.push_back(std::move(own));
        }
    }
    return found;
}

std::vector<int> along(const Families& f, const std::vector<int>& order) {
    std::vector<char> before(f.variables, 0);
    std::vector<int> chosen(f.variables, -1);
    for (int v : order) {
        for (int i = f.first[v]; i < f.first[v + 1] && chosen[v] < 0; ++i) {
            auto parents = f.parents(i);
            if (std::all_of(parents.begin(), parents.end(), [&](int p) { return before[p]; })) chosen[v] = i;
        }
        before[v] = 1;
    }
    return chosen;
}

std::vector<int> closing(const Families& f, std::vector<char> alive) {
    const int n = f.variables;
    std::vector<int> dead, count(n);
    for (bool again = true; again;) {
        again = false;
        std::vector<std::vector<int>> children(n);       // over edges that every alive family of the child has
        for (int v = 0; v < n; ++v) {
            int families = 0;
            std::fill(count.begin(), count.end(), 0);
            for (int i = f.first[v]; i < f.first[v + 1]; ++i) {
                if (!alive[i]) continue;
                ++families;
                for (int p : f.parents(i)) ++count[p];
            }
            for (int p = 0; p < n && families; ++p)
                if (count[p] == families) children[p].push_back(v);
        }
        std::vector<char> below(n);
        std::vector<int> open;
        for (int v = 0; v < n; ++v) {
            std::fill(below.begin(), below.end(), 0);
            open.assign(1, v);
            while (!open.empty()) {
                const int u = open.back();
                open.pop_back();
                for (int w : children[u])
                    if (!below[w]) below[w] = 1, open.push_back(w);
            }
            for (int i = f.first[v]; i < f.first[v + 1]; ++i) {
                auto parents = f.parents(i);
                if (!alive[i] || std::none_of(parents.begin(), parents.end(), [&](int p) { return below[p]; })) continue;
                alive[i] = 0;
                dead.push_back(i);
                again = true;
            }
        }
    }
    return dead;
}

}  // namespace spinney
