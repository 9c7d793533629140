// Counting sort: by one joint code where there are few of them, else column by column from the last to the first.
#include "row_groups.hpp"

#include <algorithm>
#include <numeric>

namespace spinney {
namespace {

// The joint code of every row fits a table: its counts are the cells.
void by_joint_code(std::span<const PolyColumn* const> keys, std::size_t codes, RowGroups& groups) {
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
    for (std::size_t cell = 0; cell < codes; ++cell)
        if (place[cell] < place[cell + 1]) groups.cells.push_back({place[cell], place[cell + 1]});
    for (std::uint32_t row = 0; row < rows; ++row) groups.order[place[code[row]]++] = row;
}

void by_one_after_another(std::span<const PolyColumn* const> keys, RowGroups& groups) {
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
        const std::uint32_t row = groups.order[at], before = groups.order[at ? at - 1 : 0];
        if (at == 0 || std::ranges::any_of(keys, [&](const PolyColumn* key) { return key->codes[row] != key->codes[before]; }))
            groups.cells.push_back({at, at});
        groups.cells.back().end = at + 1;
    }
}

}  // namespace

RowGroups group_rows(std::span<const PolyColumn* const> discrete, std::size_t rows) {
    RowGroups groups;
    groups.order.resize(rows);
    double joint = 1;
    for (const PolyColumn* key : discrete) joint *= key->levels;
    if (joint <= static_cast<double>(rows) + 1024) by_joint_code(discrete, static_cast<std::size_t>(joint), groups);
    else by_one_after_another(discrete, groups);
    return groups;
}

}  // namespace spinney
