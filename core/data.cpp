#include "data.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace spinney {

Data::Data(std::vector<Column> columns, std::size_t rows)
    : columns_(std::move(columns)), rows_(rows), words_((rows + 511) / 512 * 8), ready_(columns_.size(), 0) {
    std::ptrdiff_t bitmaps = 1;                          // the first one holds every row
    for (const Column& column : columns_) {
        bool packed = !column.values && column.levels <= most_bitmap_levels;
        first_bitmap_.push_back(packed ? bitmaps : -1);
        if (packed) bitmaps += column.levels;
    }
    Word* bits = bitmaps_.need(std::max<std::size_t>(8, bitmaps * words_));
    std::fill_n(bits, words_, Word{0});
    std::fill_n(bits, rows_ / 64, ~Word{0});
    if (rows_ % 64) bits[rows_ / 64] = (Word{1} << rows_ % 64) - 1;
}

void Data::prepare(std::span<const int> variables, Team& team) {
    std::vector<int> missing;
    for (int v : variables)
        if (!ready_[v]) missing.push_back(v);
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    if (missing.empty()) return;
    team.run(missing.size(), [&](int, std::size_t i) { pack(missing[i]); });
    for (int v : missing) ready_[v] = 1;
}

void Data::pack(int v) {
    if (columns_[v].values) return;
    columns_[v].visit([&](auto* values) {
        std::remove_cvref_t<decltype(*values)> largest = 0;      // its own narrow type: sixteen or more a step
        for (std::size_t row = 0; row < rows_; ++row) largest = std::max(largest, values[row]);
        if (rows_ && largest >= columns_[v].levels) throw std::invalid_argument("a code is not below its column's number of levels");
    });
    if (!has_bitmaps(v)) return;
    Word* own = bitmaps_.get() + first_bitmap_[v] * words_;
    const int levels = columns_[v].levels;
    columns_[v].visit([&](auto* values) {
        // A word of every level is gathered in L1 before it is stored once.
        Word word[most_bitmap_levels];
        for (std::size_t w = 0; w < words_; ++w) {
            std::fill_n(word, levels, Word{0});
            std::size_t first = std::min(w * 64, rows_), end = std::min(first + 64, rows_);
            for (std::size_t row = first; row < end; ++row) word[values[row]] |= Word{1} << (row & 63);
            for (int level = 0; level < levels; ++level) own[level * words_ + w] = word[level];
        }
    });
}

}  // namespace spinney
