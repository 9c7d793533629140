// One table, as the core sees it.
//
// Columns come from Python as they are (one byte a cell up to 256 levels, two above; continuous ones standardised) and
// are not copied. Beside discrete ones stand bitmaps, one per level, because counting by AND and popcount reads a bit a
// cell instead of a byte; columns with many levels have none, there a pass over the rows is cheaper. A bitmap is made
// when a call first needs it, and stays with the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "threads.hpp"

namespace spinney {

using Word = std::uint64_t;

struct Column {
    const std::uint8_t* narrow = nullptr;   // exactly one of the three is set
    const std::uint16_t* wide = nullptr;
    int levels = 0;                          // declared, not seen; 0: continuous
    const double* values = nullptr;          // standardised, less `centre`, so that squares do not swallow the spread
    double centre = 0;

    template <class F>
    decltype(auto) visit(F&& f) const { return narrow ? f(narrow) : f(wide); }
};

// A growing buffer of words, aligned for the widest load. Never shrinks: scratch is kept from call to call.
class WordBuffer {
public:
    Word* need(std::size_t words) {
        if (words > size_) {
            std::size_t bytes = (words * sizeof(Word) * 5 / 4 + 63) / 64 * 64;
            buffer_.reset(static_cast<Word*>(::operator new(bytes, alignment)));
            size_ = bytes / sizeof(Word);
        }
        return buffer_.get();
    }
    Word* get() const { return buffer_.get(); }

private:
    static constexpr std::align_val_t alignment{64};
    struct Free { void operator()(Word* p) const { ::operator delete(p, alignment); } };
    std::unique_ptr<Word, Free> buffer_;
    std::size_t size_ = 0;
};

class Data {
public:
    // Above this many levels a bitmap per level costs more than a pass over the rows.
    static constexpr int most_bitmap_levels = 24;

    Data(std::vector<Column> columns, std::size_t rows);
    // The bitmaps of these variables, where they are not there yet. Nothing else may read a variable before.
    void prepare(std::span<const int> variables, Team& team);

    int variables() const { return static_cast<int>(columns_.size()); }
    std::size_t rows() const { return rows_; }
    std::size_t words() const { return words_; }        // per bitmap, a multiple of 8, padded with zeros
    int levels(int v) const { return columns_[v].levels; }
    const Column& column(int v) const { return columns_[v]; }
    bool has_bitmaps(int v) const { return first_bitmap_[v] >= 0; }
    const Word* bitmap(int v, int level) const { return bitmaps_.get() + (first_bitmap_[v] + level) * words_; }
    const Word* all_rows() const { return bitmaps_.get(); }

private:
    void pack(int v);

    std::vector<Column> columns_;
    std::size_t rows_, words_;
    std::vector<std::ptrdiff_t> first_bitmap_;
    std::vector<char> ready_;
    WordBuffer bitmaps_;
};

}  // namespace spinney
