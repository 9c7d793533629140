// One portable version, and three for x86 that are chosen once when the library is loaded.
#include "bits.hpp"

#include <bit>

#include "portable.hpp"

#ifdef SPINNEY_X86
#include <immintrin.h>
#endif

namespace spinney::bits {
namespace {

SPINNEY_INLINE void count_loop(const Word* cell, const Word* const* others, int n, std::size_t words,
                                              std::uint32_t* counts) {
    for (int i = 0; i < n; ++i) {
        const Word* other = others[i];
        std::uint32_t count = 0;
        for (std::size_t w = 0; w < words; ++w) count += std::popcount(cell[w] & other[w]);
        counts[i] += count;
    }
}

SPINNEY_INLINE std::uint32_t into_loop(const Word* a, const Word* b, std::size_t words, Word* out) {
    std::uint32_t count = 0;
    for (std::size_t w = 0; w < words; ++w) {
        out[w] = a[w] & b[w];
        count += std::popcount(out[w]);
    }
    return count;
}

void count_portable(const Word* c, const Word* const* o, int n, std::size_t w, std::uint32_t* out) {
    count_loop(c, o, n, w, out);
}
std::uint32_t into_portable(const Word* a, const Word* b, std::size_t w, Word* out) { return into_loop(a, b, w, out); }

#ifdef SPINNEY_X86
__attribute__((target("popcnt"))) void count_popcnt(const Word* c, const Word* const* o, int n, std::size_t w,
                                                    std::uint32_t* out) {
    count_loop(c, o, n, w, out);
}
__attribute__((target("popcnt"))) std::uint32_t into_popcnt(const Word* a, const Word* b, std::size_t w, Word* out) {
    return into_loop(a, b, w, out);
}

// Bytes are looked up by nibble and added by SAD: Mula, Kurz and Lemire (2018), section 3.
__attribute__((target("avx2,popcnt"))) inline __m256i popcount_bytes(__m256i x) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                           2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(x, low)),
                           _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}
__attribute__((target("avx2,popcnt"))) void count_avx2(const Word* cell, const Word* const* others, int n,
                                                       std::size_t words, std::uint32_t* counts) {
    const __m256i zero = _mm256_setzero_si256();
    for (int i = 0; i < n; ++i) {
        const Word* other = others[i];
        __m256i sum = zero;
        for (std::size_t w = 0; w < words; w += 8) {
            auto at = [&](std::size_t k) __attribute__((target("avx2,popcnt"))) {
                return popcount_bytes(_mm256_and_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(cell + k)),
                                                       _mm256_load_si256(reinterpret_cast<const __m256i*>(other + k))));
            };
            sum = _mm256_add_epi64(sum, _mm256_sad_epu8(_mm256_add_epi8(at(w), at(w + 4)), zero));
        }
        counts[i] += static_cast<std::uint32_t>(_mm256_extract_epi64(sum, 0) + _mm256_extract_epi64(sum, 1) +
                                                _mm256_extract_epi64(sum, 2) + _mm256_extract_epi64(sum, 3));
    }
}

__attribute__((target("avx512f,avx512vpopcntdq"))) void count_avx512(const Word* cell, const Word* const* others, int n,
                                                                     std::size_t words, std::uint32_t* counts) {
    int i = 0;
    for (; i + 4 <= n; i += 4) {                         // four chains hide the latency of the adds
        __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
        for (std::size_t w = 0; w < words; w += 8) {
            const __m512i x = _mm512_load_si512(cell + w);
            a = _mm512_add_epi64(a, _mm512_popcnt_epi64(_mm512_and_si512(x, _mm512_load_si512(others[i] + w))));
            b = _mm512_add_epi64(b, _mm512_popcnt_epi64(_mm512_and_si512(x, _mm512_load_si512(others[i + 1] + w))));
            c = _mm512_add_epi64(c, _mm512_popcnt_epi64(_mm512_and_si512(x, _mm512_load_si512(others[i + 2] + w))));
            d = _mm512_add_epi64(d, _mm512_popcnt_epi64(_mm512_and_si512(x, _mm512_load_si512(others[i + 3] + w))));
        }
        counts[i] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(a));
        counts[i + 1] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(b));
        counts[i + 2] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(c));
        counts[i + 3] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(d));
    }
    for (; i < n; ++i) {
        __m512i a = _mm512_setzero_si512();
        for (std::size_t w = 0; w < words; w += 8)
            a = _mm512_add_epi64(a, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_load_si512(cell + w),
                                                                         _mm512_load_si512(others[i] + w))));
        counts[i] += static_cast<std::uint32_t>(_mm512_reduce_add_epi64(a));
    }
}
__attribute__((target("avx512f,avx512vpopcntdq"))) std::uint32_t into_avx512(const Word* a, const Word* b,
                                                                             std::size_t words, Word* out) {
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t w = 0; w < words; w += 8) {
        const __m512i x = _mm512_and_si512(_mm512_load_si512(a + w), _mm512_load_si512(b + w));
        _mm512_store_si512(out + w, x);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(x));
    }
    return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sum));
}
#endif

enum class Machine { portable, popcnt, avx2, avx512 };

Machine machine() {
#ifdef SPINNEY_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vpopcntdq")) return Machine::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) return Machine::avx2;
    if (__builtin_cpu_supports("popcnt")) return Machine::popcnt;
#endif
    return Machine::portable;
}

const Machine here = machine();

auto pick_counts() {
#ifdef SPINNEY_X86
    if (here == Machine::avx512) return count_avx512;
    if (here == Machine::avx2) return count_avx2;
    if (here == Machine::popcnt) return count_popcnt;
#endif
    return count_portable;
}
auto pick_into() {
#ifdef SPINNEY_X86
    if (here == Machine::avx512) return into_avx512;
    if (here != Machine::portable) return into_popcnt;
#endif
    return into_portable;
}

}  // namespace

void (*const and_counts)(const Word*, const Word* const*, int, std::size_t, std::uint32_t*) = pick_counts();
std::uint32_t (*const and_into)(const Word*, const Word*, std::size_t, Word*) = pick_into();
const double list_share = here == Machine::avx512 ? 0.25 : here == Machine::avx2 ? 0.5 : 1.0;

}  // namespace spinney::bits
