// SPDX-License-Identifier: BSD-2-Clause
#include "sys/device.hpp"

#include "sys/cuda/pool.hpp"
#include "sys/cuda/status.hpp"
#include "sys/environment.hpp"
#include "sys/log.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <charconv>

namespace tenon {

namespace {

std::atomic<bool> isOpen{false};

constexpr int kLeastCapability = 8; // the library has code for no older device

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string driverText() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0)
    return "no CUDA driver was found";
  return fmt::format("the driver supports CUDA {}", versionText(version));
}

Error noDevice(const std::string& reason) {
  return {TENON_ERR_SUPPORT, fmt::format("there is no device: {}; use the space host", reason)};
}

int countDevices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0)
    return count;
  cudaGetLastError();
  throw noDevice(fmt::format("{} ({}; Tenon was built with CUDA {})",
                             status == cudaSuccess ? "no CUDA-capable device is detected"
                                                   : cudaGetErrorString(status),
                             driverText(), versionText(CUDART_VERSION)));
}

// This process's number among those on its node, which every launcher tells in its own words.
int rankOnNode() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
                           "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID"})
    if (const auto text = environment(name)) {
      int rank = 0;
      const char* end = text->data() + text->size();
      if (std::from_chars(text->data(), end, rank).ptr == end && rank >= 0)
        return rank;
    }
  return 0;
}

int chooseDevice(int count) {
  const Index wanted = options().getInt("", "device");
  if (wanted >= count)
    throw noDevice(fmt::format("-tenon_device is {}, but this process sees {} (0 to {})", wanted,
                               count, count - 1));
  return wanted >= 0 ? static_cast<int>(wanted) : rankOnNode() % count;
}

cudaPointerAttributes attributesOf(const void* address) {
  cudaPointerAttributes found{};
  cuda::check(cudaPointerGetAttributes(&found, address), "cudaPointerGetAttributes");
  return found;
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
  if (major < kLeastCapability)
    throw noDevice(fmt::format("device {} has compute capability {}.{}; at least {}.0 is needed",
                               number_, major, minor, kLeastCapability));
  name_ = fmt::format("CUDA device {} (compute capability {}.{})", number_, major, minor);
  multiprocessors_ = attribute(cudaDevAttrMultiProcessorCount, number_);
  if (options().getFlag("", "log_device_wait"))
    setLogBarrier(
        []() noexcept { cudaDeviceSynchronize(); }); // a failure stays, and the next call tells
}

Device& Device::get() {
  static auto* device = new Device; // never destroyed: buffers may outlive main
  isOpen = true;
  thread_local const bool isCurrent = [] {
    cuda::check(cudaSetDevice(device->number_), "cudaSetDevice");
    return true;
  }();
  static_cast<void>(isCurrent);
  return *device;
}

std::string Device::support() {
  return "CUDA " + versionText(CUDART_VERSION);
}

std::shared_ptr<MemorySource> Device::memory(const Stream& stream) {
  return cuda::poolMemory(number_, stream);
}

std::shared_ptr<MemorySource> Device::unpooled(const Stream& stream) {
  return cuda::unpooledMemory(stream);
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
  return attributesOf(address).devicePointer == address;
}

bool Device::holds(const void* address) {
  return isOpen && attributesOf(address).type == cudaMemoryTypeDevice;
}

void Device::registerHost(void* memory, Index bytes) {
  cuda::check(cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterPortable),
              "cudaHostRegister");
}

void Device::unregisterHost(void* memory) noexcept {
  cudaHostUnregister(memory);
}

} // namespace tenon
