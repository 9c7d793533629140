// Counting sort: by one joint code where there are few of them, else column by column from the last to the first.
#include "row_groups.hpp"

#include <algorithm>
#include <numeric>

namespace spinney {
namespace {

// Rows in `from`, sorted by the code of each into `to`; equal codes keep their order.
template <class Code>
void sort_by(Code code, std::size_t codes, const std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) {
    std::vector<std::uint32_t> place(codes + 1, 0);
    for (std::uint32_t row : from) ++place[code(row) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (std::uint32_t row : from) to[place[code(row)]++] = row;
}

}  // namespace

RowGroups group_rows(std::span<const PolyColumn* const> discrete, const PolyColumn* child, std::size_t rows) {
    RowGroups groups;
    std::vector<const PolyColumn*> keys(discrete.begin(), discrete.end());
    if (child) keys.push_back(child);
    groups.order.resize(rows);
    std::iota(groups.order.begin(), groups.order.end(), 0u);
    double joint = 1;
    for (const PolyColumn* key : keys) joint *= key->levels;
    std::vector<std::uint32_t> code;                     // of every row
    const bool together = joint <= 4.0 * static_cast<double>(rows) + 1024;
    if (together) {
        code.assign(rows, 0);
        for (const PolyColumn* key : keys)
            for (std::size_t row = 0; row < rows; ++row) code[row] = code[row] * static_cast<std::uint32_t>(key->levels) + key->codes[row];
    }
    if (!keys.empty()) {
        std::vector<std::uint32_t> sorted(rows);
        if (together) {
            sort_by([&](std::uint32_t row) { return code[row]; }, static_cast<std::size_t>(joint), groups.order, sorted);
            groups.order.swap(sorted);
        } else {
            for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
                sort_by([&](std::uint32_t row) { return (*key)->codes[row]; }, (*key)->levels, groups.order, sorted);
                groups.order.swap(sorted);
            }
        }
    }
    const auto differ = [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::any_of(discrete, [&](const PolyColumn* key) { return key->codes[a] != key->codes[b]; });
    };
    for (std::uint32_t place = 0; place < rows; ++place) {
        const std::uint32_t row = groups.order[place], before = place ? groups.order[place - 1] : 0;
        const auto runs = static_cast<std::uint32_t>(groups.runs.size());
        bool fresh = place == 0;
        if (!fresh) fresh = together && code[row] == code[before] ? false : differ(row, before);
        if (fresh) groups.cells.push_back({place, place, runs, runs});
        RowCell& cell = groups.cells.back();
        if (child && (fresh || child->codes[row] != child->codes[before])) {
            groups.runs.push_back({child->codes[row], place, place});
            cell.last_run = runs + 1;
        }
        cell.end = place + 1;
        if (child) groups.runs.back().end = place + 1;
    }
    return groups;
}

}  // namespace spinney
