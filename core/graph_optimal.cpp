// The best of all partitions of the parents' configurations, by dynamic programming over sets of configurations: the
// leaf that holds the first configuration may be any set of them, and the rest is parted as well as it can be.
// 3^q steps for q configurations; so far from greedy's way that the two can be compared.
#include <algorithm>
#include <bit>

#include "decision_graph.hpp"

namespace spinney {

Graph optimal_graph(const GraphData& data, LeafScore& score, int child, std::span<const int> parents) {
    std::size_t q = 1;
    for (int p : parents) q *= data.levels[p];
    const std::size_t width = score.width(), exponents = score.exponents();
    std::vector<double> sums(q * width, 0.0), parts(q * exponents);
    const GraphColumn& column = data.columns[child];
    for (std::size_t row = 0; row < data.rows; ++row) {
        std::size_t at = 0;
        for (int p : parents) at = at * data.levels[p] + data.columns[p].codes[row];
        double* own = sums.data() + at * width;
        if (column.values) {
            const double value = column.values[row];
            own[0] += 1, own[1] += value, own[2] += value * value;
        } else {
            own[column.codes[row]] += 1;
        }
    }
    for (std::size_t at = 0; at < q; ++at) {
        Box box;
        std::size_t rest = at;
        for (std::size_t i = parents.size(); i-- > 0; rest /= data.levels[parents[i]])
            box = box.with(parents[i], LevelSet{1} << rest % data.levels[parents[i]], data.levels[parents[i]]);
        score.read({box}, parts.data() + at * exponents);
    }

    const std::uint32_t all = (1u << q) - 1;
    std::vector<double> leaf(all + 1, 0.0), best(all + 1, 0.0), own(width + exponents);
    std::vector<std::uint32_t> first(all + 1, 0);        // the leaf of the lowest configuration
    for (std::uint32_t set = 1; set <= all; ++set) {
        std::fill(own.begin(), own.end(), 0.0);
        for (std::uint32_t rest = set; rest; rest &= rest - 1) {
            const int at = std::countr_zero(rest);
            for (std::size_t k = 0; k < width; ++k) own[k] += sums[at * width + k];
            for (std::size_t k = 0; k < exponents; ++k) own[width + k] += parts[at * exponents + k];
        }
        leaf[set] = score(own.data(), own.data() + width);
        best[set] = leaf[set], first[set] = set;
        const std::uint32_t low = set & (0 - set), others = set ^ low;
        for (std::uint32_t more = others; more;) {       // all subsets of the others but themselves, large ones first
            more = (more - 1) & others;
            const double value = leaf[low | more] + best[others ^ more];
            if (value > best[set] + no_gain) best[set] = value, first[set] = low | more;
        }
    }

    std::vector<int> leaf_of(q);
    std::vector<std::uint32_t> members;
    for (std::uint32_t rest = all; rest; rest &= ~first[rest]) {
        for (std::uint32_t set = first[rest]; set; set &= set - 1) leaf_of[std::countr_zero(set)] = static_cast<int>(members.size());
        members.push_back(first[rest]);
    }
    GraphBuilder builder(data);
    auto build = [&](auto& self, std::size_t depth, std::size_t at) -> int {
        if (depth == parents.size()) return builder.leaf(leaf_of[at]);
        std::vector<std::pair<LevelSet, int>> groups;
        const int levels = data.levels[parents[depth]];
        for (int k = 0; k < levels; ++k) groups.emplace_back(LevelSet{1} << k, self(self, depth + 1, at * levels + k));
        return builder.split(parents[depth], std::move(groups));
    };
    Graph graph;
    std::vector<int> numbers;
    graph.nodes = builder.finish(build(build, 0, 0), numbers);
    graph.value = best[all];
    for (int number : numbers) {
        std::vector<double> part(exponents, 0.0);
        for (std::uint32_t set = members[number]; set; set &= set - 1)
            for (std::size_t k = 0; k < exponents; ++k) part[k] += parts[std::countr_zero(set) * exponents + k];
        graph.exponents.push_back(score.spread(part.data()));
    }
    return graph;
}

}  // namespace spinney
