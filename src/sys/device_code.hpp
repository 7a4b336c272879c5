// SPDX-License-Identifier: BSD-2-Clause
// The word before a function that makes it code of the host and of the device.
#pragma once

#ifdef __CUDACC__
#define TENON_DEVICE __host__ __device__
#else
#define TENON_DEVICE
#endif
