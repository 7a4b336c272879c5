// SPDX-License-Identifier: BSD-2-Clause
// A buffer of messages in two places: its elements, where kernels pack and unpack, and its bytes,
// which MPI reads and writes. On the host they are one, and with an MPI library that reaches the
// device also there. Otherwise the bytes of arrays on the device are pinned memory of the host.
//
// On the device the host only queues: kernels on the stream of the context, copies between elements
// and bytes on a stream of their own, so that they run beside kernels that are queued between
// sending and receiving.
#pragma once

#include "comm/exchange.hpp"
#include "dtensor/kernel_context.hpp"
#include "sys/memory/memory.hpp"

#include <array>
#include <memory>

namespace tenon {

// What an operator holds for arrays on the host and, apart from it, for those on the device. Each
// is made when the first array of its space comes.

template <class T>
class PerSpace {
public:
  // That of a space; the first time it is what make() gives.
  template <class Make>
  T& of(Space space, Make make) {
    std::unique_ptr<T>& made = made_[static_cast<std::size_t>(space)];
    if (!made)
      made = make();
    return *made;
  }
  // NULL as long as none has come.
  T* find(Space space) const noexcept { return made_[static_cast<std::size_t>(space)].get(); }
  // Calls visit(T&) for those that there are.
  template <class Visit>
  void visit(Visit visit) const {
    for (const std::unique_ptr<T>& made : made_)
      if (made)
        visit(*made);
  }

private:
  std::array<std::unique_ptr<T>, 2> made_;
};

class Wire {
public:
  enum class Reach { Host, Device }; // whose memory MPI reads and writes
  Wire(Index bytes, const std::string& label, KernelContextPtr context, Reach reach = Reach::Host);
  // Waits for the copies.
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  std::byte* elements() noexcept { return elements_.data<std::byte>(); }
  std::byte* bytes() noexcept { return isStaged() ? staging_.data<std::byte>() : elements(); }
  // Whether kernels work on the elements while the host goes on, so that the calls below are
  // needed.
  bool isOnDevice() const noexcept { return context_->space() == Space::Device; }
  // Whether elements and bytes are apart.
  bool isStaged() const noexcept { return isStaged_; }
  // A message travels in pieces of so many bytes, and those of a staged one are copied while others
  // travel.
  Index pieceBytes() const noexcept {
    return isStaged() ? kStagedPieceBytes : Exchange::kMaxPieceBytes;
  }
  Index heldBytes() const noexcept { return elements_.bytes() + staging_.bytes(); }

  // Makes the copies of the calls of send() that follow wait for the kernels that have been called
  // until now. The host waits until no copy reads the bytes, which may hold what was received
  // before.
  void packed();
  // Copies elements from `from`, in the space of the kernels, to the bytes from `begin` on. MPI may
  // have them once the event is passed.
  void send(Index begin, const void* from, Index bytes, Event& ready);

  // Lets MPI write the bytes from now on, for which the host waits.
  void open();
  // Copies the bytes from `begin` on to the same place among the elements.
  void receive(Index begin, Index bytes);
  // Makes the kernels that are called from now on wait for these copies.
  void received();
  // Says that the kernels that read the elements have been called.
  void unpacked();

private:
  static constexpr Index kStagedPieceBytes = Index(4) << 20;

  KernelContextPtr context_;
  bool isStaged_;
  Buffer elements_, staging_;
  Event packed_, received_, free_;
};

} // namespace tenon
