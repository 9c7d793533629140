// A set of parent configurations, as disjoint boxes. A decision graph may send any set to a leaf; where it came by
// splits and merges, few boxes hold it, however many configurations there are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace spinney {

using LevelSet = std::uint64_t;
constexpr int most_graph_levels = 64;

inline LevelSet all_levels(int levels) { return levels == 64 ? ~LevelSet{0} : (LevelSet{1} << levels) - 1; }

struct Limit {
    int parent;
    LevelSet levels;                                     // those that may be; never all and never none
};

struct Box {
    std::vector<Limit> limits;                           // sorted by parent; a parent without one may have any level
    double part = 1;                                     // of all configurations

    const LevelSet* limit_of(int parent) const {
        auto at = std::lower_bound(limits.begin(), limits.end(), parent, [](const Limit& l, int p) { return l.parent < p; });
        return at != limits.end() && at->parent == parent ? &at->levels : nullptr;
    }
    // The same box with this limit instead of its own.  REQUIRES: levels not empty.
    Box with(int parent, LevelSet levels, int all) const {
        Box box;
        bool placed = levels == all_levels(all);
        double own = all;
        for (const Limit& limit : limits) {
            if (!placed && limit.parent >= parent) box.limits.push_back({parent, levels}), placed = true;
            if (limit.parent == parent) own = std::popcount(limit.levels);
            else box.limits.push_back(limit);
        }
        if (!placed) box.limits.push_back({parent, levels});
        box.part = part * std::popcount(levels) / own;
        return box;
    }
};

using Region = std::vector<Box>;

inline LevelSet possible(const Region& region, int parent, int all) {
    LevelSet levels = 0;
    for (const Box& box : region) {
        const LevelSet* limit = box.limit_of(parent);
        if (!limit) return all_levels(all);
        levels |= *limit;
    }
    return levels;
}

inline Region narrowed(const Region& region, int parent, LevelSet levels, int all) {
    Region inside;
    for (const Box& box : region) {
        const LevelSet* limit = box.limit_of(parent);
        if (LevelSet both = limit ? *limit & levels : levels) inside.push_back(box.with(parent, both, all));
    }
    return inside;
}

inline double part_of(const Region& region) {
    double part = 0;
    for (const Box& box : region) part += box.part;
    return part;
}

// Do these boxes hold all of this one? What the first box leaves of it falls apart into boxes, which the others must hold.
inline bool holds(std::span<const Box> boxes, const Box& box, std::span<const int> levels) {
    for (; !boxes.empty(); boxes = boxes.subspan(1)) {
        const Box& first = boxes.front();
        bool meets = true;
        for (const Limit& limit : first.limits)
            if (const LevelSet* own = box.limit_of(limit.parent)) meets = meets && (*own & limit.levels);
        if (!meets) continue;
        Box left = box;
        for (const Limit& limit : first.limits) {
            const int all = levels[limit.parent];
            const LevelSet* mine = left.limit_of(limit.parent);
            const LevelSet own = mine ? *mine : all_levels(all);
            if (LevelSet outside = own & ~limit.levels)
                if (!holds(boxes.subspan(1), left.with(limit.parent, outside, all), levels)) return false;
            left = left.with(limit.parent, own & limit.levels, all);
        }
        return true;
    }
    return false;
}

// Is a configuration in the region whatever its level of this parent is?
inline bool indifferent(const Region& region, int parent, std::span<const int> levels) {
    const int all = levels[parent];
    for (const Box& box : region)
        if (const LevelSet* own = box.limit_of(parent))
            if (!holds(region, box.with(parent, all_levels(all) & ~*own, all), levels)) return false;
    return true;
}

}  // namespace spinney
