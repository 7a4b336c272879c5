// SPDX-License-Identifier: BSD-2-Clause
// Counted memory: every array of the library is a Buffer, aligned for vector instructions. Thus the
// memory in use and the high-water mark of the process are known. A buffer is allocated on the
// heap, or from a source of another module, such as memory that is shared by the processes of a
// node.
//
// FirstFit allocates within a range of bytes, such as that of a source. A source (MemorySource) is
// implemented by SharedArena and DeviceArena in comm, and by the pool of CUDA memory.
#pragma once

#include "sys/errors/error.hpp"
#include "sys/types.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tenon {

// The smallest multiple of `unit` that is >= value.
inline Index roundedUp(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

// Bytes of a cache line, and of the widest vector register.
inline constexpr std::size_t kAlignment = 64;

// The memory space: accessible to host code, or to kernels of the device (device.hpp).
enum class Space { Host, Device };

constexpr const char* spaceName(Space space) {
  return space == Space::Host ? "host" : "device";
}

// Physical memory of this machine in bytes, which all its processes share.
Index machineMemory() noexcept;

class MemorySource {
public:
  virtual ~MemorySource() = default;
  // Returns memory aligned to kAlignment, or NULL if the source has none left.
  virtual void* allocate(Index bytes) = 0;
  virtual void deallocate(void* memory) noexcept = 0;
  virtual Space space() const noexcept { return Space::Host; }
  virtual void fill(void* memory, unsigned char byte, Index bytes);
};

class Buffer {
public:
  Buffer() = default;
  // Uninitialised bytes; `label` names the owner in messages, such as "Layer 'conv1' weights".
  Buffer(Index bytes, std::string label,
         std::source_location where = std::source_location::current());
  // Uninitialised bytes from a source, which the buffer keeps alive. The heap is used if the source
  // is NULL, or if a source of host memory has none left.
  Buffer(Index bytes, std::string label, std::shared_ptr<MemorySource> source,
         std::source_location where = std::source_location::current());
  // Uninitialised memory for count elements of T.
  template <class T>
  static Buffer of(Index count, std::string label,
                   std::source_location where = std::source_location::current()) {
    const Index bytes = bytesOf(count, sizeof(T), label, where);
    return Buffer(bytes, std::move(label), where);
  }
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  Index bytes() const noexcept { return bytes_; }
  Space space() const noexcept { return source_ ? source_->space() : Space::Host; }
  const std::string& label() const noexcept { return label_; }
  // NULL if the buffer is empty.
  template <class T>
  T* data() noexcept {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* data() const noexcept {
    return static_cast<const T*>(data_);
  }
  void setZero() { fill(0); }
  // Sets every byte to this value.
  void fill(unsigned char byte);

private:
  static Index bytesOf(Index count, std::size_t size, const std::string& label,
                       const std::source_location& where);
  void allocate(const std::source_location& where);

  void* data_ = nullptr;
  Index bytes_ = 0;
  std::string label_;
  std::shared_ptr<MemorySource> source_; // NULL: the heap
};

// Bytes of all buffers of the process in a space: now, and the maximum so far.
Index bytesAlive(Space space = Space::Host) noexcept;
Index memoryHighWater(Space space = Space::Host) noexcept;
// Number of allocations of buffers so far.
Index buffersTaken(Space space = Space::Host) noexcept;

// A first-fit allocator within a range of bytes, in which adjacent gaps are merged. Allocations are
// offsets: the allocator does not access the memory.
class FirstFit {
public:
  explicit FirstFit(Index bytes);

  // Allocates `bytes` > 0 and returns the offset, a multiple of `alignment`; nothing if no gap is
  // large enough.
  std::optional<Index> allocate(Index bytes, Index alignment);
  // Frees an allocation by its offset, without allocating memory. Returns its size in bytes.
  Index deallocate(Index offset);
  Index bytesTaken() const noexcept { return taken_; }

private:
  using Ranges = std::map<Index, Index>; // begin to end

  Ranges gaps_, allocations_;
  Index taken_ = 0;
};

} // namespace tenon
