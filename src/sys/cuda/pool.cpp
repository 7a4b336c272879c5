// SPDX-License-Identifier: BSD-2-Clause
// The sources of memory of a device, listed below. Cached memory of the pool above a limit is
// returned to the driver when the host waits for the device. The functions that make them are
// declared in parts.hpp, those of the limit in retry.hpp.
//
//   PoolMemory      from a CUDA pool, in the order of a stream; freed memory is cached, so a time
//                   step allocates nothing from the driver
//   UnpooledMemory  by cudaMalloc(), which other processes can open (CUDA IPC)
//   pinned memory   page-locked host memory
#include "sys/cuda/parts.hpp"

#include "sys/cuda/retry.hpp"
#include "sys/cuda/status.hpp"
#include "sys/options/options.hpp"

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon::cuda {

namespace {

// Limit of the cached memory when the host waits for the device.
std::uint64_t keptBytes(int device) {
  constexpr std::uint64_t kParts = 8; // leaves most of the memory to ranks that share the device
  if (const Index requested = options().getInt("", "device_pool_bytes"); requested >= 0)
    return static_cast<std::uint64_t>(requested);
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.totalGlobalMem / kParts;
}

// A pool separate from the default one, which the program can use. NULL for devices without pools,
// such as some virtual GPUs.
cudaMemPool_t makePool(int device) {
  int hasPools = 0;
  check(cudaDeviceGetAttribute(&hasPools, cudaDevAttrMemoryPoolsSupported, device),
        "cudaDeviceGetAttribute");
  if (hasPools == 0)
    return nullptr;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  auto keep = keptBytes(device); // the default limit 0 would return all at each synchronisation
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  return pool;
}

cudaMemPool_t poolOf(int device) {
  static const cudaMemPool_t pool = makePool(device);
  return pool;
}

// The streams in whose order memory of the pool is freed. Memory that was freed on a stream can be
// returned to the driver when the stream has got there.
class FreeingStreams {
public:
  void add(const void* source, const Stream& stream) {
    const std::lock_guard lock(mutex_);
    streams_.emplace_back(source, stream);
  }
  void remove(const void* source) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [&](const auto& entry) { return entry.first == source; });
  }
  // Waits for all of them, except those that are being recorded.
  void synchronise() {
    std::vector<std::pair<const void*, Stream>> streams;
    {
      const std::lock_guard lock(mutex_);
      streams = streams_;
    }
    for (const auto& [source, stream] : streams)
      if (!isCaptured(stream))
        stream.synchronise();
  }
  static bool isCaptured(const Stream& stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream.handle()), &status),
          "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

private:
  std::mutex mutex_;
  std::vector<std::pair<const void*, Stream>> streams_; // by source of memory
};

// Never destroyed, since memory can be freed while static objects are destroyed.
FreeingStreams& freeingStreams() {
  static auto* instance = new FreeingStreams;
  return *instance;
}

// The result of an allocation; NULL if memory ran out, which the caller reports.
void* taken(void* memory, cudaError_t status, const char* call) {
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status, call);
  return memory;
}

// Device memory that is filled in the order of a stream.
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
  const Stream& order() const { return stream_; }
  cudaMemPool_t pool() const { return pool_; }

  // The result of allocate(), repeated once after the pool has returned its cached memory.
  template <class Allocate>
  void* takeBy(const Allocate& allocate) const {
    return retryOutOfMemory(
        stream_, [](const void* memory) { return !memory; }, allocate);
  }

private:
  cudaMemPool_t pool_;
  Stream stream_;
};

// Memory of the pool, allocated and freed in the order of the stream, without waiting.
class PoolMemory : public DeviceMemory {
public:
  PoolMemory(cudaMemPool_t pool, Stream stream) : DeviceMemory(pool, std::move(stream)) {
    freeingStreams().add(this, order());
  }
  PoolMemory(const PoolMemory&) = delete;
  PoolMemory& operator=(const PoolMemory&) = delete;
  ~PoolMemory() override { freeingStreams().remove(this); }
  void* allocate(Index bytes) override {
    return takeBy([&] {
      void* memory = nullptr;
      const cudaError_t status =
          cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool(), stream());
      return taken(memory, status, "cudaMallocFromPoolAsync");
    });
  }
  // Buffers can be freed while the program's device is current.
  void deallocate(void* memory) noexcept override {
    const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
    cudaFreeAsync(memory, stream());
  }
};

// Memory by cudaMalloc(), which CUDA IPC can share with other processes, unlike that of the pool.
// Also the only memory on devices without pools; these calls are slow.
class UnpooledMemory : public DeviceMemory {
public:
  using DeviceMemory::DeviceMemory;
  void* allocate(Index bytes) override {
    return takeBy([&] {
      void* memory = nullptr;
      const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
      return taken(memory, status, "cudaMalloc");
    });
  }
  void deallocate(void* memory) noexcept override {
    const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
    cudaStreamSynchronize(stream()); // the buffer can be in use by queued work
    cudaFree(memory);
  }
};

class PinnedMemory : public MemorySource {
public:
  void* allocate(Index bytes) override {
    void* memory = nullptr;
    const cudaError_t status =
        cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
    return taken(memory, status, "cudaHostAlloc");
  }
  void deallocate(void* memory) noexcept override {
    const CurrentDeviceScope deviceScope(CurrentDeviceScope::Whose::Library);
    cudaFreeHost(memory);
  }
};

} // namespace

// Must not synchronise with a stream that is being recorded.
bool trimPool(const Stream& stream) {
  cudaGetLastError(); // clears the error, which the program's next check would report
  if (!poolOf(Device::get().number()) || Stream::isRecording() ||
      FreeingStreams::isCaptured(stream))
    return false;
  stream.synchronise();
  returnSpare();
  return true;
}

void returnSpare() {
  const cudaMemPool_t pool = poolOf(Device::get().number());
  if (!pool)
    return;
  freeingStreams().synchronise();
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
