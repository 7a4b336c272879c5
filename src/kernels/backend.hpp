// SPDX-License-Identifier: BSD-2-Clause
// Who does the arithmetic of a kernel: plain loops that read like the mathematics (Reference, for
// tests), BLAS with own loops around it (Blas), or oneDNN (OneDnn, float32 only). Auto is the
// default for the data type: oneDNN for float32, BLAS for float64.
#pragma once

#include <string_view>

namespace tenon {

enum class Backend { Auto, Reference, Blas, OneDnn };

// "auto", "reference", "blas" or "onednn"; anything else is TENON_ERR_TYPE.
Backend parseBackend(std::string_view name);
const char* backendName(Backend backend);

// Auto becomes the default for T. OneDnn with double is TENON_ERR_SUPPORT.
template <class T>
Backend resolveBackend(Backend backend);

} // namespace tenon
