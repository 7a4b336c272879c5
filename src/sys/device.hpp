// SPDX-License-Identifier: BSD-2-Clause
// The accelerator of this process: its memory, its streams, and copies between it and the host. The
// header is independent of CUDA; the definitions are in sys/cuda, or in no_device.cpp for a build
// without CUDA. Typical use:
//
//   Device& device = Device::get();              // opens the device at the first call
//   Stream stream = Stream::make();              // a queue of work that runs in order
//   device.copy(to, from, bytes, stream);        // returns before the copy is done
//   Event done = stream.record();                // the point after the copy
//   other.wait(done);  or  done.synchronise();   // another stream waits, or the host does
#pragma once

#include "sys/memory/memory.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>

namespace tenon {

// A point in the order of the work of a stream (a CUDA event), which is done when the device has
// executed all work that was queued before. An event that was never recorded counts as done.
class Event {
public:
  bool isDone() const;
  // Blocks the host until the event. Throws TENON_ERR_LIBRARY if work before it failed.
  void synchronise() const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

class Stream;

// Work that was recorded instead of queued (a CUDA graph), and can then be queued many times.
// Copies of the object refer to the same recording.
class StreamRecording {
public:
  bool exists() const noexcept { return handle_ != nullptr; }
  // Queues all of the work, with the addresses that were recorded.
  void queue(const Stream& stream) const;

private:
  friend class Stream;
  std::shared_ptr<void> handle_;
};

// A queue of work that the device executes in order, asynchronously to the host (a CUDA stream).
// Copies of the object refer to the same stream.
class Stream {
public:
  // Creates a stream that does not synchronise with the default stream.
  static Stream make();
  // Wraps an existing cudaStream_t, which must remain valid while this Stream or a copy of it
  // exists.
  static Stream wrap(void* handle);
  // Wraps the stream on which a user works. For the legacy default stream (NULL or
  // cudaStreamLegacy) the result is a new stream, with which CUDA synchronises the default stream
  // in both directions.
  static Stream ofCaller(void* handle);

  // The cudaStream_t.
  void* handle() const noexcept { return handle_.get(); }
  Event record() const;
  // Records this point with an existing event, replacing the previous one.
  void record(Event& event) const;
  // Work that is queued on this stream from now on waits for the event.
  void wait(const Event& event) const;
  // Blocks the host until all queued work is done. Throws TENON_ERR_LIBRARY if some of it failed.
  void synchronise() const;
  // Device time in seconds of the work that work() queues on this stream. Blocks the host.
  double secondsOf(const std::function<void()>& work) const;
  // Records the work that work() queues on this stream instead of executing it. work() must not
  // wait for the device or for other streams. Throws TENON_ERR_LIBRARY if the libraries of the
  // device do not support recording.
  StreamRecording recording(const std::function<void()>& work) const;
  // Whether this thread is inside recording(): code that waits or queries must check it.
  static bool isRecording() noexcept;

private:
  std::shared_ptr<void> handle_;
};

// The key by which another process on the node opens device memory: opaque bytes of the driver,
// without pointers.
using MemoryKey = std::array<std::byte, 64>;

class Device {
public:
  // The device of the process, opened by the first call and made current for this thread. It is the
  // device of -tenon_device; otherwise the one that the program has made current, if that is not
  // device 0; otherwise one selected by the rank on the node. Throws TENON_ERR_SUPPORT with the
  // reason if there is none.
  static Device& get();
  // Sets the rank of this process among the processes of its node, from which get() selects a
  // device, and their number; 0 until this call.
  static void setPlaceOnNode(int rank, int size) noexcept;
  static int processesOnNode() noexcept;
  // CUDA version with which the library was built, such as "13.0", or "none".
  static std::string toolkitVersion();
  // One line per device that the process sees, or one line with the reason why there is none. Does
  // not open a device.
  static std::string list();

  int number() const noexcept { return number_; }
  const std::string& name() const noexcept { return name_; }
  int multiprocessors() const noexcept { return multiprocessors_; }

  // Allocator of device memory in the order of a stream: freed memory can be reused by later work
  // of this stream. If a buffer is used on another stream, this stream must wait for it before the
  // buffer is freed.
  std::shared_ptr<MemorySource> memory(const Stream& stream);
  // Allocator of device memory outside the pool, which can be shared with other processes. The
  // caller must synchronise with the device before it frees such memory.
  std::shared_ptr<MemorySource> unpooled(const Stream& stream);
  // Key of a whole allocation of unpooled(). The memory must not be freed while another process
  // maps it.
  MemoryKey keyOf(void* memory);
  // Maps memory of another process, by its keyOf(), into this process; closeShown() unmaps it, once
  // per openShown(). Throws TENON_ERR_LIBRARY with the driver's text if this process cannot access
  // the memory.
  void* openShown(const MemoryKey& key);
  void closeShown(void* memory) noexcept;
  // Registers whole pages of host memory, which kernels can then access at the same address until
  // they are unregistered. Throws TENON_ERR_LIBRARY with the driver's text, or TENON_ERR_SUPPORT if
  // kernels would need a different address.
  void registerHost(void* memory, Index bytes);
  void unregisterHost(void* memory) noexcept;
  // Allocator of page-locked host memory, which is copied to the device without staging.
  std::shared_ptr<MemorySource> pinned();
  // Queues a copy. Both ends must remain valid and unchanged until the stream has executed it.
  void copy(void* to, const void* from, Index bytes, const Stream& stream);
  // Whether kernels can use an address: device memory, or registered host memory. Host memory that
  // is accessible by page faults only does not count. Throws TENON_ERR_ARG for memory of another
  // CUDA context of the device.
  bool reaches(const void* address) const;
  // Number of the device whose memory contains the address (any device, not only this one), or -1
  // for host memory. Does not call get(); works as soon as the process uses a device.
  static int holderOf(const void* address);
  // Whether CUDA has page-locked some of these host pages for the program. The device then accesses
  // the physical pages that are mapped now, whatever is mapped there later. Does not call get().
  static bool isPinned(const std::byte* pages, Index bytes, Index pageBytes);
  // Throws TENON_ERR_ARG unless the stream belongs to the CUDA context of the library: a stream
  // that was created in this context, or a default stream while the program has this context, or no
  // context, current.
  void checkUserStream(void* stream) const;

private:
  Device();

  int number_ = 0;
  std::string name_;
  int multiprocessors_ = 1;
};

// Scope in which one of two CUDA devices is current for this thread: that of the library while a
// call of the library runs, or that of the program while the program's code runs, including user
// functions that the library calls. The destructor makes the previous one current. Nearly free
// while no device is open.
class CurrentDeviceScope {
public:
  enum class Whose { Program, Library };
  explicit CurrentDeviceScope(Whose whose) noexcept;
  ~CurrentDeviceScope();
  CurrentDeviceScope(const CurrentDeviceScope&) = delete;
  CurrentDeviceScope& operator=(const CurrentDeviceScope&) = delete;

private:
  Whose before_;
};

} // namespace tenon
