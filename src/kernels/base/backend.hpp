// SPDX-License-Identifier: BSD-2-Clause
// The backend that does the arithmetic of a kernel.
// Host:   Reference  plain loops that read like the mathematics, for tests
//         Blas       BLAS, with Tenon's own loops around it
//         OneDnn     oneDNN, float32 only
//         Direct     Tenon's direct convolution; all other kernels as with Blas
//         Fftw       Fourier transforms by FFTW; all other kernels as with Blas
// Device: Gemm       cuBLAS; convolutions as im2col and matrix products
//         Cudnn      convolutions by cuDNN; all other kernels as with Gemm
//         Cufft      Fourier transforms by cuFFT; all other kernels as with Gemm
// Auto on the host is oneDNN (if built in) for float32 and BLAS for float64, or Direct and Fftw
// where they are faster. Auto on the device is cuDNN, and cuFFT where it should be faster.
#pragma once

#include "sys/memory/memory.hpp"

#include <string_view>

namespace tenon {

// The setting `backend` of a layer. Auto is resolved to one of the others when a kernel is made.
enum class Backend { Auto, Reference, Blas, OneDnn, Direct, Fftw, Cudnn, Cufft, Gemm };

// The names are "auto", "reference", "blas", "onednn", "direct", "fftw", "cudnn", "cufft" and
// "gemm"; any other name is TENON_ERR_TYPE.
Backend parseBackend(std::string_view name);
const char* backendName(Backend backend);

bool isOfDevice(Backend backend); // Cudnn, Cufft or Gemm
// Whether this build includes oneDNN, and a library with FFTW's interface.
bool hasOneDnn() noexcept;
bool hasFftw() noexcept;

// The backend of kernels without a special one: Auto becomes the default for T in the space, Direct
// and Fftw become Blas, and Cudnn and Cufft become Gemm. Throws TENON_ERR_SUPPORT for OneDnn with
// double, for OneDnn and Fftw in a build without their library, and for a backend of the other
// space.
template <class T>
Backend resolveBackend(Backend backend, Space space = Space::Host);

} // namespace tenon
