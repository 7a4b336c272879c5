// SPDX-License-Identifier: BSD-2-Clause
// Finds the driver that the process has loaded. HIP has no driver apart from its runtime, which the
// library is linked with.
#include "sys/cuda/driver.hpp"

#include "sys/cuda/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <optional>

#ifdef TENON_HIP

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

// The driver, if the process has it. It is not opened here (RTLD_NOLOAD): the question whether a
// program uses a device must not load the driver into one that does not.
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

// Looks again only after the process has loaded another library, since a program without CUDA asks
// often.
const DriverTable* driver() {
  static std::mutex mutex;
  static std::optional<DriverTable> known;
  static unsigned long long requested = 0;
  const std::scoped_lock lock(mutex);
  if (!known)
    if (const unsigned long long loaded = librariesLoaded(); loaded != requested) {
      requested = loaded;
      known = findDriver();
    }
  return known ? &*known : nullptr;
}

#endif

} // namespace tenon::cuda
