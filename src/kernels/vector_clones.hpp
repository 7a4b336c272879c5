// SPDX-License-Identifier: BSD-2-Clause
// TENON_VECTOR_CLONES before a function: it is compiled twice, for the processor's wide vectors and
// for any processor, with all that it calls inlined, and the loader takes the one that fits. (Tenon
// is built for any x86-64. Sanitizers cannot run in the choice that the loader makes.)
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TENON_VECTOR_CLONES __attribute__((flatten, target_clones("avx2", "default")))
#else
#define TENON_VECTOR_CLONES
#endif
