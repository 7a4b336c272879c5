// SPDX-License-Identifier: BSD-2-Clause
// A buffer of messages in two places: its cells, where kernels pack and unpack, and its bytes, which MPI reads
// and writes. On the host they are one. Of arrays on the device the bytes are pinned memory of the host, and
// copies between the two are queued on the stream of the kernels.
#pragma once

#include "dtensor/kernel_context.hpp"

namespace tenon {

class Wire {
public:
  Wire(Index bytes, const std::string& label, KernelContextPtr context);
  // Waits for the copies that read the bytes.
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  std::byte* cells() noexcept { return cells_.data<std::byte>(); }
  std::byte* bytes() noexcept { return isStaged() ? staging_.data<std::byte>() : cells(); }
  // Whether cells and bytes are apart, so that what follows must be called.
  bool isStaged() const noexcept { return context_->space() == Space::Device; }
  Index heldBytes() const noexcept { return cells_.bytes() + staging_.bytes(); }

  // Cells from `from`, in the space of the kernels, to the bytes from `begin` on; MPI may have them once the event
  // is passed. The host waits as in awaitReceived().
  void send(Index begin, const void* from, Index bytes, Event& ready);
  // The bytes from `begin` on to `to`, in the space of the kernels, for kernels that are called later.
  void receive(Index begin, void* to, Index bytes);
  // The host waits until the bytes that were received have been read, and may be overwritten.
  void awaitReceived() const;

private:
  KernelContextPtr context_;
  Buffer cells_, staging_;
  Event received_;
};

} // namespace tenon
