// Silander and Myllymaki (2006): the best network on W has a sink v, whose parents are the best set within W - v, and
// the rest is the best network on W - v. Only the value and the sink of every W are kept (9 bytes).
//
// The best set within each subset is not kept for all subsets at once: W is cut into its high bits h and its low
// bits. For one h, the best scores of a child over all low parts come from a max-transform over the low bits, which
// fits in the first-level cache and runs over neighbours in memory. Blocks with equally many high bits do not depend on each
// other and go to threads.
#include "search_dp.hpp"

#include <bit>
#include <cmath>
#include <numeric>

#include "parent_sets.hpp"

namespace spinney {
namespace {

constexpr double worst = -std::numeric_limits<double>::infinity();
constexpr int low_bits = 12;
using Mask = std::uint32_t;

struct Group {                                           // listed sets of one child with the same high bits
    Mask high;
    std::vector<std::pair<Mask, double>> sets;           // (low bits, score)
};

Mask mask_of(const ListedSet& set) {
    Mask mask = 0;
    for (int p : set.parents) mask |= Mask{1} << p;
    return mask;
}

// What some DAG loses against the best set of every child: greedily, the variable that loses least is next. 0 at a dead end.
double some_loss(const ListedSets& sets) {
    const int n = static_cast<int>(sets.size());
    double total = 0;
    Mask placed = 0;
    for (int step = 0; step < n; ++step) {
        double least = -worst;
        int next = -1;
        for (int v = 0; v < n; ++v) {
            if (placed >> v & 1) continue;
            auto own = std::ranges::find_if(sets[v], [&](const ListedSet& set) { return !(mask_of(set) & ~placed); });
            if (own == sets[v].end()) continue;
            double loss = sets[v].front().score - own->score;
            if (loss < least) least = loss, next = v;
        }
        if (next < 0) return 0;
        total += least;
        placed |= Mask{1} << next;
    }
    return total;
}

}  // namespace

double dp_bytes(int variables, int threads) {
    int low = std::min(variables, low_bits);
    return std::ldexp(9.0, variables) + std::ldexp(8.0 * threads * variables, low);
}

DpResult dp(const ListedSets& sets, Team& team, Control& control) {
    const int n = static_cast<int>(sets.size()), low = std::min(n, low_bits), high = n - low;
    const std::size_t width = std::size_t{1} << low, all = std::size_t{1} << n;
    std::vector<std::vector<Group>> groups(n);
    // Scores count from the best of their variable, and ties are in proportion to what good networks lose against that:
    // neither large scores nor listed sets that are never chosen blur small differences.
    double slack = tie * some_loss(sets);                // equal within this: the later variable is the sink
    std::vector<double> top(n, 0);
    for (int v = 0; v < n; ++v) {
        if (!sets[v].empty()) top[v] = sets[v].front().score;
        slack += 1e-15 * std::abs(top[v]);
        for (const ListedSet& set : sets[v]) {
            const Mask mask = mask_of(set);
            auto place = std::find_if(groups[v].begin(), groups[v].end(), [&](auto& g) { return g.high == mask >> low; });
            if (place == groups[v].end()) place = groups[v].insert(place, Group{mask >> low, {}});
            place->sets.emplace_back(mask & (width - 1), set.score - top[v]);
        }
    }

    std::unique_ptr<double[]> best(new double[all]);     // not initialised: every entry is written before it is read
    std::unique_ptr<std::uint8_t[]> sink(new std::uint8_t[all]);

    auto block = [&](Mask h, std::vector<double>& within) {
        double* own = best.get() + (std::size_t{h} << low);
        std::uint8_t* from = sink.get() + (std::size_t{h} << low);
        for (int v = 0; v < n; ++v) {
            double* value = within.data() + v * width;
            if (v >= low && !(h >> (v - low) & 1)) continue;
            std::fill_n(value, width, worst);
            for (const Group& group : groups[v])
                if (!(group.high & ~h))
                    for (auto [mask, score] : group.sets) value[mask] = std::max(value[mask], score);
            for (std::size_t bit = 1; bit < width; bit *= 2)
                for (std::size_t base = 0; base < width; base += 2 * bit)
                    for (std::size_t i = base; i < base + bit; ++i)
                        value[i + bit] = std::max(value[i + bit], value[i]);
        }
        std::fill_n(own, width, worst);
        std::fill_n(from, width, std::uint8_t{255});
        if (h == 0) own[0] = 0;
        for (int v = n - 1; v >= low; --v) {
            if (!(h >> (v - low) & 1)) continue;
            const double *rest = best.get() + (std::size_t(h ^ (Mask{1} << (v - low))) << low), *value = within.data() + v * width;
            for (std::size_t i = 0; i < width; ++i) {
                double sum = rest[i] + value[i];
                if (sum > own[i] + slack) own[i] = sum, from[i] = static_cast<std::uint8_t>(v);
            }
        }
        for (std::size_t i = 1; i < width; ++i)
            for (int v = low - 1; v >= 0; --v) {
                if (!(i >> v & 1)) continue;
                std::size_t rest = i ^ (std::size_t{1} << v);
                double sum = own[rest] + within[v * width + rest];
                if (sum > own[i] + slack) own[i] = sum, from[i] = static_cast<std::uint8_t>(v);
            }
    };

    control.total = std::uint64_t{1} << high;
    std::vector<std::vector<Mask>> by_count(high + 1);
    for (Mask h = 0; h < Mask{1} << high; ++h) by_count[std::popcount(h)].push_back(h);
    std::vector<std::vector<double>> within(team.size());
    for (auto& blocks : by_count)
        team.run(blocks.size(), [&](int thread, std::size_t task) {
            within[thread].resize(n * width);
            block(blocks[task], within[thread]);
            ++control.done;
        });

    DpResult result;
    result.parents.resize(n);
    result.stopped = control.stop;
    result.feasible = !result.stopped && best[all - 1] > worst;
    if (!result.feasible) return result;
    for (std::size_t left = all - 1; left;) {
        int v = sink[left];
        left ^= std::size_t{1} << v;
        const ListedSet* chosen = nullptr;
        double best_inside = worst;
        for (const ListedSet& set : sets[v]) {           // best first; among equals the smaller, then the earlier names
            if (set.score < best_inside - slack) break;
            bool inside = std::all_of(set.parents.begin(), set.parents.end(), [&](int p) { return left >> p & 1; });
            if (inside && (!chosen || std::pair(set.parents.size(), set.parents) < std::pair(chosen->parents.size(), chosen->parents)))
                chosen = &set;
            if (inside) best_inside = std::max(best_inside, set.score);
        }
        result.parents[v] = chosen->parents;
        result.score += chosen->score;
    }
    return result;
}

}  // namespace spinney
