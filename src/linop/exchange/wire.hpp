// SPDX-License-Identifier: BSD-2-Clause
// Wire: a message buffer with two views: its elements, which kernels pack and unpack, and its
// bytes, which MPI reads and writes. Both views are the same memory on the host, and on the device
// if MPI can access device memory. Otherwise the wire is staged: the elements are device memory,
// the bytes are a second buffer in pinned host memory, and pieces are copied between the two.
//
// On the device the host only queues work: kernels on the stream of the kernel context, and the
// copies on a second stream, where they overlap with other kernels. Order of calls in one action:
//   send side      1. launch packing kernels  2. packed()  3. for each piece send(), then wait for
//                  its event and pass the piece to MPI
//   receive side   1. open()  2. MPI receives  3. receive() for each piece  4. received()
//                  5. launch unpacking kernels  6. unpacked()
#pragma once

#include "comm/exchange.hpp"
#include "dtensor/kernel_context.hpp"
#include "sys/memory/memory.hpp"

#include <array>
#include <memory>

namespace tenon {

// An operator's resources for host arrays and, separately, for device arrays. Each is created when
// the first array in its space is used.

// A resource for each memory space, created when it is first needed.
template <class T>
class PerSpace {
public:
  // The resource of a space; the first call creates it by make().
  template <class Make>
  T& of(Space space, Make make) {
    std::unique_ptr<T>& resource = resources_[static_cast<std::size_t>(space)];
    if (!resource)
      resource = make();
    return *resource;
  }
  // NULL if it has not been created.
  T* find(Space space) const noexcept { return resources_[static_cast<std::size_t>(space)].get(); }
  // Calls visit(T&) for those that have been created.
  template <class Visit>
  void visit(Visit visit) const {
    for (const std::unique_ptr<T>& resource : resources_)
      if (resource)
        visit(*resource);
  }

private:
  std::array<std::unique_ptr<T>, 2> resources_;
};

class Wire {
public:
  enum class Reach { Host, Device }; // The memory that MPI can read and write.
  Wire(Index bytes, const std::string& label, KernelContextPtr context, Reach reach = Reach::Host);
  // Waits until all copies have completed.
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  std::byte* elements() noexcept { return elements_.data<std::byte>(); }
  std::byte* bytes() noexcept { return isStaged() ? staging_.data<std::byte>() : elements(); }
  // True if kernels use the elements asynchronously, so packed() ... unpacked() are needed.
  bool isOnDevice() const noexcept { return context_->space() == Space::Device; }
  // True if elements and bytes are separate memory.
  bool isStaged() const noexcept { return isStaged_; }
  // Size in bytes of the pieces in which a message is sent. One piece of a staged message is copied
  // while another piece is sent.
  Index pieceBytes() const noexcept {
    return isStaged() ? kStagedPieceBytes : Exchange::kMaxPieceBytes;
  }
  Index heldBytes() const noexcept { return elements_.bytes() + staging_.bytes(); }

  // Makes the copies that send() queues wait for the packing kernels launched before. Copies of an
  // earlier receive() can still read the bytes that they write; these are on the same stream, and
  // so before them.
  void packed();
  // Copies elements at `from`, in kernel memory, to the bytes at offset `begin`. MPI can read them
  // once the event `ready` has completed.
  void send(Index begin, const void* from, Index bytes, Event& ready);

  // Allows MPI to write the bytes; waits on the host until that is safe.
  void open();
  // Copies the bytes at offset `begin` to the same offset of the elements.
  void receive(Index begin, Index bytes);
  // Makes kernels launched from now on wait for the copies of receive().
  void received();
  // Records that the kernels which read the elements have been launched.
  void unpacked();

private:
  // Large compared with the latency of a copy, small enough that copies and messages overlap.
  static constexpr Index kStagedPieceBytes = Index(4) << 20;

  KernelContextPtr context_;
  bool isStaged_;
  Buffer elements_, staging_;
  Event packed_, received_, free_;
};

} // namespace tenon
