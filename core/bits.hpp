// Counting by AND and popcount: the innermost loop of scoring, with the widest instructions of the machine.
#pragma once

#include "data.hpp"

namespace spinney::bits {

// counts[i] += popcount(cell & others[i]) over the words.  REQUIRES: words % 8 == 0, pointers aligned to 64 bytes.
extern void (*const and_counts)(const Word* cell, const Word* const* others, int n, std::size_t words,
                                std::uint32_t* counts);

// out = a & b; returns its popcount.
extern std::uint32_t (*const and_into)(const Word* a, const Word* b, std::size_t words, Word* out);

// A cell with fewer rows than words * list_share is cheaper as a list of rows than as a bitmap (measured, bench/).
extern const double list_share;

}  // namespace spinney::bits
