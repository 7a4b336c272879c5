// SPDX-License-Identifier: BSD-2-Clause
#include "linop/exchange/wire.hpp"

namespace tenon {

namespace {

// MPI shows its memory to other processes, which that of a pool does not allow.
std::shared_ptr<MemorySource> memoryFor(const KernelContext& context, Wire::Reach reach) {
  const bool isMpis = context.space() == Space::Device && reach == Wire::Reach::Device;
  return isMpis ? Device::get().unpooled(context.stream()) : context.memory();
}

} // namespace

Wire::Wire(Index bytes, const std::string& label, KernelContextPtr context, Reach reach)
    : context_(std::move(context)), isStaged_(isOnDevice() && reach == Reach::Host),
      cells_(bytes, label, memoryFor(*context_, reach)) {
  if (isStaged())
    staging_ = Buffer(bytes, label + " on the host", Device::get().pinned());
  unpacked(); // the memory of a pool is there when the stream is
}

Wire::~Wire() {
  try {
    if (isStaged())
      context_->transfers().synchronise();
  } catch (...) { // the device has failed, and whoever uses it next is told
  }
}

void Wire::packed() {
  if (!isStaged())
    return;
  received_.synchronise();
  context_->stream().record(packed_);
  context_->transfers().wait(packed_);
}

void Wire::send(Index begin, const void* from, Index bytes, Event& ready) {
  if (!isStaged()) {
    context_->stream().record(ready);
    return;
  }
  const Stream& transfers = context_->transfers();
  Device::get().copy(staging_.data<std::byte>() + begin, from, bytes, transfers);
  transfers.record(ready);
}

void Wire::open() {
  if (isOnDevice())
    (isStaged() ? received_ : free_).synchronise();
  if (isStaged())
    context_->transfers().wait(free_);
}

void Wire::receive(Index begin, Index bytes) {
  if (!isStaged())
    return;
  Device::get().copy(cells() + begin, staging_.data<std::byte>() + begin, bytes,
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
