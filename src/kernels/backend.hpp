// SPDX-License-Identifier: BSD-2-Clause
// Who does the arithmetic of a kernel: plain loops that read like the mathematics (Reference, for
// tests), BLAS with own loops around it (Blas), oneDNN (OneDnn, float32 only), or Tenon's direct
// convolution (Direct; all that is no convolution is computed as with Blas). Auto is the default for the data
// type: oneDNN for float32, BLAS for float64, and for convolutions the direct one where that is faster.
#pragma once

#include <string_view>

namespace tenon {

enum class Backend { Auto, Reference, Blas, OneDnn, Direct };

// "auto", "reference", "blas", "onednn" or "direct"; anything else is TENON_ERR_TYPE.
Backend parseBackend(std::string_view name);
const char* backendName(Backend backend);

// For all that is no convolution: Auto becomes the default for T, Direct becomes Blas. OneDnn with double is TENON_ERR_SUPPORT.
template <class T>
Backend resolveBackend(Backend backend);

} // namespace tenon
