// SPDX-License-Identifier: BSD-2-Clause
// Opens the tables of NVIDIA's libraries, each by its first call. The version of cuDNN is checked,
// since older versions have all functions but not all features. A library stays open to the end of
// the process: a Library has no destructor that would close it, so the pointers in the table remain
// valid.
#include "sys/cuda/library.hpp"

#include <fmt/format.h>

namespace tenon::cuda {

namespace {

// Older versions cannot create plans from the description of a device that this process does not
// have.
constexpr std::size_t kMinDnn = 90800;

std::string dnnVersionText(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// The functions of cuBLAS and cuFFT that Tenon uses are the same in the previous major version,
// which frameworks often install.
std::string sonameOf(const char* name, int version) {
  return fmt::format("lib{}.so.{}", name, version);
}

} // namespace

void checkDnnVersion(std::size_t version) {
  if (version < kMinDnn)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("cuDNN is version {}, and at least {} is needed; Tenon was built with "
                            "{}: add the folder of a later one to LD_LIBRARY_PATH, before others",
                            dnnVersionText(version), dnnVersionText(kMinDnn),
                            dnnVersionText(CUDNN_VERSION)));
}

#define TENON_NAME(name) #name,
#define TENON_FIND(name) library.find<decltype(&::name)>(#name),

const BlasTable& blas() {
  static const BlasTable table = [] {
    constexpr const char* names[] = {TENON_CUBLAS_TABLE(TENON_NAME)};
    const Library library("cuBLAS", sonameOf("cublas", CUBLAS_VER_MAJOR), names,
                          sonameOf("cublas", CUBLAS_VER_MAJOR - 1));
    return BlasTable{TENON_CUBLAS_TABLE(TENON_FIND)};
  }();
  return table;
}

const DnnTable& dnn() {
  static const DnnTable table = [] {
    constexpr const char* names[] = {TENON_CUDNN_TABLE(TENON_NAME)};
    const Library library("cuDNN", fmt::format("libcudnn.so.{}", CUDNN_MAJOR), names);
    const DnnTable table{TENON_CUDNN_TABLE(TENON_FIND)};
    checkDnnVersion(table.cudnnGetVersion());
    return table;
  }();
  return table;
}

const FftTable& fft() {
  static const FftTable table = [] {
    constexpr const char* names[] = {TENON_CUFFT_TABLE(TENON_NAME)};
    const Library library("cuFFT", sonameOf("cufft", CUFFT_VER_MAJOR), names,
                          sonameOf("cufft", CUFFT_VER_MAJOR - 1));
    return FftTable{TENON_CUFFT_TABLE(TENON_FIND)};
  }();
  return table;
}

#undef TENON_FIND
#undef TENON_NAME

} // namespace tenon::cuda
