#include "order_tables.hpp"

#include <cmath>
#include <random>

#include "families.hpp"

namespace spinney {

OrderTables::OrderTables(const ListedSets& sets) : sets_(sets), children_(sets.size()) {
    const int n = static_cast<int>(sets.size());
    std::mt19937_64 fixed(1);                            // for hashing; not the user's randomness
    double scale = 1, range = 1;
    for (int v = 0; v < n; ++v) {
        if (sets[v].empty()) continue;
        scale += std::abs(sets[v].front().score);
        range += sets[v].front().score - sets[v].back().score;
    }
    slack_ = 1e-11 * scale + 1e-14 * range;              // above all rounding, or a climb might not end
    for (int v = 0; v < n; ++v) {
        Child& child = children_[v];
        for (const ListedSet& set : sets[v]) child.candidates.insert(child.candidates.end(), set.parents.begin(), set.parents.end());
        std::sort(child.candidates.begin(), child.candidates.end());
        child.candidates.erase(std::unique(child.candidates.begin(), child.candidates.end()), child.candidates.end());
        const int candidates = static_cast<int>(child.candidates.size());
        child.words = std::max(1, (candidates + 63) / 64);
        child.first_gain = pairs_;
        pairs_ += candidates;
        for (int i = 0; i < candidates; ++i) child.names.push_back(fixed());

        // A set that scores no better than one within it is never the best. A large one is compared with the first ones only, which
        // keeps long lists cheap.
        constexpr std::size_t most_compared = 4096;
        std::vector<std::uint64_t> mask(child.words);
        SmallSets small;
        auto needless = [&](const ListedSet& set) {
            if (SmallSets::small(set.parents)) return small.one_within(set.parents);
            for (std::size_t k = 0; k < std::min(child.scores.size(), most_compared); ++k) {
                std::uint64_t outside = 0;
                for (int w = 0; w < child.words; ++w) outside |= child.masks[k * child.words + w] & ~mask[w];
                if (!outside) return true;
            }
            return false;
        };
        for (const ListedSet& set : sets[v]) {
            std::fill(mask.begin(), mask.end(), 0);
            for (int p : set.parents) {
                auto i = std::lower_bound(child.candidates.begin(), child.candidates.end(), p) - child.candidates.begin();
                mask[i / 64] |= bit(static_cast<int>(i));
            }
            if (needless(set)) continue;
            small.add(set.parents);
            child.masks.insert(child.masks.end(), mask.begin(), mask.end());
            child.scores.push_back(set.score);
        }
        child.holding_from.push_back(0);
        for (int i = 0; i < candidates; ++i) {
            for (std::size_t k = 0; k < child.scores.size(); ++k)
                if (child.masks[k * child.words + i / 64] & bit(i)) child.holding.push_back(static_cast<int>(k));
            child.holding_from.push_back(static_cast<int>(child.holding.size()));
        }
        for (int i = 0; i < candidates; ++i) {           // pruning may have left a candidate without a set
            const int from = child.holding_from[i];
            child.best_holding.push_back(from < child.holding_from[i + 1] ? child.holding[from]
                                                                          : static_cast<int>(child.scores.size()));
        }
        // No listed set is worse than all sets of all variables can make good.
        child.masks.insert(child.masks.end(), child.words, 0);
        child.scores.push_back((sets[v].empty() ? 0 : sets[v].back().score) - 2 * range);
    }
    for (int v = 0; v < n; ++v)
        for (std::size_t i = 0; i < children_[v].candidates.size(); ++i) {
            const int u = children_[v].candidates[i];
            auto relate = [](Child& one, int other) -> Relation& {
                auto place = std::find_if(one.relations.begin(), one.relations.end(), [&](auto& r) { return r.other == other; });
                if (place == one.relations.end()) place = one.relations.insert(place, Relation{other});
                return *place;
            };
            Relation &down = relate(children_[v], u), &up = relate(children_[u], v);
            down.as_parent = up.as_child = static_cast<int>(i);
            down.best_as_parent = up.best_as_child = children_[v].best_holding[i];
        }
}

}  // namespace spinney
