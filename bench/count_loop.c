/* The bare counting loop: what any table score has to do at least.

   In:  columns of one-byte codes, their numbers of levels, a list of families (child, number of parents, parents).
   Out: the number of rows in each family's first cell, so that the counting can be checked and is not optimised away.
   No score is computed, nothing is shared between families: one memset and one pass over the rows for each. */

#include <stdint.h>
#include <string.h>

/* families: four numbers each: child, parents (0, 1 or 2), first parent, second parent. counts: room for the largest table. */
void count_families(const uint8_t *codes, int64_t rows, const int32_t *levels, const int32_t *families,
                    int64_t n_families, uint32_t *counts, uint32_t *first_cells) {
    for (int64_t f = 0; f < n_families; ++f) {
        const int32_t *family = families + 4 * f;
        const uint8_t *child = codes + family[0] * rows;
        const uint32_t r = (uint32_t)levels[family[0]];
        if (family[1] == 0) {
            memset(counts, 0, r * sizeof *counts);
            for (int64_t i = 0; i < rows; ++i) ++counts[child[i]];
        } else if (family[1] == 1) {
            const uint8_t *a = codes + family[2] * rows;
            memset(counts, 0, (size_t)levels[family[2]] * r * sizeof *counts);
            for (int64_t i = 0; i < rows; ++i) ++counts[a[i] * r + child[i]];
        } else {
            const uint8_t *a = codes + family[2] * rows;
            const uint8_t *b = codes + family[3] * rows;
            const uint32_t s = (uint32_t)levels[family[3]];
            memset(counts, 0, (size_t)levels[family[2]] * s * r * sizeof *counts);
            for (int64_t i = 0; i < rows; ++i) ++counts[(a[i] * s + b[i]) * r + child[i]];
        }
        first_cells[f] = counts[0];
    }
}

/* Reads every word once and keeps eight sums going: as fast as one thread gets bytes out of memory in plain C. */
uint64_t read_words(const uint64_t *words, int64_t n) {
    uint64_t sums[8] = {0};
    for (int64_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) sums[k] += words[i + k];
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}
