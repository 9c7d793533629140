#include "data.hpp"

#include <algorithm>
#include <cstring>

namespace spinney {

Data::Data(std::vector<Column> columns, std::size_t rows)
    : columns_(std::move(columns)), rows_(rows), words_((rows + 511) / 512 * 8) {
    std::ptrdiff_t bitmaps = 1;                          // the first one holds every row
    for (const Column& column : columns_) {
        bool packed = column.levels <= most_bitmap_levels;
        first_bitmap_.push_back(packed ? bitmaps : -1);
        if (packed) bitmaps += column.levels;
    }
    Word* bits = bitmaps_.need(std::max<std::size_t>(8, bitmaps * words_));
    std::memset(bits, 0, bitmaps * words_ * sizeof(Word));
    for (std::size_t row = 0; row < rows_; ++row) bits[row >> 6] |= Word{1} << (row & 63);
    for (int v = 0; v < variables(); ++v) {
        if (!has_bitmaps(v)) continue;
        Word* own = bits + first_bitmap_[v] * words_;
        int levels = columns_[v].levels;
        columns_[v].visit([&](auto* values) {
            // A word of every level is gathered in registers or L1 before it is stored once.
            Word word[most_bitmap_levels];
            for (std::size_t w = 0; w * 64 < rows_; ++w) {
                std::fill_n(word, levels, Word{0});
                std::size_t end = std::min(rows_ - w * 64, std::size_t{64});
                for (std::size_t b = 0; b < end; ++b) word[values[w * 64 + b]] |= Word{1} << b;
                for (int level = 0; level < levels; ++level) own[level * words_ + w] = word[level];
            }
        });
    }
}

}  // namespace spinney
