// SPDX-License-Identifier: BSD-2-Clause
// The accelerator of this process: its memory, its streams, and copies between it and the host.
// Nothing here names CUDA; sys/cuda has the definitions, or no_device.cpp where the library is
// built without.
#pragma once

#include "sys/memory/memory.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace tenon {

// A point in the work of a stream. An event that was never recorded counts as passed.
class Event {
public:
  bool isDone() const;
  // The host waits for the event. Throws TENON_ERR_LIBRARY if work before it failed.
  void synchronise() const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

class Stream;

// Work that was recorded instead of queued: a CUDA graph. Copies stand for the same recording.
class StreamRecording {
public:
  bool exists() const noexcept { return handle_ != nullptr; }
  // Queues all of the work, with the addresses that it was recorded with.
  void queue(const Stream& stream) const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

// Work in order, which runs while the host goes on. Copies of a Stream are the same stream.
class Stream {
public:
  // Makes a new stream, which does not wait for the default stream.
  static Stream make();
  // Wraps a stream (a cudaStream_t), which has to outlive the copies.
  static Stream wrap(void* handle);
  // Wraps the stream on which a caller works. For the default stream that kernels of most programs
  // use (NULL, cudaStreamLegacy) it is a new stream that CUDA keeps in order with that one, in both
  // directions.
  static Stream ofCaller(void* handle);

  // A cudaStream_t.
  void* handle() const noexcept { return handle_.get(); }
  Event record() const;
  // Records the point with an event that is used again: from now on it is this point.
  void record(Event& event) const;
  // Work that is queued here from now on waits for the event.
  void wait(const Event& event) const;
  // The host waits for all that is queued. Throws TENON_ERR_LIBRARY if some of it failed.
  void synchronise() const;
  // The seconds that the device takes for what work() queues here, for which the host waits.
  double secondsOf(const std::function<void()>& work) const;
  // Records the work that work() queues here instead of doing it. It may wait neither for the
  // device nor for other streams. Throws TENON_ERR_LIBRARY if the libraries of the device cannot be
  // recorded.
  StreamRecording recording(const std::function<void()>& work) const;
  // Whether this thread is in the work of such a call, for those who wait or ask what is done.
  static bool isRecording() noexcept;

private:
  std::shared_ptr<void> handle_;
};

// The key by which another process on the node opens device memory: bytes of the driver, without
// pointers.
using MemoryKey = std::array<std::byte, 64>;

class Device {
public:
  // The device of the process, opened by the first call, and current for this thread:
  // -tenon_device, or else the one that the program has made current if that is not the first, or
  // else one by the rank on the node. Throws TENON_ERR_SUPPORT with the reason if there is none.
  static Device& get();
  // The rank on the node is 0 until this is called.
  static void setRankOnNode(int rank) noexcept;
  // The CUDA version that the library was built with, such as "13.0", or "none".
  static std::string toolkitVersion();
  // A line for each device that the process sees, or one that says why there is none. Opens no
  // device.
  static std::string list();

  int number() const noexcept { return number_; }
  const std::string& name() const noexcept { return name_; }
  int multiprocessors() const noexcept { return multiprocessors_; }

  // Device memory in the order of a stream: memory that is given back can be taken again by later
  // work of this stream. Whoever uses a buffer on another stream makes this one wait before the
  // buffer goes.
  std::shared_ptr<MemorySource> memory(const Stream& stream);
  // Device memory that does not come from a pool, so that it can be shown to other processes.
  // Whoever gives it back waits for the device first.
  std::shared_ptr<MemorySource> unpooled(const Stream& stream);
  // Shows other processes the whole of a piece that unpooled() gave, which must not be given back
  // while one of them has it open.
  MemoryKey keyOf(void* memory);
  // Opens the memory that another process shows, until it has been closed as often as opened.
  // Throws TENON_ERR_LIBRARY with the text of the driver if it cannot be reached from here.
  void* openShown(const MemoryKey& key);
  void closeShown(void* memory) noexcept;
  // Registers whole pages of host memory, which kernels then reach at the same address until they
  // are unregistered. Throws TENON_ERR_LIBRARY with the text of the driver, or TENON_ERR_SUPPORT
  // where kernels would need another address.
  void registerHost(void* memory, Index bytes);
  void unregisterHost(void* memory) noexcept;
  // Host memory that copies reach without staging.
  std::shared_ptr<MemorySource> pinned();
  // Queues a copy: neither end may change, and the source may not go, until the stream has done it.
  void copy(void* to, const void* from, Index bytes, const Stream& stream);
  // Whether kernels can use an address: that of device memory, or of host memory that is
  // registered. Host memory that they could use by page faults alone does not count. Throws
  // TENON_ERR_ARG for memory of another CUDA context of the device.
  bool reaches(const void* address) const;
  // The number of the device whose memory an address is in, which need not be this device; -1 for
  // host memory. Known without get(), as soon as the process uses devices.
  static int holderOf(const void* address);
  // Whether CUDA has page-locked some of these pages of the host for the program, so that the
  // device reads and writes the memory that they have now, whatever is mapped there later. Known as
  // holderOf() is.
  static bool isPinned(const std::byte* pages, Index bytes, Index pageBytes);
  // Throws TENON_ERR_ARG unless this is a stream of the context in which the library works: one
  // that was made there, or a default stream while the program has that context current, or none.
  void checkUserStream(void* stream) const;

private:
  Device();

  int number_ = 0;
  std::string name_;
  int multiprocessors_ = 1;
};

// Whose device is current for a thread: the device of the library while it works for a caller, and
// the device of the program otherwise, also in user functions that the library calls. Without an
// open device a turn costs next to nothing.
class DeviceTurn {
public:
  enum class Whose { Program, Library };
  explicit DeviceTurn(Whose whose) noexcept;
  ~DeviceTurn();
  DeviceTurn(const DeviceTurn&) = delete;
  DeviceTurn& operator=(const DeviceTurn&) = delete;

private:
  Whose before_;
};

} // namespace tenon
