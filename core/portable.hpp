// What compilers and machines name differently. Everything else in the core is standard C++20.
#pragma once

#include <cstddef>                                       // a header of the C library: it tells whether that is glibc

// Functions that must be part of the loop that calls them, so that they are compiled for the registers of that loop.
#if defined(_MSC_VER)
#define SPINNEY_INLINE __forceinline
#else
#define SPINNEY_INLINE [[gnu::always_inline]] inline
#endif

// Versions of a function for wider registers, by attributes and intrinsics of GCC and clang.
#if defined(__x86_64__) && defined(__GNUC__)
#define SPINNEY_X86 1
#endif

#if defined(__unix__) || defined(__APPLE__)
#define SPINNEY_POSIX 1                                  // fork, and threads with a stack of a chosen size
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SPINNEY_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPINNEY_SANITIZED 1
#endif

// The loops over many leaves at once are compiled for wide registers too and chosen when the library is loaded. That needs
// indirect functions, which are a feature of ELF and glibc, and are resolved before a sanitizer is ready.
#if defined(SPINNEY_X86) && defined(__ELF__) && defined(__GLIBC__) && !defined(SPINNEY_SANITIZED)
#define SPINNEY_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SPINNEY_CLONES
#endif
