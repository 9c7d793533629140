// Counting sort: by one joint code where there are few of them, else column by column from the last to the first.
#include "row_groups.hpp"

#include <algorithm>
#include <numeric>

namespace spinney {
namespace {

// The joint code of every row fits a table: its counts are the cells, or the runs.
void by_joint_code(std::span<const PolyColumn* const> keys, std::size_t codes, const PolyColumn* child, RowGroups& groups) {
    const std::size_t rows = groups.order.size();
    std::vector<std::uint32_t> code(rows, 0), place(codes + 1, 0);
    bool first = true;
    for (const PolyColumn* key : keys) {
        const auto levels = static_cast<std::uint32_t>(key->levels);
        if (first) std::copy(key->codes, key->codes + rows, code.begin());
        else
            for (std::size_t row = 0; row < rows; ++row) code[row] = code[row] * levels + key->codes[row];
        first = false;
    }
    for (std::uint32_t own : code) ++place[own + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    const std::size_t levels = child ? child->levels : 1;
    for (std::size_t cell = 0; cell < codes; cell += levels) {
        const std::uint32_t begin = place[cell], end = place[cell + levels], runs = static_cast<std::uint32_t>(groups.runs.size());
        if (begin == end) continue;
        if (child)
            for (std::size_t level = 0; level < levels; ++level)
                if (place[cell + level] < place[cell + level + 1])
                    groups.runs.push_back({static_cast<int>(level), place[cell + level], place[cell + level + 1]});
        groups.cells.push_back({begin, end, runs, static_cast<std::uint32_t>(groups.runs.size())});
    }
    for (std::uint32_t row = 0; row < rows; ++row) groups.order[place[code[row]]++] = row;
}

void by_one_after_another(std::span<const PolyColumn* const> keys, std::span<const PolyColumn* const> discrete, const PolyColumn* child,
                          RowGroups& groups) {
    const std::size_t rows = groups.order.size();
    std::iota(groups.order.begin(), groups.order.end(), 0u);
    std::vector<std::uint32_t> sorted(rows), place;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
        const std::uint16_t* codes = (*key)->codes;
        place.assign((*key)->levels + 1, 0);
        for (std::size_t row = 0; row < rows; ++row) ++place[codes[row] + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (std::uint32_t row : groups.order) sorted[place[codes[row]]++] = row;
        groups.order.swap(sorted);
    }
    for (std::uint32_t at = 0; at < rows; ++at) {
        const std::uint32_t row = groups.order[at], before = groups.order[at ? at - 1 : 0], runs = static_cast<std::uint32_t>(groups.runs.size());
        const bool fresh = at == 0 || std::ranges::any_of(discrete, [&](const PolyColumn* key) { return key->codes[row] != key->codes[before]; });
        if (fresh) groups.cells.push_back({at, at, runs, runs});
        if (child && (fresh || child->codes[row] != child->codes[before])) {
            groups.runs.push_back({child->codes[row], at, at});
            groups.cells.back().last_run = runs + 1;
        }
        groups.cells.back().end = at + 1;
        if (child) groups.runs.back().end = at + 1;
    }
}

}  // namespace

RowGroups group_rows(std::span<const PolyColumn* const> discrete, const PolyColumn* child, std::size_t rows) {
    RowGroups groups;
    std::vector<const PolyColumn*> keys(discrete.begin(), discrete.end());
    if (child) keys.push_back(child);
    groups.order.resize(rows);
    double joint = 1;
    for (const PolyColumn* key : keys) joint *= key->levels;
    if (joint <= static_cast<double>(rows) + 1024) by_joint_code(keys, static_cast<std::size_t>(joint), child, groups);
    else by_one_after_another(keys, discrete, child, groups);
    return groups;
}

}  // namespace spinney
