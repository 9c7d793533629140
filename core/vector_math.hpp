// e^x and log x in loops over many numbers: a loop of these is made of vector instructions, one of std::exp is not.
#pragma once

#include <bit>
#include <cstdint>

#include "portable.hpp"

namespace spinney {

// e^x for x <= 0, below 2 ulps; what is under -700 counts as e^-700, far below the precision of a sum that holds a 1.
// 2^k by the exponent bits, e^r by its series.
SPINNEY_INLINE double exp_negative(double x) {
    constexpr double magic = 6755399441055744.0;         // 1.5 * 2^52: adding it leaves the nearest whole number in the low bits
    x = x < -700 ? -700 : x;
    const double rounded = x * 1.4426950408889634 + magic, k = rounded - magic;
    const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * std::bit_cast<double>((std::bit_cast<std::int64_t>(rounded) + 1023) << 52);
}

// log x for normal x > 0, to 2e-16 of max(1, |log x|): x = 2^k m, m from 1/sqrt 2 to sqrt 2, and log m =
// 2 artanh((m-1)/(m+1)) by its series.
SPINNEY_INLINE double log_positive(double x) {
    constexpr std::uint64_t one = std::uint64_t{1023} << 52, low = 0x3fe6a09e667f3bcd;    // bits of 1 and of 1/sqrt 2
    constexpr std::uint64_t whole = std::uint64_t{1075} << 52;                            // of 2^52: its low bits count units
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x), power = (bits + (one - low)) >> 52;
    const double k = std::bit_cast<double>(power | whole) - (4503599627370496.0 + 1023);
    const double m = std::bit_cast<double>(bits + one - (power << 52)), f = m - 1, s = f / (m + 1), z = s * s;
    double p = 2.0 / 21;
    p = p * z + 2.0 / 19;
    p = p * z + 2.0 / 17;
    p = p * z + 2.0 / 15;
    p = p * z + 2.0 / 13;
    p = p * z + 2.0 / 11;
    p = p * z + 2.0 / 9;
    p = p * z + 2.0 / 7;
    p = p * z + 2.0 / 5;
    p = p * z + 2.0 / 3;
    const double more = s * z * p + k * 1.90821492927058770002e-10;
    return k * 6.93147180369123816490e-01 + (2 * s + more);
}

}  // namespace spinney
