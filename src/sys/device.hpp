// SPDX-License-Identifier: BSD-2-Clause
// The accelerator of this process: its memory, its streams, and copies between it and the host. Nothing
// here names CUDA; sys/cuda has the definitions, or no_device.cpp where the library is built without.
#pragma once

#include "sys/memory/memory.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace tenon {

// A point in the work of a stream. One that was never recorded is passed.
class Event {
public:
  bool isDone() const;
  // The host waits for it. Throws TENON_ERR_LIBRARY if work before it failed.
  void synchronise() const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

class Stream;

// Work that was recorded instead of queued: a CUDA graph. Copies are the same one.
class StreamRecording {
public:
  bool exists() const noexcept { return handle_ != nullptr; }
  // All of it, with the addresses that it was recorded with.
  void queue(const Stream& stream) const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

// Work in order, which runs while the host goes on. Copies of a Stream are the same stream.
class Stream {
public:
  // A new one, which does not wait for the default stream.
  static Stream make();
  // The caller's (a cudaStream_t), which has to outlive the copies.
  static Stream wrap(void* handle);

  // A cudaStream_t.
  void* handle() const noexcept { return handle_.get(); }
  Event record() const;
  // The same with an event that is used again, and is this point from now on.
  void record(Event& event) const;
  // What is queued from now on waits for the event.
  void wait(const Event& event) const;
  // The host waits for all that is queued. Throws TENON_ERR_LIBRARY if some of it failed.
  void synchronise() const;
  // What work() queues here is recorded, and not done. It may wait neither for the device nor for other streams.
  // Throws TENON_ERR_LIBRARY if the device's libraries refuse to be recorded.
  StreamRecording recording(const std::function<void()>& work) const;

private:
  std::shared_ptr<void> handle_;
};

// By which another process on the node opens device memory: bytes of the driver's, without pointers.
using MemoryKey = std::array<std::byte, 64>;

class Device {
public:
  // The process's device, opened by the first call, and current for this thread: -tenon_device, or the one that the
  // program has made current if that is not the first, or by the rank on the node. Throws TENON_ERR_SUPPORT with the
  // reason if there is none.
  static Device& get();
  // 0 until somebody who knows it tells.
  static void setRankOnNode(int rank) noexcept;
  // Of the build: "13.0", or that it is without.
  static std::string toolkitVersion();
  // A line for each device that the process sees, or one that says why there is none. Opens none.
  static std::string list();

  int number() const noexcept { return number_; }
  const std::string& name() const noexcept { return name_; }
  int multiprocessors() const noexcept { return multiprocessors_; }

  // Device memory in the order of a stream: what is given back may be taken again by later work of this
  // stream. Whoever uses a buffer on another stream lets this one wait before the buffer goes.
  std::shared_ptr<MemorySource> memory(const Stream& stream);
  // The same that is not from a pool and can be shown to other processes; whoever gives it back waits for the device.
  std::shared_ptr<MemorySource> unpooled(const Stream& stream);
  // Shows others the whole of what unpooled() gave at once, which must not be given back while one has it open.
  MemoryKey keyOf(void* memory);
  // What another process shows, until it is closed as often. Throws TENON_ERR_LIBRARY with the driver's text if it
  // cannot be reached from here.
  void* openShown(const MemoryKey& key);
  void closeShown(void* memory) noexcept;
  // Whole pages of the host's memory become what kernels reach at the same address, until they are no longer. Throws
  // TENON_ERR_LIBRARY with the driver's text, TENON_ERR_SUPPORT where kernels would need another address.
  void registerHost(void* memory, Index bytes);
  void unregisterHost(void* memory) noexcept;
  // Host memory that copies reach without staging.
  std::shared_ptr<MemorySource> pinned();
  // Queued: neither end may change, nor the source go, until the stream is there.
  void copy(void* to, const void* from, Index bytes, const Stream& stream);
  // Whether kernels may use an address: that of device memory, or of host memory that is registered.
  bool reaches(const void* address) const;
  // The number of the device whose memory it is, which need not be this one; -1 for memory of the host. Known without
  // get(), from when on the process uses devices.
  static int holderOf(const void* address);
  // Throws TENON_ERR_ARG unless it is a stream of this device, and no default one.
  void checkCallersStream(void* stream) const;

private:
  Device();

  int number_ = 0;
  std::string name_;
  int multiprocessors_ = 1;
};

// Whose device is current for a thread: the library's while it works for a caller, the program's otherwise, and in
// functions of the program's that the library calls. Without an open device it costs next to nothing.
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
