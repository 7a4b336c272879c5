// SPDX-License-Identifier: BSD-2-Clause
// The context that the kernels of a rank share: one piece of scratch memory, as large as the
// greediest of them needs, since only one of them runs at a time. What a kernel leaves there is
// lost with the next call of another. A kernel plans its scratch when it is made, and looks the
// memory up at each call, because it moves when a later kernel needs more. The context also says
// where the kernels work: on the host, with a number of threads, or on the device, whose kernels
// run in order on the context's stream.
#pragma once

#include "kernels/base/parallel.hpp"
#include "sys/device.hpp"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tenon {

// Pieces of one kind, one for each thread, no two in one cache line.
struct ThreadScratch {
  Index offset = 0, distance = 0; // bytes
  int threads = 1;
};

// Offsets of the pieces of one kernel's scratch.
class ScratchPlan {
public:
  // Room for count elements of T; gives its offset in bytes, aligned as a Buffer is.
  template <class T>
  Index add(Index count) {
    const Index offset = bytes_;
    const Index alignment = static_cast<Index>(kAlignment);
    bytes_ += (count * static_cast<Index>(sizeof(T)) + alignment - 1) / alignment * alignment;
    return offset;
  }
  // Room for count elements of T for each thread.
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

// A context must be used by one caller at a time.
class KernelContext {
public:
  KernelContext() = default; // of the host
  // Throws TENON_ERR_SUPPORT if there is no device.
  explicit KernelContext(Space space);
  // A context of the device with this stream.
  explicit KernelContext(Stream stream);

  Space space() const noexcept { return stream_ ? Space::Device : Space::Host; }
  // Memory that its kernels may touch, for a Buffer; NULL on the host.
  const std::shared_ptr<MemorySource>& memory() const noexcept { return memory_; }
  // Only for a context of the device.
  const Stream& stream() const { return *stream_; }
  // A second stream for copies between the spaces that run beside kernels. Only events order what
  // is queued there and on stream().
  const Stream& transfers();
  // Brings values to the host, which waits for them.
  void fetch(void* to, const void* from, Index bytes) const;
  // Host memory for a copy between the spaces, to be given back when the copy is done. It is
  // page-locked and kept for the next copy, unless it is large.
  Buffer takeStaging(Index bytes);
  void giveStaging(Buffer staging) noexcept;

  // Makes the scratch large enough for the plan.
  void reserve(const ScratchPlan& plan);
  template <class T>
  T* scratch(Index offset) noexcept {
    return reinterpret_cast<T*>(scratch_.data<std::byte>() + offset);
  }
  template <class T>
  T* scratch(const ThreadScratch& pieces, int thread) noexcept {
    return scratch<T>(pieces.offset + thread * pieces.distance);
  }
  // How many threads a kernel may use that is called now.
  int threads() const {
    if (stream_)
      refuseHostKernel();
    return kernelThreads();
  }
  // The same for a kernel that works in these pieces, which were planned when it was made.
  int threads(const ThreadScratch& pieces) const { return std::min(pieces.threads, threads()); }
  // Room for the parts of a reduction, count elements of T, until the next reduction. It is not in
  // the scratch, where the terms may be.
  template <class T>
  T* parts(Index count) {
    reserveParts(count * static_cast<Index>(sizeof(T)));
    return parts_.data<T>();
  }
  Index scratchBytes() const noexcept { return scratch_.bytes() + parts_.bytes(); }
  // The addresses of the scratch and of the parts, until a later kernel needs more.
  std::array<const void*, 2> scratchAddresses() const noexcept {
    return {scratch_.data<void>(), parts_.data<void>()};
  }
  // What libraries need in this context, made by the first kernel that uses them.
  std::shared_ptr<KernelStream>& oneDnn() noexcept { return oneDnn_; }
  std::shared_ptr<DeviceHandles>& handles() noexcept { return handles_; }

private:
  friend class ScratchCount;
  // Throws TENON_ERR_SUPPORT, since loops of the host cannot work on arrays of the device.
  [[noreturn]] static void refuseHostKernel();
  void reserveParts(Index bytes);
  void enlarge(Buffer& buffer, Index bytes, const char* label);

  std::optional<Stream> stream_, transfers_;
  std::shared_ptr<MemorySource> memory_;
  Buffer scratch_, parts_;
  Index* counted_ = nullptr; // where plans are counted instead of fulfilled
  std::array<Buffer, 4> spareStaging_;
  std::shared_ptr<KernelStream> oneDnn_;
  std::shared_ptr<DeviceHandles> handles_;
};

using KernelContextPtr = std::shared_ptr<KernelContext>;

// As long as it lives, kernels that are made in the context get no scratch: how much the greediest
// of them would need is counted. They must not be called.
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

// The context itself, or a new one of the host where there is none.
KernelContextPtr contextOrOwn(KernelContextPtr context);

// A list of numbers that kernels read at each call, stored where the kernels of the context work.
template <class T>
class ReadList {
public:
  ReadList() = default;
  ReadList(KernelContext& context, std::vector<T> values) {
    if (context.space() == Space::Host) {
      here_ = std::move(values);
      return;
    }
    there_ = Buffer(Index(values.size() * sizeof(T)), "a list that kernels read", context.memory());
    if (!values.empty())
      context.fetch(there_.data<T>(), values.data(), there_.bytes());
  }
  // Null if the list is empty.
  const T* data() const {
    return here_.empty() ? static_cast<const Buffer&>(there_).data<T>() : here_.data();
  }

private:
  std::vector<T> here_;
  Buffer there_;
};

} // namespace tenon
