// SPDX-License-Identifier: BSD-2-Clause
// What makes a function code of the host and of the device: one word before it.
#pragma once

#ifdef __CUDACC__
#define TENON_DEVICE __host__ __device__
#else
#define TENON_DEVICE
#endif
