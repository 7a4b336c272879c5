// SPDX-License-Identifier: BSD-2-Clause
// The context shared by the kernels of a rank: scratch memory, threads of the host, or stream of
// the device. Every kernel (an arithmetic operation on local arrays) gets it as an argument. Only
// one kernel runs at a time, so all share one scratch buffer of the size of the largest plan, and
// the next kernel overwrites its contents:
//     ScratchPlan plan;
//     offset = plan.add<T>(n);  context.reserve(plan);  // when a kernel is created
//     T* p = context.scratch<T>(offset);                // at each call, since reserve() of another
//                                                       // kernel can allocate a new buffer
// Kernels of the device run in order on the context's stream.
#pragma once

#include "kernels/base/parallel.hpp"
#include "sys/device.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// Offsets of equal pieces of scratch, one per thread. Two pieces never share a cache line.
struct ThreadScratch {
  Index offset = 0, distance = 0; // bytes
  int threads = 1;
};

// Layout of one kernel's scratch memory: each add() returns the offset of a piece.
class ScratchPlan {
public:
  // Reserves count elements of T. Returns the offset in bytes, aligned as a Buffer is.
  template <class T>
  Index add(Index count) {
    const Index offset = bytes_;
    const Index alignment = static_cast<Index>(kAlignment);
    bytes_ += (count * static_cast<Index>(sizeof(T)) + alignment - 1) / alignment * alignment;
    return offset;
  }
  // Reserves count elements of T per thread.
  template <class T>
  ThreadScratch addForThreads(int threads, Index count) {
    const Index offset = add<T>(count), distance = bytes_ - offset;
    bytes_ += (threads - 1) * distance;
    return {offset, distance, threads};
  }
  Index bytes() const noexcept { return bytes_; }

private:
  Index bytes_ = 0;
};

class KernelStream;  // onednn.hpp
class DeviceHandles; // kernels/cuda/handles.hpp

// Not thread-safe: one caller at a time.
class KernelContext {
public:
  KernelContext() = default; // on the host
  // Throws TENON_ERR_SUPPORT if there is no device.
  explicit KernelContext(Space space);
  // Creates a context of the device on this stream.
  explicit KernelContext(Stream stream);

  Space space() const noexcept { return stream_ ? Space::Device : Space::Host; }
  // Allocator for a Buffer whose memory the kernels can access; NULL on the host.
  const std::shared_ptr<MemorySource>& memory() const noexcept { return memory_; }
  // Only for a context of the device.
  const Stream& stream() const { return *stream_; }
  // Second stream, for copies between host and device that overlap with kernels. Work on it is
  // ordered with stream() by events alone.
  const Stream& transfers();
  // Third stream, for collectives between devices (NCCL), which last until the slowest rank has
  // called them; copies on transfers() must not wait behind them. Likewise ordered by events alone.
  const Stream& collectives();
  // Copies between host and device in either direction, or within the device, after the work that
  // was queued on stream(), and waits for the copy. Only for a context of the device.
  void copyAndWait(void* to, const void* from, Index bytes);
  // Page-locked host memory for a copy between host and device. The caller returns it by
  // giveStaging() after the copy, for reuse by the next copy unless it is large.
  Buffer takeStaging(Index bytes);
  void giveStaging(Buffer staging) noexcept;

  // Whether a ScratchCount counts the scratch that kernels reserve.
  bool isCounting() const noexcept { return counted_ != nullptr; }
  // Grows the scratch buffer to the size of the plan, if it is smaller.
  void reserve(const ScratchPlan& plan);
  template <class T>
  T* scratch(Index offset) noexcept {
    return reinterpret_cast<T*>(scratch_.data<std::byte>() + offset);
  }
  template <class T>
  T* scratch(const ThreadScratch& pieces, int thread) noexcept {
    return scratch<T>(pieces.offset + thread * pieces.distance);
  }
  // Number of threads for a kernel that is called now.
  int threads() const {
    if (stream_)
      refuseHostKernel();
    return kernelThreads();
  }
  // As threads(), limited to the number of pieces that were planned when the kernel was created.
  int threads(const ThreadScratch& pieces) const { return std::min(pieces.threads, threads()); }
  // Memory for partial results of a reduction, count elements of T, valid until the next reduction.
  // It is separate from the scratch, which can hold the terms of the reduction.
  template <class T>
  T* parts(Index count) {
    reserveParts(count * static_cast<Index>(sizeof(T)));
    return parts_.data<T>();
  }
  Index scratchBytes() const noexcept { return scratch_.bytes() + parts_.bytes(); }
  // Addresses of the scratch and of the partial results. They change when a later kernel needs
  // more.
  std::array<const void*, 2> scratchAddresses() const noexcept {
    return {scratch_.data<void>(), parts_.data<void>()};
  }
  // Handles of libraries, created by the first kernel of this context that uses the library.
  std::shared_ptr<KernelStream>& oneDnn() noexcept { return oneDnn_; }
  std::shared_ptr<DeviceHandles>& handles() noexcept { return handles_; }

private:
  friend class ScratchCount;
  // Throws TENON_ERR_SUPPORT, since host loops cannot work on device arrays.
  [[noreturn]] static void refuseHostKernel();
  void reserveParts(Index bytes);
  void copyInPieces(void* to, const void* from, Index bytes, bool toDevice);
  void enlarge(Buffer& buffer, Index bytes, const char* label);

  std::optional<Stream> stream_, transfers_, collectives_;
  std::shared_ptr<MemorySource> memory_;
  Buffer scratch_, parts_; // parts_: partial results of reductions
  // If set, reserve() stores the largest plan here and allocates nothing.
  Index* counted_ = nullptr;
  std::array<Buffer, 4> spareStaging_; // page-locked buffers that giveStaging() returned
  std::shared_ptr<KernelStream> oneDnn_;
  std::shared_ptr<DeviceHandles> handles_;
};

using KernelContextPtr = std::shared_ptr<KernelContext>;

// Measures scratch memory: while this object exists, kernels that are created in the context
// allocate no scratch, and bytes() returns the largest plan among them. These kernels must not be
// called.
class ScratchCount {
public:
  explicit ScratchCount(KernelContext& context) : context_(context) { context.counted_ = &bytes_; }
  ~ScratchCount() { context_.counted_ = nullptr; }
  ScratchCount(const ScratchCount&) = delete;
  ScratchCount& operator=(const ScratchCount&) = delete;
  Index bytes() const noexcept { return bytes_; }

private:
  KernelContext& context_;
  Index bytes_ = 0;
};

// Returns the context, or a new one on the host if it is null.
KernelContextPtr contextOrOwn(KernelContextPtr context);

// A list of numbers that kernels read at each call, stored in the memory space of the context.
template <class T>
class ReadList {
public:
  ReadList() = default;
  ReadList(KernelContext& context, std::vector<T> values) {
    if (context.space() == Space::Host) {
      hostValues_ = std::move(values);
      return;
    }
    deviceValues_ =
        Buffer(Index(values.size() * sizeof(T)), "a list that kernels read", context.memory());
    if (!values.empty())
      context.copyAndWait(deviceValues_.data<T>(), values.data(), deviceValues_.bytes());
  }
  // NULL if the list is empty.
  const T* data() const {
    return hostValues_.empty() ? static_cast<const Buffer&>(deviceValues_).data<T>()
                               : hostValues_.data();
  }

private:
  std::vector<T> hostValues_;
  Buffer deviceValues_;
};

} // namespace tenon
