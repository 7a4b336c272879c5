// SPDX-License-Identifier: BSD-2-Clause
// Who does the arithmetic of a kernel: plain loops that read like the mathematics (Reference, for
// tests), BLAS with own loops around it (Blas), oneDNN (OneDnn, float32 only), Tenon's direct convolution
// (Direct), or FFTW's fast Fourier transforms (Fftw); with these two all other kernels compute as with Blas.
// Auto is the default for the data type: oneDNN for float32, BLAS for float64, and for convolutions and
// Fourier transforms the special one where that is faster.
#pragma once

#include <string_view>

namespace tenon {

enum class Backend { Auto, Reference, Blas, OneDnn, Direct, Fftw };

// "auto", "reference", "blas", "onednn", "direct" or "fftw"; anything else is TENON_ERR_TYPE.
Backend parseBackend(std::string_view name);
const char* backendName(Backend backend);

// Whether this build has a library with FFTW's interface.
bool hasFftw() noexcept;

// For all that has no special kernel: Auto becomes the default for T, Direct and Fftw become Blas. OneDnn with double
// and Fftw without the library are TENON_ERR_SUPPORT.
template <class T>
Backend resolveBackend(Backend backend);

} // namespace tenon
