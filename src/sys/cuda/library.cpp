// SPDX-License-Identifier: BSD-2-Clause
#include "sys/cuda/library.hpp"

#include "sys/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tenon::cuda {

namespace {

class Library {
public:
  // soname: with the version of the headers that the library was built with.
  Library(const char* title, std::string soname) : title_(title), soname_(std::move(soname)) {}

  template <class Function>
  Function find(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (!found)
      found = dlsym(opened(), name);
    if (!found)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} has no function {}: {}; install the version that Tenon was built "
                              "with ({})",
                              title_, name, dlerror(), soname_));
    return reinterpret_cast<Function>(found);
  }

private:
  void* opened() {
    if (!handle_)
      handle_ = dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_)
      throw Error(TENON_ERR_SUPPORT,
                  fmt::format("{} cannot be opened: {}; install it, or add its folder to "
                              "LD_LIBRARY_PATH",
                              title_, dlerror()));
    return handle_;
  }

  const char* title_;
  std::string soname_;
  void* handle_ = nullptr;
};

} // namespace

#define TENON_FIND(name) library.find<decltype(&::name)>(#name),

const BlasTable& blas() {
  static const BlasTable table = [] {
    Library library("cuBLAS", fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR));
    return BlasTable{TENON_CUBLAS_TABLE(TENON_FIND)};
  }();
  return table;
}

const DnnTable& dnn() {
  static const DnnTable table = [] {
    Library library("cuDNN", fmt::format("libcudnn.so.{}", CUDNN_MAJOR));
    return DnnTable{TENON_CUDNN_TABLE(TENON_FIND)};
  }();
  return table;
}

const FftTable& fft() {
  static const FftTable table = [] {
    Library library("cuFFT", fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR));
    return FftTable{TENON_CUFFT_TABLE(TENON_FIND)};
  }();
  return table;
}

#undef TENON_FIND

} // namespace tenon::cuda
