// SPDX-License-Identifier: BSD-2-Clause
// Names of the backends, and resolveBackend(), which replaces the backend that the user requested
// by one that can compute a given kernel, or throws an error with the reason. Convolutions and
// Fourier transforms handle their special backends (direct, cuDNN, FFTW, cuFFT) before they call
// resolveBackend().
#include "kernels/base/backend.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace tenon {

namespace {

// The order in which an error lists the names.
constexpr std::array kBackends{Backend::Auto,   Backend::Reference, Backend::Blas,
                               Backend::OneDnn, Backend::Direct,    Backend::Fftw,
                               Backend::Cudnn,  Backend::Cufft,     Backend::Gemm};

void checkSpace(Backend backend, Space space) {
  if (backend == Backend::Auto || isOfDevice(backend) == (space == Space::Device))
    return;
  throw Error(
      TENON_ERR_SUPPORT,
      space == Space::Device
          ? fmt::format("backend '{}' computes on the host; use 'auto', 'cudnn', 'cufft' or "
                        "'gemm' on the device, or the space host",
                        backendName(backend))
          : fmt::format("backend '{}' computes on the device; use 'auto', 'onednn', "
                        "'blas', 'direct', 'fftw' or 'reference' on the host, or the space device",
                        backendName(backend)));
}

} // namespace

const char* backendName(Backend backend) {
  switch (backend) {
  case Backend::Auto:
    return "auto";
  case Backend::Reference:
    return "reference";
  case Backend::Blas:
    return "blas";
  case Backend::OneDnn:
    return "onednn";
  case Backend::Direct:
    return "direct";
  case Backend::Fftw:
    return "fftw";
  case Backend::Cudnn:
    return "cudnn";
  case Backend::Cufft:
    return "cufft";
  case Backend::Gemm:
    return "gemm";
  }
  throw Error(TENON_ERR_INTERNAL, fmt::format("backend number {} has no name", int(backend)));
}

Backend parseBackend(std::string_view name) {
  std::string names;
  for (Backend backend : kBackends) {
    if (name == backendName(backend))
      return backend;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", backendName(backend));
  }
  throw Error(TENON_ERR_TYPE, fmt::format("unknown backend '{}'; use one of {}", name, names));
}

bool isOfDevice(Backend backend) {
  return backend == Backend::Cudnn || backend == Backend::Cufft || backend == Backend::Gemm;
}

template <class T>
Backend resolveBackend(Backend backend, Space space) {
  checkSpace(backend, space);
  // On the device Gemm is the only backend of all kernels. A kernel that cuDNN or cuFFT computes
  // has been created before it would get to this function.
  if (space == Space::Device)
    return Backend::Gemm;
  constexpr bool isDouble = std::is_same_v<T, double>;
  if (backend == Backend::Auto)
    return isDouble || !hasOneDnn() ? Backend::Blas : Backend::OneDnn;
  if (backend == Backend::Fftw && !hasFftw())
    throw Error(
        TENON_ERR_SUPPORT,
        "backend 'fftw' needs FFTW, which this build does not have; use 'auto' or 'blas', or "
        "build with TENON_FFTW=ON");
  // The kernel that resolves its backend here has no direct or FFTW version of its own.
  if (backend == Backend::Direct || backend == Backend::Fftw)
    return Backend::Blas;
  if (backend == Backend::OneDnn && isDouble)
    throw Error(
        TENON_ERR_SUPPORT,
        "backend 'onednn' does not support float64; use 'blas', 'reference' or 'auto', or float32");
  if (backend == Backend::OneDnn && !hasOneDnn())
    throw Error(TENON_ERR_SUPPORT,
                "backend 'onednn' needs oneDNN, which this build does not have; use 'auto' or "
                "'blas', or build with TENON_ONEDNN=ON");
  return backend;
}

template Backend resolveBackend<float>(Backend, Space);
template Backend resolveBackend<double>(Backend, Space);

} // namespace tenon
