// SPDX-License-Identifier: BSD-2-Clause
#include "sys/cuda/pool.hpp"

#include "sys/cuda/status.hpp"

#include <cstdint>

namespace tenon::cuda {

namespace {

// A pool of its own, since the default one is the caller's too.
cudaMemPool_t makePool(int device) {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.handleTypes = cudaMemHandleTypeNone;
  wanted.location.type = cudaMemLocationTypeDevice;
  wanted.location.id = device;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &wanted), "cudaMemPoolCreate");
  auto keep = UINT64_MAX; // or each synchronisation would return memory to the driver
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
  return pool;
}

bool isOut(cudaError_t status) {
  if (status == cudaErrorMemoryAllocation)
    cudaGetLastError();
  return status == cudaErrorMemoryAllocation;
}

class PoolMemory : public MemorySource {
public:
  PoolMemory(cudaMemPool_t pool, Stream stream) : pool_(pool), stream_(std::move(stream)) {}
  Space space() const noexcept override { return Space::Device; }
  void* take(Index bytes) override {
    void* memory = nullptr;
    const cudaError_t status =
        cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes), pool_, stream());
    if (isOut(status))
      return nullptr;
    check(status, "cudaMallocFromPoolAsync");
    return memory;
  }
  void giveBack(void* memory) noexcept override { cudaFreeAsync(memory, stream()); }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    check(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), stream()),
          "cudaMemsetAsync");
  }

private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(stream_.handle()); }

  cudaMemPool_t pool_;
  Stream stream_;
};

class PinnedMemory : public MemorySource {
public:
  void* take(Index bytes) override {
    void* memory = nullptr;
    const cudaError_t status =
        cudaHostAlloc(&memory, static_cast<std::size_t>(bytes), cudaHostAllocPortable);
    if (isOut(status))
      return nullptr;
    check(status, "cudaHostAlloc");
    return memory;
  }
  void giveBack(void* memory) noexcept override { cudaFreeHost(memory); }
};

} // namespace

std::shared_ptr<MemorySource> poolMemory(int device, const Stream& stream) {
  static const cudaMemPool_t pool = makePool(device);
  return std::make_shared<PoolMemory>(pool, stream);
}

std::shared_ptr<MemorySource> pinnedMemory() {
  static const auto source = std::make_shared<PinnedMemory>();
  return source;
}

} // namespace tenon::cuda
