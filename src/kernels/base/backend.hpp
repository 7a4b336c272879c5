// SPDX-License-Identifier: BSD-2-Clause
// The backend that does the arithmetic of a kernel: plain loops that read like the mathematics
// (Reference, for tests), BLAS with own loops around it (Blas), oneDNN (OneDnn, float32 only),
// Tenon's direct convolution (Direct), or FFTW's fast Fourier transforms (Fftw); with Direct and
// Fftw all other kernels compute as with Blas. Auto is the default for the data type: oneDNN, if
// there is one, for float32, BLAS for float64, and for convolutions and Fourier transforms the
// special one where that is faster. On the device it is cuBLAS (Gemm; convolutions as columns and
// matrix products), cuDNN (Cudnn) or cuFFT's Fourier transforms (Cufft); with Cudnn and Cufft all
// other kernels compute as with Gemm. Auto is cuDNN there, and for Fourier transforms cuFFT where
// that should be faster.
#pragma once

#include "sys/memory/memory.hpp"

#include <string_view>

namespace tenon {

enum class Backend { Auto, Reference, Blas, OneDnn, Direct, Fftw, Cudnn, Cufft, Gemm };

// "auto", "reference", "blas", "onednn", "direct", "fftw", "cudnn", "cufft" or "gemm"; anything
// else is TENON_ERR_TYPE.
Backend parseBackend(std::string_view name);
const char* backendName(Backend backend);

bool isOfDevice(Backend backend); // Cudnn, Cufft or Gemm
// Whether this build has oneDNN, and a library with FFTW's interface.
bool hasOneDnn() noexcept;
bool hasFftw() noexcept;

// The backend of kernels that have no special one: Auto becomes the default for T in the space,
// Direct and Fftw become Blas, and Cudnn and Cufft become Gemm. TENON_ERR_SUPPORT for OneDnn with
// double, OneDnn and Fftw without their libraries, and a backend of the other space.
template <class T>
Backend resolveBackend(Backend backend, Space space = Space::Host);

} // namespace tenon
