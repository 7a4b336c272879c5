// SPDX-License-Identifier: BSD-2-Clause
// Counted memory: every array of the library is a Buffer, aligned for vector instructions, so that
// the memory in use and the high water of the process are known. A buffer comes from the heap, or
// from a source that another module offers, such as memory that the processes of a node share.
//
// FirstFit divides a range of bytes, such as that of a source, into places.
#pragma once

#include "sys/errors/error.hpp"
#include "sys/types.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tenon {

// The next multiple of a unit.
inline Index roundedUp(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

inline constexpr std::size_t kAlignment = 64;

// The code that can use the memory: that of the host, or kernels of the device (device.hpp).
enum class Space { Host, Device };

constexpr const char* spaceName(Space space) {
  return space == Space::Host ? "host" : "device";
}

// The bytes of this machine's memory; what its processes share, of which a part may be promised to
// others.
Index machineMemory() noexcept;

class MemorySource {
public:
  virtual ~MemorySource() = default;
  // Memory aligned to kAlignment; NULL if the source has none left.
  virtual void* take(Index bytes) = 0;
  virtual void giveBack(void* memory) noexcept = 0;
  virtual Space space() const noexcept { return Space::Host; }
  virtual void fill(void* memory, unsigned char byte, Index bytes);
};

class Buffer {
public:
  Buffer() = default;
  // Uninitialised bytes; label says whose they are in messages: "Layer 'conv1' weights".
  Buffer(Index bytes, std::string label,
         std::source_location where = std::source_location::current());
  // Uninitialised bytes from a source, which lives as long as the buffer; from the heap if the
  // source is NULL, or is one of host memory that has none left.
  Buffer(Index bytes, std::string label, std::shared_ptr<MemorySource> source,
         std::source_location where = std::source_location::current());
  // Room for count elements of T.
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
  // NULL for an empty buffer.
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
  void take(const std::source_location& where);

  void* data_ = nullptr;
  Index bytes_ = 0;
  std::string label_;
  std::shared_ptr<MemorySource> source_; // NULL: the heap
};

// Bytes of all buffers of the process in a space, now and at most so far.
Index bytesAlive(Space space = Space::Host) noexcept;
Index memoryHighWater(Space space = Space::Host) noexcept;
// How often any buffer has taken memory so far.
Index buffersTaken(Space space = Space::Host) noexcept;

// Places within a range of bytes: the first gap that is wide enough, and gaps that touch become one
// again. Places are numbers; the memory behind them is somebody else's.
class FirstFit {
public:
  explicit FirstFit(Index bytes);

  // Takes that many bytes, more than 0, and returns their place, a multiple of `alignment`; none if
  // no gap is wide enough.
  std::optional<Index> take(Index bytes, Index alignment);
  // Frees a place that was taken, without allocating; returns its bytes.
  Index giveBack(Index place);
  Index bytesTaken() const noexcept { return taken_; }

private:
  using Ranges = std::map<Index, Index>; // begin to end

  Ranges gaps_, places_;
  Index taken_ = 0;
};

} // namespace tenon
