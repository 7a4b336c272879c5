// SPDX-License-Identifier: BSD-2-Clause
// The device of the process: its selection, copies, and queries about addresses. Two queries must
// work without opening a device, because this would create a CUDA context in a program that uses
// none: why there is no device (list()), and on which device an address is (holderOf()). The
// functions are members of class Device (sys/device.hpp), but for that of sys/device_addresses.hpp.
#include "sys/device.hpp"
#include "sys/device_addresses.hpp"

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

// The rank of this process on its node: written once, when the communicator of the node is created,
// and read by the first get().
std::atomic<int> rankOnNode{0}, onNode{0};

constexpr int kMinCapability = 8; // minimum compute capability for which the library has code
constexpr const char* kUsePrimary =
    "work in the device's primary context, which cudaSetDevice() and "
    "cuDevicePrimaryCtxRetain() give";

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// CUDA version that the driver supports, or 0 without a driver.
int driverVersion() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

Error noDevice(const std::string& reason) {
  return {TENON_ERR_SUPPORT, fmt::format("there is no device: {}; use the space host", reason)};
}

// The reason why there are no devices, or "" if there are some.
std::string whyNone(int& count) {
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0)
    return "";
  // Clears the error, which the runtime would report at the program's next check.
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

// Selects the device: the option -tenon_device has priority, then the device that the program has
// made current, then one by the rank on the node. If device 0 is current, this does not count as a
// choice of the program, since 0 is the default of CUDA.
int chooseDevice(int count) {
  const Index requested = options().getInt("", "device");
  if (requested >= count)
    throw noDevice(fmt::format("-tenon_device is {}, but this process sees {} (0 to {})", requested,
                               counted(count, "device"), count - 1));
  if (requested >= 0)
    return static_cast<int>(requested);
  const int current = cuda::programsDevice();
  return current > 0 ? current : rankOnNode % count;
}

struct KnownMemory {
  const void* onDevice; // the address that kernels use
  bool isDevices;       // device memory, not registered or managed host memory
};

#ifdef TENON_HIP
// The kind of memory, whose name was memoryType before ROCm 6.
template <class Attributes>
auto typeOf(const Attributes& attributes) {
  if constexpr (requires { attributes.type; })
    return attributes.type;
  else
    return attributes.memoryType;
}
#endif

// The runtime's information about an address; nothing for unregistered host memory.
std::optional<KnownMemory> knownMemory(const void* address) {
  cudaPointerAttributes attributes{};
#ifdef TENON_HIP // reports an error for unregistered memory
  if (hipPointerGetAttributes(&attributes, address) != hipSuccess) {
    hipGetLastError();
    return std::nullopt;
  }
  const auto type = typeOf(attributes);
#else
  cuda::check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
  const auto type = attributes.type;
  if (type == cudaMemoryTypeUnregistered)
    return std::nullopt;
#endif
  return KnownMemory{attributes.devicePointer, type == cudaMemoryTypeDevice};
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, name, device), "cudaDeviceGetAttribute");
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
  // Without this barrier a log event would end when its kernels are queued, and their time would be
  // attributed to the next event that waits for the device.
  if (options().getFlag("", "log_device_wait"))
    setLogBarrier(
        // An error persists and is reported by the next call.
        []() noexcept { cudaDeviceSynchronize(); });
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

std::vector<Index> deviceAddresses() {
  int count = 0;
  std::vector<Index> addresses;
  if (!whyNone(count).empty())
    return addresses;
  for (int number = 0; number < count; ++number) {
    cudaDeviceProp device{};
    cuda::check(cudaGetDeviceProperties(&device, number), "cudaGetDeviceProperties");
    addresses.push_back(Index(device.pciDomainID) << 16 | Index(device.pciBusID) << 8 |
                        Index(device.pciDeviceID));
  }
  return addresses;
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
  // MPI can free a communicator, and with it the arena, while the program's device is current.
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
  cudaIpcCloseMemHandle(memory);
}

void Device::registerHost(void* memory, Index bytes) {
  cuda::check(cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterPortable),
              "cudaHostRegister");
  // On the supported systems both addresses are equal. Other systems would need a second address
  // per array, and are an error.
  if (reaches(memory))
    return;
  unregisterHost(memory);
  throw Error(TENON_ERR_SUPPORT,
              "the device accesses host memory at other addresses than the host");
}

void Device::unregisterHost(void* memory) noexcept {
  const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
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
  const std::optional<KnownMemory> memory = knownMemory(address);
  // If the device can access all host memory (HMM, Grace-Hopper), unregistered memory has a device
  // address too. It is excluded: kernels would access it by page faults, and asynchronously, while
  // the program believes that its array is unused.
  if (!memory || memory->onDevice != address)
    return false;
  if (memory->isDevices && cuda::isInOtherContext(address))
    throw Error(TENON_ERR_ARG,
                fmt::format("the array is memory of another CUDA context of device {}, which "
                            "kernels of Tenon cannot use; {}",
                            number_, kUsePrimary));
  return true;
}

void Device::setPlaceOnNode(int rank, int size) noexcept {
  rankOnNode = rank;
  onNode = size;
}

int Device::processesOnNode() noexcept {
  return onNode;
}

int Device::holderOf(const void* address) {
  const cuda::DriverTable* driver = cuda::driver();
  if (!driver)
    return -1;
  // The driver answers without a context; the runtime would create one.
  CUmemorytype type{};
  unsigned isManaged = 0; // managed memory counts as host memory, since the host can access it
  int holder = -1;
  CUpointer_attribute requested[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                     CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                     CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &isManaged, &holder};
  const CUresult status = driver->cuPointerGetAttributes(std::size(requested), requested, values,
                                                         cuda::driversAddress(address));
  return status == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE && isManaged == 0 ? holder : -1;
}

bool Device::isPinned(const std::byte* pages, Index bytes, Index pageBytes) {
  const cuda::DriverTable* driver = cuda::driver();
  CUmemorytype type{};
  CUpointer_attribute requested = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* value = &type;
  for (Index offset = 0; driver && offset < bytes; offset += pageBytes)
    if (driver->cuPointerGetAttributes(1, &requested, &value,
                                       cuda::driversAddress(pages + offset)) == CUDA_SUCCESS &&
        type == CU_MEMORYTYPE_HOST)
      return true;
  return false;
}

void Device::checkUserStream(void* stream) const {
  const bool isDefault = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  const cuda::ContextFound owner =
      isDefault ? cuda::contextOfProgram() : cuda::contextOfStream(stream);
  if (owner.device != number_)
    throw Error(TENON_ERR_ARG,
                fmt::format("the stream is of device {0}, but Tenon works on device {1}; {2}, or "
                            "set -tenon_device to {0}",
                            owner.device, number_,
                            isDefault ? fmt::format("make device {} current", number_)
                                      : fmt::format("pass a stream of device {}", number_)));
  if (!owner.isLibraryContext)
    throw Error(TENON_ERR_ARG, fmt::format("the stream is of another CUDA context of device {}; {}",
                                           number_, kUsePrimary));
}

} // namespace tenon
