// SPDX-License-Identifier: BSD-2-Clause
#include "linop/wire.hpp"

namespace tenon {

Wire::Wire(Index bytes, const std::string& label, KernelContextPtr context)
    : context_(std::move(context)), cells_(bytes, label, context_->memory()) {
  if (isStaged())
    staging_ = Buffer(bytes, label + " on the host", Device::get().pinned());
}

Wire::~Wire() {
  try {
    awaitReceived();
  } catch (...) { // the device has failed, and whoever uses it next is told
  }
}

void Wire::send(Index begin, const void* from, Index bytes, Event& ready) {
  awaitReceived();
  const Stream& stream = context_->stream();
  Device::get().copy(staging_.data<std::byte>() + begin, from, bytes, stream);
  stream.record(ready);
}

void Wire::receive(Index begin, void* to, Index bytes) {
  const Stream& stream = context_->stream();
  Device::get().copy(to, staging_.data<std::byte>() + begin, bytes, stream);
  stream.record(received_);
}

void Wire::awaitReceived() const {
  if (isStaged())
    received_.synchronise();
}

} // namespace tenon
