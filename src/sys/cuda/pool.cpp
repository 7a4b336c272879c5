// SPDX-License-Identifier: BSD-2-Clause
// The sources of device memory: a pool in the order of a stream, plain device memory that can be
// shown to other processes, and pinned host memory. The pool keeps what is given back, so that a
// time step allocates nothing from the driver.
#include "sys/cuda/parts.hpp"

#include "sys/cuda/status.hpp"

#include <cstdint>

namespace tenon::cuda {

namespace {

// A pool apart from the default one, which the program uses too.
cudaMemPool_t makePool(int device) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypeNone;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
  auto keep = UINT64_MAX; // otherwise each synchronisation would return memory to the driver
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

  // Calls allocate(). Where it gives nothing the pool returns what it keeps to the driver, and it
  // is called once more. A stream that is being recorded must not be waited for, so there it stays
  // at the first attempt.
  template <class Allocate>
  void* takeBy(const Allocate& allocate) const {
    void* const memory = allocate();
    if (memory || isRecording())
      return memory;
    stream_.synchronise();
    check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
    return allocate();
  }

private:
  bool isRecording() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream(), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

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
  void giveBack(void* memory) noexcept override { cudaFreeAsync(memory, stream()); }
};

// Memory by cudaMalloc(), which CUDA IPC can show to other processes; that of a pool of this kind
// it cannot.
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
  void giveBack(void* memory) noexcept override { cudaFree(memory); }
};

class PinnedMemory : public MemorySource {
public:
  void* take(Index bytes) override {
    void* memory = nullptr;
    const cudaError_t status =
        cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
    return taken(memory, status, "cudaHostAlloc");
  }
  void giveBack(void* memory) noexcept override { cudaFreeHost(memory); }
};

} // namespace

std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream) {
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
