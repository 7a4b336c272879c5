// SPDX-License-Identifier: BSD-2-Clause
// Macros for device code: the attribute of functions that run on host and device, and pragmas to
// unroll a loop, or not, in device code.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define TENON_FOR_DEVICE // a compiler for device code
#define TENON_DEVICE __host__ __device__
#define TENON_UNROLL _Pragma("unroll")
#define TENON_KEEP_LOOP _Pragma("unroll 1")
#else
#define TENON_DEVICE
#define TENON_UNROLL
#define TENON_KEEP_LOOP
#endif
