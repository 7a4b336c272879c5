// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/backend.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace tenon {

namespace {

constexpr std::array kBackends{Backend::Auto,   Backend::Reference, Backend::Blas,
                               Backend::OneDnn, Backend::Direct,    Backend::Fftw};

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
  }
  throw Error(TENON_ERR_INTERNAL, fmt::format("backend number {} has no name", int(backend)));
}

Backend parseBackend(std::string_view name) {
  std::string known;
  for (Backend backend : kBackends) {
    if (name == backendName(backend))
      return backend;
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", backendName(backend));
  }
  throw Error(TENON_ERR_TYPE, fmt::format("unknown backend '{}'; use one of {}", name, known));
}

template <class T>
Backend resolveBackend(Backend backend) {
  constexpr bool isDouble = std::is_same_v<T, double>;
  if (backend == Backend::Auto)
    return isDouble ? Backend::Blas : Backend::OneDnn;
  if (backend == Backend::Fftw && !hasFftw())
    throw Error(
        TENON_ERR_SUPPORT,
        "backend 'fftw' needs FFTW, which this build does not have; use 'auto' or 'blas', or "
        "build with TENON_FFTW=ON");
  if (backend == Backend::Direct || backend == Backend::Fftw)
    return Backend::Blas;
  if (backend == Backend::OneDnn && isDouble)
    throw Error(
        TENON_ERR_SUPPORT,
        "backend 'onednn' does not support float64; use 'blas', 'reference' or 'auto', or float32");
  return backend;
}

template Backend resolveBackend<float>(Backend);
template Backend resolveBackend<double>(Backend);

} // namespace tenon
