// SPDX-License-Identifier: BSD-2-Clause
// Wire: the order between kernels, copies and MPI. On the host all calls do nothing. On the device,
// events order kernels and copies on their two streams, and the host waits only before bytes are
// written that a copy or a kernel can still be reading.
#include "linop/exchange/wire.hpp"

namespace tenon {

namespace {

// MPI can share device memory with other processes, which memory of a pool does not support.
std::shared_ptr<MemorySource> memoryFor(const KernelContext& context, Wire::Reach reach) {
  const bool mpiReadsDevice = context.space() == Space::Device && reach == Wire::Reach::Device;
  return mpiReadsDevice ? Device::get().unpooled(context.stream()) : context.memory();
}

} // namespace

Wire::Wire(Index bytes, const std::string& label, KernelContextPtr context, Reach reach)
    : context_(std::move(context)), isStaged_(isOnDevice() && reach == Reach::Host),
      elements_(bytes, label, memoryFor(*context_, reach)) {
  if (isStaged())
    staging_ = Buffer(bytes, label + " on the host", Device::get().pinned());
  // The memory of a pool is valid when the stream has reached its allocation; the first copy waits
  // for this event as for kernels that unpack.
  unpacked();
}

Wire::~Wire() {
  try {
    if (isStaged())
      context_->transfers().synchronise();
  } catch (...) { // The next use of the device reports the error.
  }
}

void Wire::packed() {
  if (!isStaged())
    return;
  context_->stream().record(packed_);
  context_->transfers().wait(packed_);
}

// Without staging MPI reads the elements themselves, so the event follows the kernels that pack.
void Wire::send(Index begin, const void* from, Index bytes, Event& ready) {
  if (!isStaged()) {
    context_->stream().record(ready);
    return;
  }
  const Stream& transfers = context_->transfers();
  Device::get().copy(staging_.data<std::byte>() + begin, from, bytes, transfers);
  transfers.record(ready);
}

// MPI can write the bytes when nothing reads them: with staging, when the copies out of the bytes
// are done, otherwise when the kernels that unpack the elements are done. Copies into the elements
// wait for those kernels on their stream, not on the host.
void Wire::open() {
  if (isOnDevice())
    (isStaged() ? received_ : free_).synchronise();
  if (isStaged())
    context_->transfers().wait(free_);
}

void Wire::receive(Index begin, Index bytes) {
  if (!isStaged())
    return;
  Device::get().copy(elements() + begin, staging_.data<std::byte>() + begin, bytes,
                     context_->transfers());
}

void Wire::received() {
  if (!isStaged())
    return;
  context_->transfers().record(received_);
  context_->stream().wait(received_);
}

void Wire::unpacked() {
  if (isOnDevice())
    context_->stream().record(free_);
}

} // namespace tenon
