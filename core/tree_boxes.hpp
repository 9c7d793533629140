// The boxes of level sets that nodes of a tree can be, over the discrete parents of a family.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tree_column.hpp"

namespace spinney {

struct Split { std::uint32_t a, b; };

// The level sets of one discrete parent.
struct Sets {
    int nodes = 0;
    std::vector<std::uint32_t> first, single;            // splits of node i: [first[i], first[i+1]); the set of one level
    std::vector<Split> splits;
    std::vector<std::vector<int>> members;               // levels of every set, for reading a tree

    Sets(VariableKind kind, int levels) : single(levels) {
        if (kind == VariableKind::categorical) {
            nodes = (1 << levels) - 1;                   // node = mask - 1
            for (int mask = 1; mask <= nodes; ++mask) {
                first.push_back(static_cast<std::uint32_t>(splits.size()));
                int low = mask & -mask;                  // stays in the first part: every split once
                for (int sub = (mask - 1) & mask; sub; sub = (sub - 1) & mask)
                    if (sub & low) splits.push_back({std::uint32_t(sub - 1), std::uint32_t((mask ^ sub) - 1)});
                members.emplace_back();
                for (int k = 0; k < levels; ++k)
                    if (mask >> k & 1) members.back().push_back(k);
            }
            for (int k = 0; k < levels; ++k) single[k] = (1u << k) - 1;
        } else {
            std::map<std::pair<int, int>, std::uint32_t> number;
            for (int length = 1; length <= levels; ++length)
                for (int low = 0; low + length <= levels; ++low) {
                    first.push_back(static_cast<std::uint32_t>(splits.size()));
                    for (int cut = 1; cut < length; ++cut)
                        splits.push_back({number[{low, cut}], number[{low + cut, length - cut}]});
                    number[{low, length}] = nodes++;
                    members.emplace_back();
                    for (int k = low; k < low + length; ++k) members.back().push_back(k);
                }
            for (int k = 0; k < levels; ++k) single[k] = k;
        }
        first.push_back(static_cast<std::uint32_t>(splits.size()));
    }
};

inline const Sets& sets_of(VariableKind kind, int levels) {
    thread_local std::map<std::pair<int, int>, Sets> made;
    return made.try_emplace({static_cast<int>(kind), levels}, kind, levels).first->second;
}

// The block: shape of the discrete part of a family. The parent with the most sets is the last one, along which boxes
// are neighbours; its run is filled up to whole vectors where that wastes little. The whole space is box `root`.
struct Shape {
    std::vector<const Sets*> sets;                       // outer to inner
    std::vector<std::size_t> stride;
    std::size_t size = 1, inner = 1, root = 0;

    explicit Shape(std::span<const TreeColumn> parents) {
        for (const TreeColumn& p : parents) sets.push_back(&sets_of(p.kind, p.levels));
        stride.resize(sets.size());
        if (sets.empty()) return;
        inner = sets.back()->nodes;
        if (sets.size() > 1 && inner % 8 == 7) ++inner;
        stride.back() = 1;
        size = inner;
        for (std::size_t d = sets.size() - 1; d-- > 0; size *= sets[d]->nodes) stride[d] = size;
        for (std::size_t d = 0; d < sets.size(); ++d) root += (sets[d]->nodes - 1) * stride[d];
    }
    // Calls f(offset of the first box, digits of the outer parents) for every run of boxes along the last parent.
    template <class F>
    void rows(F&& f) const {
        std::vector<std::uint32_t> digit(sets.empty() ? 0 : sets.size() - 1, 0);
        for (std::size_t base = 0; base < size; base += inner) {
            f(base, digit);
            for (std::size_t d = digit.size(); d-- > 0;) {
                if (++digit[d] < static_cast<std::uint32_t>(sets[d]->nodes)) break;
                digit[d] = 0;
            }
        }
    }
    // From the boxes of single levels to all boxes: each is the union of the two parts of its first split. Several
    // arrays, one after another in memory, are added up together.
    template <class T>
    void add_up(T* sums, int arrays) const {
        if (sets.empty()) return;
        const Sets& last = *sets.back();
        const std::size_t inner = this->inner, next = size;
        rows([&](std::size_t base, const std::vector<std::uint32_t>& digit) {
            T* row = sums + base;
            for (std::size_t d = 0; d < digit.size(); ++d) {
                const Sets& own = *sets[d];
                if (own.first[digit[d]] == own.first[digit[d] + 1]) continue;
                Split split = own.splits[own.first[digit[d]]];
                const T* a = row - (digit[d] - split.a) * stride[d];
                const T* b = row - (digit[d] - split.b) * stride[d];
                for (int k = 0; k < arrays; ++k, row += next, a += next, b += next)
                    for (std::size_t i = 0; i < inner; ++i) row[i] = a[i] + b[i];
                return;
            }
            for (int k = 0; k < arrays; ++k, row += next)
                for (int i = 0; i < last.nodes; ++i)
                    if (last.first[i] < last.first[i + 1]) {
                        Split split = last.splits[last.first[i]];
                        row[i] = row[split.a] + row[split.b];
                    }
        });
    }
};

}  // namespace spinney
