// SPDX-License-Identifier: BSD-2-Clause
// Finds functions of shared libraries at run time. All functions of one library have to come from
// one copy of it: a table that mixed the copy of the program with a second one would pass handles
// of one to the other.
#include "sys/cuda/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <mutex>
#include <optional>

namespace tenon::cuda {

namespace {

// Older versions make no plans for a device that is only described.
constexpr std::size_t kLeastDnn = 90800;

bool hasAll(void* handle, std::span<const char* const> names) {
  return std::ranges::all_of(names,
                             [&](const char* name) { return dlsym(handle, name) != nullptr; });
}

std::string dnnVersionText(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// How many libraries the process has loaded so far, those that were unloaded since included.
unsigned long long librariesLoaded() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

} // namespace

Library::Library(const char* title, std::string soname, std::span<const char* const> names)
    : title_(title), soname_(std::move(soname)), handle_(RTLD_DEFAULT) {
  if (hasAll(handle_, names))
    return;
  // Local, so that other libraries that the program loads later do not find this copy.
  handle_ = dlopen(soname_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} cannot be opened: {}; install it, or add its folder to "
                            "LD_LIBRARY_PATH",
                            title_, dlerror()));
}

void* Library::address(const char* name) const {
  void* const found = dlsym(handle_, name);
  if (!found)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("{} has no function {}: {}; install the version that Tenon was built "
                            "with ({})",
                            title_, name, dlerror(), soname_));
  return found;
}

void checkDnnVersion(std::size_t version) {
  if (version < kLeastDnn)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("cuDNN is version {}, and at least {} is needed; Tenon was built with "
                            "{}: add the folder of a later one to LD_LIBRARY_PATH, before others",
                            dnnVersionText(version), dnnVersionText(kLeastDnn),
                            dnnVersionText(CUDNN_VERSION)));
}

#define TENON_NAME(name) #name,
#define TENON_FIND(name) library.find<decltype(&::name)>(#name),

const BlasTable& blas() {
  static const BlasTable table = [] {
    constexpr const char* names[] = {TENON_CUBLAS_TABLE(TENON_NAME)};
    const Library library("cuBLAS", fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR), names);
    return BlasTable{TENON_CUBLAS_TABLE(TENON_FIND)};
  }();
  return table;
}

const DnnTable& dnn() {
  static const DnnTable table = [] {
    constexpr const char* names[] = {TENON_CUDNN_TABLE(TENON_NAME)};
    const Library library("cuDNN", fmt::format("libcudnn.so.{}", CUDNN_MAJOR), names);
    const DnnTable found{TENON_CUDNN_TABLE(TENON_FIND)};
    checkDnnVersion(found.cudnnGetVersion());
    return found;
  }();
  return table;
}

const FftTable& fft() {
  static const FftTable table = [] {
    constexpr const char* names[] = {TENON_CUFFT_TABLE(TENON_NAME)};
    const Library library("cuFFT", fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR), names);
    return FftTable{TENON_CUFFT_TABLE(TENON_FIND)};
  }();
  return table;
}

#undef TENON_FIND

namespace {

// The driver, if the process has it. It is not opened here (RTLD_NOLOAD): the question whether a
// program uses a device must not load the driver into one that does not.
std::optional<DriverTable> findDriver() {
  constexpr const char* names[] = {TENON_DRIVER_TABLE(TENON_NAME)};
  void* handle = RTLD_DEFAULT;
  if (!hasAll(handle, names)) {
    handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!handle || !hasAll(handle, names))
      return std::nullopt;
  }
#define TENON_FIND(name) reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)),
  return DriverTable{TENON_DRIVER_TABLE(TENON_FIND)};
#undef TENON_FIND
}

} // namespace

#undef TENON_NAME

// Looks again only after the process has loaded another library, since a program without CUDA asks
// often.
const DriverTable* driver() {
  static std::mutex mutex;
  static std::optional<DriverTable> known;
  static unsigned long long asked = 0;
  const std::scoped_lock lock(mutex);
  if (!known)
    if (const unsigned long long loaded = librariesLoaded(); loaded != asked) {
      asked = loaded;
      known = findDriver();
    }
  return known ? &*known : nullptr;
}

} // namespace tenon::cuda
