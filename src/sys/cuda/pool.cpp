// SPDX-License-Identifier: BSD-2-Clause
// The sources of device memory: a pool in the order of a stream, plain device memory that can be
// shown to other processes, and pinned host memory. The pool keeps what is given back, so that a
// time step allocates nothing from the driver; what it keeps beyond a limit the driver has again
// when the host waits for the device.
#include "sys/cuda/parts.hpp"

#include "sys/cuda/room.hpp"
#include "sys/cuda/status.hpp"
#include "sys/options/options.hpp"

#include <cstdint>

namespace tenon::cuda {

namespace {

// How much the pool keeps where the host waits for the device.
std::uint64_t keptBytes(int device) {
  constexpr std::uint64_t kParts = 8; // ranks that share a device leave each other most of it
  if (const Index wanted = options().getInt("", "device_pool_bytes"); wanted >= 0)
    return static_cast<std::uint64_t>(wanted);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.totalGlobalMem / kParts;
}

// A pool apart from the default one, which the program uses too. NULL for devices without pools,
// such as some parts of a virtual GPU.
cudaMemPool_t makePool(int device) {
  int hasPools = 0;
  check(cudaDeviceGetAttribute(&hasPools, cudaDevAttrMemoryPoolsSupported, device),
        "cudaDeviceGetAttribute");
  if (hasPools == 0)
    return nullptr;
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypeNone;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
  auto keep = keptBytes(device); // by default each synchronisation would return all
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  return pool;
}

cudaMemPool_t poolOf(int device) {
  static const cudaMemPool_t pool = makePool(device);
  return pool;
}

// The memory that a call gave; NULL if there was none left, which is for the caller to report.
void* taken(void* memory, cudaError_t status, const char* call) {
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, call);
  return memory;
}

// Memory of the device that a stream fills.
class DeviceMemory : public MemorySource {
public:
  DeviceMemory(cudaMemPool_t pool, Stream stream) : pool_(pool), stream_(std::move(stream)) {}
  Space space() const noexcept override { return Space::Device; }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    check(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), stream()),
          "cudaMemsetAsync");
  }

protected:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_.handle()); }
  cudaMemPool_t pool() const { return pool_; }

  template <class Allocate>
  void* takeBy(const Allocate& allocate) const {
    return withRoom(
        stream_, [](const void* memory) { return !memory; }, allocate);
  }

private:
  cudaMemPool_t pool_;
  Stream stream_;
};

// Memory of the pool: given out and taken back in the order of the stream, without waiting.
class PoolMemory : public DeviceMemory {
public:
  using DeviceMemory::DeviceMemory;
  void* take(Index bytes) override {
    return takeBy([&] {
      void* memory = nullptr;
      const cudaError_t status =
          cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool(), stream());
      return taken(memory, status, "cudaMallocFromPoolAsync");
    });
  }
  // Buffers may go when the program's device is current.
  void giveBack(void* memory) noexcept override {
    const DeviceTurn turn(DeviceTurn::Whose::Library);
    cudaFreeAsync(memory, stream());
  }
};

// Memory by cudaMalloc(), which CUDA IPC can show to other processes; that of a pool of this kind
// it cannot. It is all that there is on devices without pools, where each of these calls takes
// long.
class UnpooledMemory : public DeviceMemory {
public:
  using DeviceMemory::DeviceMemory;
  void* take(Index bytes) override {
    return takeBy([&] {
      void* memory = nullptr;
      const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
      return taken(memory, status, "cudaMalloc");
    });
  }
  void giveBack(void* memory) noexcept override {
    const DeviceTurn turn(DeviceTurn::Whose::Library);
    cudaStreamSynchronize(stream()); // the buffer may go while work on it is queued
    cudaFree(memory);
  }
};

class PinnedMemory : public MemorySource {
public:
  void* take(Index bytes) override {
    void* memory = nullptr;
    const cudaError_t status =
        cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
    return taken(memory, status, "cudaHostAlloc");
  }
  void giveBack(void* memory) noexcept override {
    const DeviceTurn turn(DeviceTurn::Whose::Library);
    cudaFreeHost(memory);
  }
};

} // namespace

// A stream that is being recorded must not be waited for.
bool makeRoom(const Stream& stream) {
  cudaGetLastError(); // that memory ran out, which the program's next check would find
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream.handle()), &status),
        "cudaStreamIsCapturing");
  const cudaMemPool_t pool = poolOf(Device::get().number());
  if (!pool || status != cudaStreamCaptureStatusNone)
    return false;
  stream.synchronise();
  check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  return true;
}

void returnSpare() {
  if (const cudaMemPool_t pool = poolOf(Device::get().number()))
    check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
}

std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream) {
  if (!poolOf(device))
    return unpooledMemory(device, stream);
  return std::make_shared<PoolMemory>(poolOf(device), stream);
}

std::shared_ptr<MemorySource> unpooledMemory(int device, const Stream& stream) {
  return std::make_shared<UnpooledMemory>(poolOf(device), stream);
}

std::shared_ptr<MemorySource> pinnedMemory() {
  static const auto source = std::make_shared<PinnedMemory>();
  return source;
}

} // namespace tenon::cuda
