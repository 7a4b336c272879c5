// SPDX-License-Identifier: BSD-2-Clause
// Finds the driver that the process has loaded. HIP has no driver separate from its runtime, to
// which the library is linked.
#include "sys/cuda/driver.hpp"

#include "sys/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <optional>

#ifdef TENON_HIP

// Returns the context of the stream's device. HIP gives it only together with a reference to it,
// which is not needed here and is released.
hipError_t cuStreamGetCtx(hipStream_t stream, hipCtx_t* context) {
  const hipDevice_t device = hipGetStreamDeviceId(stream);
  const hipError_t status = hipDevicePrimaryCtxRetain(context, device);
  return status == hipSuccess ? hipDevicePrimaryCtxRelease(device) : status;
}

#endif

namespace tenon::cuda {

#ifdef TENON_HIP

const DriverTable* driver() {
#define TENON_FIND(name) &::name,
  static const DriverTable table{TENON_DRIVER_TABLE(TENON_FIND)};
#undef TENON_FIND
  return &table;
}

#else

namespace {

// Number of libraries that the process has loaded so far, including unloaded ones.
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

// The driver, if the process has loaded it. RTLD_NOLOAD prevents loading: a query must not load the
// driver into a program that uses no device.
std::optional<DriverTable> findDriver() {
#define TENON_NAME(name) #name,
  constexpr const char* names[] = {TENON_DRIVER_TABLE(TENON_NAME)};
#undef TENON_NAME
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

// Searches again only if the process has loaded another library, since programs without CUDA call
// this often.
const DriverTable* driver() {
  static std::mutex mutex;
  static std::optional<DriverTable> table;
  static unsigned long long librariesSearched = 0;
  const std::scoped_lock lock(mutex);
  if (!table)
    if (const unsigned long long loaded = librariesLoaded(); loaded != librariesSearched) {
      librariesSearched = loaded;
      table = findDriver();
    }
  return table ? &*table : nullptr;
}

#endif

} // namespace tenon::cuda
