// SPDX-License-Identifier: BSD-2-Clause
// The word before a function that makes it code of the host and of the device, and those before a
// loop of device code that is to be unrolled, or not.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define TENON_FOR_DEVICE // the compiler is one of the device's
#define TENON_DEVICE __host__ __device__
#define TENON_UNROLL _Pragma("unroll")
#define TENON_KEEP_LOOP _Pragma("unroll 1")
#else
#define TENON_DEVICE
#define TENON_UNROLL
#define TENON_KEEP_LOOP
#endif
