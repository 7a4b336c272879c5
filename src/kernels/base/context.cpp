// SPDX-License-Identifier: BSD-2-Clause
// Scratch memory, staging buffers and streams of a context. Memory only grows: a kernel plans its
// scratch once, and a time step must not allocate, so that after the first step a context has all
// that its kernels need.
#include "kernels/base/context.hpp"

#include "sys/memory/memory.hpp"

#include <algorithm>

namespace tenon {

namespace {

// Small copies share sizes, so that a spare buffer fits the next one.
constexpr Index kMinStaged = Index(4) << 10;
constexpr Index kMaxStaged = Index(64) << 20; // page-locking more takes longer than its copy

} // namespace

KernelContext::KernelContext(Space space) {
  if (space == Space::Device)
    *this = KernelContext(Stream::make());
}

KernelContext::KernelContext(Stream stream)
    : stream_(std::move(stream)), memory_(Device::get().memory(*stream_)) {}

const Stream& KernelContext::transfers() {
  if (!transfers_)
    transfers_ = Stream::make();
  return *transfers_;
}

void KernelContext::fetch(void* to, const void* from, Index bytes) const {
  Device::get().copy(to, from, bytes, *stream_);
  stream_->synchronise();
}

Buffer KernelContext::takeStaging(Index bytes) {
  constexpr const char* kLabel = "values on the host";
  if (bytes > kMaxStaged)
    return {bytes, kLabel};
  for (Buffer& spare : spareStaging_)
    if (spare.bytes() >= bytes)
      return std::move(spare);
  return {roundedUp(bytes, kMinStaged), kLabel, Device::get().pinned()};
}

// The largest buffers are kept, since they serve every smaller copy as well.
void KernelContext::giveStaging(Buffer staging) noexcept {
  Buffer& least = *std::ranges::min_element(spareStaging_, {}, &Buffer::bytes);
  if (staging.bytes() <= kMaxStaged && staging.bytes() > least.bytes())
    least = std::move(staging);
}

void KernelContext::refuseHostKernel() {
  throw Error(TENON_ERR_SUPPORT, "a kernel that has no code for the device was called with its "
                                 "arrays; use the space host for this object");
}

void KernelContext::reserve(const ScratchPlan& plan) {
  if (counted_) {
    *counted_ = std::max(*counted_, plan.bytes());
    return;
  }
  enlarge(scratch_, plan.bytes(), "scratch of the kernels");
}

void KernelContext::reserveParts(Index bytes) {
  enlarge(parts_, bytes, "parts of reductions");
}

// The old memory is freed first, so that both need not fit at a time. If the new memory does not
// fit, the old size is allocated again, so that kernels that were made before go on working.
void KernelContext::enlarge(Buffer& buffer, Index bytes, const char* label) {
  const Index before = buffer.bytes();
  if (bytes <= before)
    return;
  buffer = Buffer();
  try {
    buffer = Buffer(bytes, label, memory_);
  } catch (...) {
    buffer = Buffer(before, label, memory_);
    throw;
  }
}

KernelContextPtr contextOrOwn(KernelContextPtr context) {
  return context ? std::move(context) : std::make_shared<KernelContext>();
}

} // namespace tenon
