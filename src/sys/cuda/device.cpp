// SPDX-License-Identifier: BSD-2-Clause
// The device of the process: how it is chosen, its copies, and its memory as others see it. Two
// questions have to be answered without opening a device: why there is none, and whose memory an
// address is, since a program that uses no device must not get a context by asking.
#include "sys/device.hpp"

#include "sys/cuda/driver.hpp"
#include "sys/cuda/parts.hpp"
#include "sys/cuda/pci.hpp"
#include "sys/cuda/status.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <optional>

namespace tenon {

namespace {

std::atomic<int> rankOnNode{0};

constexpr int kMinCapability = 8; // the library has code for no older device
constexpr const char* kUsePrimary =
    "work in the device's primary context, which cudaSetDevice() and "
    "cuDevicePrimaryCtxRetain() give";

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The version of CUDA that the driver supports; 0 without a driver.
int driverVersion() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

Error noDevice(const std::string& reason) {
  return {TENON_ERR_SUPPORT, fmt::format("there is no device: {}; use the space host", reason)};
}

// Why there are no devices; "" if there are.
std::string whyNone(int& count) {
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0)
    return "";
  // The runtime keeps the error, and the next check of the program would find it.
  cudaGetLastError();
  const std::string built =
      fmt::format("Tenon was built with CUDA {}", versionText(CUDART_VERSION));
  const int driver = driverVersion();
  if (driver == 0 && cuda::isWithoutGpu())
    return fmt::format("this computer has no NVIDIA GPU on its PCI bus, and no CUDA driver ({})",
                       built);
  if (driver == 0)
    return fmt::format("no CUDA driver was found ({}; {}); install a driver",
                       cudaGetErrorString(status), built);
  return fmt::format("{} (the driver supports CUDA {}; {}){}",
                     status == cudaSuccess ? "no CUDA-capable device is detected"
                                           : cudaGetErrorString(status),
                     versionText(driver), built,
                     status == cudaErrorInsufficientDriver ? "; update the driver" : "");
}

int countDevices() {
  int count = 0;
  if (const std::string reason = whyNone(count); !reason.empty())
    throw noDevice(reason);
  return count;
}

// The option comes first, then what the program has made current, then the rank on the node. That
// device 0 is current does not count as a choice, since it is current without anybody's doing.
int chooseDevice(int count) {
  const Index wanted = options().getInt("", "device");
  if (wanted >= count)
    throw noDevice(fmt::format("-tenon_device is {}, but this process sees {} (0 to {})", wanted,
                               counted(count, "device"), count - 1));
  if (wanted >= 0)
    return static_cast<int>(wanted);
  const int programs = cuda::programsDevice();
  return programs > 0 ? programs : rankOnNode % count;
}

struct KnownMemory {
  const void* onDevice; // the address that kernels use
  bool isDevices;
};

// What the runtime says of an address; none for memory of the host that it was not told of.
std::optional<KnownMemory> knownMemory(const void* address) {
  cudaPointerAttributes found{};
#ifdef TENON_HIP // to which it is an error to be requested such memory
  if (hipPointerGetAttributes(&found, address) != hipSuccess) {
    hipGetLastError();
    return std::nullopt;
  }
  const auto type = found.memoryType;
#else
  cuda::check(cudaPointerGetAttributes(&found, address), "cudaPointerGetAttributes");
  const auto type = found.type;
  if (type == cudaMemoryTypeUnregistered)
    return std::nullopt;
#endif
  return KnownMemory{found.devicePointer, type == cudaMemoryTypeDevice};
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

} // namespace

Device::Device() : number_(chooseDevice(countDevices())) {
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, number_);
  const int minor = attribute(cudaDevAttrComputeCapabilityMinor, number_);
  if (major < kMinCapability)
    throw noDevice(fmt::format("device {} has compute capability {}.{}; at least {}.0 is needed",
                               number_, major, minor, kMinCapability));
  name_ = fmt::format("CUDA device {} (compute capability {}.{})", number_, major, minor);
  multiprocessors_ = attribute(cudaDevAttrMultiProcessorCount, number_);
  cuda::openDevice(number_);
  // Without the barrier an event of the log would end when its kernels are queued, and their time
  // would count for whoever waits for the device next.
  if (options().getFlag("", "log_device_wait"))
    setLogBarrier(
        []() noexcept { cudaDeviceSynchronize(); }); // a failure stays, and the next call tells
}

Device& Device::get() {
  static auto* device = new Device; // never destroyed: buffers can outlive main
  cuda::takeTurn();
  return *device;
}

std::string Device::toolkitVersion() {
  return versionText(CUDART_VERSION);
}

std::string Device::list() {
  int count = 0;
  if (const std::string reason = whyNone(count); !reason.empty())
    return fmt::format("no device: {}\n", reason);
  std::string text;
  for (int number = 0; number < count; ++number) {
    cudaDeviceProp device{};
    cuda::check(cudaGetDeviceProperties(&device, number), "cudaGetDeviceProperties");
    text += fmt::format("device {}: {}, compute capability {}.{}, {}\n", number, device.name,
                        device.major, device.minor,
                        sizeText(static_cast<Index>(device.totalGlobalMem)));
  }
  return text;
}

std::shared_ptr<MemorySource> Device::memory(const Stream& stream) {
  return cuda::poolMemory(number_, stream);
}

std::shared_ptr<MemorySource> Device::unpooled(const Stream& stream) {
  return cuda::unpooledMemory(number_, stream);
}

MemoryKey Device::keyOf(void* memory) {
  cudaIpcMemHandle_t handle{};
  cuda::check(cudaIpcGetMemHandle(&handle, memory), "cudaIpcGetMemHandle");
  return std::bit_cast<MemoryKey>(handle);
}

void* Device::openShown(const MemoryKey& key) {
  void* memory = nullptr;
  cuda::check(cudaIpcOpenMemHandle(&memory, std::bit_cast<cudaIpcMemHandle_t>(key),
                                   cudaIpcMemLazyEnablePeerAccess),
              "cudaIpcOpenMemHandle");
  return memory;
}

void Device::closeShown(void* memory) noexcept {
  cudaIpcCloseMemHandle(memory);
}

void Device::registerHost(void* memory, Index bytes) {
  cuda::check(cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterPortable),
              "cudaHostRegister");
  // On the systems that Tenon runs on both addresses are equal. Others would need a second address
  // for each array, and are an error.
  if (reaches(memory))
    return;
  unregisterHost(memory);
  throw Error(TENON_ERR_SUPPORT,
              "the device accesses host memory at other addresses than the host");
}

void Device::unregisterHost(void* memory) noexcept {
  cudaHostUnregister(memory);
}

std::shared_ptr<MemorySource> Device::pinned() {
  return cuda::pinnedMemory();
}

void Device::copy(void* to, const void* from, Index bytes, const Stream& stream) {
  if (bytes > 0)
    cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault,
                                static_cast<cudaStream_t>(stream.handle())),
                "cudaMemcpyAsync");
}

bool Device::reaches(const void* address) const {
  const std::optional<KnownMemory> known = knownMemory(address);
  // Where the device can read all of the host's memory (HMM, Grace-Hopper), memory that CUDA has
  // not registered has an address for it too. Work that is queued there would run while the program
  // believes its array unused, and by page faults.
  if (!known || known->onDevice != address)
    return false;
  if (known->isDevices && cuda::isInOtherContext(address))
    throw Error(TENON_ERR_ARG,
                fmt::format("the array is memory of another CUDA context of device {}, which "
                            "kernels of Tenon cannot use; {}",
                            number_, kUsePrimary));
  return true;
}

void Device::setRankOnNode(int rank) noexcept {
  rankOnNode = rank;
}

int Device::holderOf(const void* address) {
  const cuda::DriverTable* driver = cuda::driver();
  if (!driver)
    return -1;
  // The driver answers without a context, while the runtime would make one for the question.
  CUmemorytype type{};
  unsigned isManaged = 0; // managed memory counts as the host's, which reaches it too
  int holder = -1;
  CUpointer_attribute requested[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* found[] = {&type, &isManaged, &holder};
  const CUresult status = driver->cuPointerGetAttributes(std::size(requested), requested, found,
                                                         cuda::driversAddress(address));
  return status == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE && isManaged == 0 ? holder : -1;
}

bool Device::isPinned(const std::byte* pages, Index bytes, Index pageBytes) {
  const cuda::DriverTable* driver = cuda::driver();
  CUmemorytype type{};
  CUpointer_attribute requested = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* found = &type;
  for (Index at = 0; driver && at < bytes; at += pageBytes)
    if (driver->cuPointerGetAttributes(1, &requested, &found, cuda::driversAddress(pages + at)) ==
            CUDA_SUCCESS &&
        type == CU_MEMORYTYPE_HOST)
      return true;
  return false;
}

void Device::checkUserStream(void* stream) const {
  const bool isDefault = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  const cuda::ContextFound found =
      isDefault ? cuda::contextOfProgram() : cuda::contextOfStream(stream);
  if (found.device != number_)
    throw Error(TENON_ERR_ARG,
                fmt::format("the stream is of device {0}, but Tenon works on device {1}; {2}, or "
                            "set -tenon_device to {0}",
                            found.device, number_,
                            isDefault ? fmt::format("make device {} current", number_)
                                      : fmt::format("pass a stream of device {}", number_)));
  if (!found.isLibrarys)
    throw Error(TENON_ERR_ARG, fmt::format("the stream is of another CUDA context of device {}; {}",
                                           number_, kUsePrimary));
}

} // namespace tenon
