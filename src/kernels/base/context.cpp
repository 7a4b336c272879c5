// SPDX-License-Identifier: BSD-2-Clause
// Scratch memory, staging buffers and streams of a context. Memory only grows: each kernel plans
// its scratch when it is created, so after the first time step a context no longer allocates.
#include "kernels/base/context.hpp"

#include "sys/memory/memory.hpp"

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {

// Staging sizes are multiples of 4 KiB, which makes a spare buffer fit the next small copy.
constexpr Index kMinStaged = Index(4) << 10;
// Page-locking more takes longer than the copy itself.
constexpr Index kMaxStaged = Index(64) << 20;

// Copies of memory of the program, which is rarely page-locked, pass through two page-locked pieces
// in turn: while the device copies one, the host's threads copy the other. The driver does the same
// with one thread. Short copies are left to it; a piece is large compared with the latency of a
// copy.
constexpr Index kMinInPieces = Index(256) << 10;
constexpr Index kPieceBytes = Index(4) << 20;

void copyOnHost(void* to, const void* from, Index bytes) {
  parallelRanges(kernelThreads(), bytes, 1, [=](Index begin, Index end) {
    std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

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

const Stream& KernelContext::collectives() {
  if (!collectives_)
    collectives_ = Stream::make();
  return *collectives_;
}

void KernelContext::copyAndWait(void* to, const void* from, Index bytes) {
  Device& device = Device::get();
  if (bytes >= kMinInPieces) {
    const bool reachesTarget = device.reaches(to);
    if (!reachesTarget || !device.reaches(from))
      return copyInPieces(to, from, bytes, reachesTarget);
  }
  device.copy(to, from, bytes, *stream_);
  stream_->synchronise();
}

void KernelContext::copyInPieces(void* to, const void* from, Index bytes, bool toDevice) {
  struct Piece {
    Buffer memory;
    Event copied;
    Index begin = 0, bytes = 0;
  };
  std::array<Piece, 2> pieces{Piece{takeStaging(kPieceBytes), {}},
                              Piece{takeStaging(kPieceBytes), {}}};
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  const auto finish = [&](Piece& piece) {
    piece.copied.synchronise();
    if (!toDevice)
      copyOnHost(target + piece.begin, piece.memory.data<void>(), piece.bytes);
    piece.bytes = 0;
  };
  std::size_t turn = 0;
  for (Index begin = 0; begin < bytes; begin += kPieceBytes, turn = 1 - turn) {
    Piece& piece = pieces[turn];
    finish(piece);
    piece.begin = begin;
    piece.bytes = std::min(kPieceBytes, bytes - begin);
    if (toDevice)
      copyOnHost(piece.memory.data<void>(), source + begin, piece.bytes);
    Device::get().copy(toDevice ? target + begin : piece.memory.data<std::byte>(),
                       toDevice ? piece.memory.data<std::byte>() : source + begin, piece.bytes,
                       *stream_);
    stream_->record(piece.copied);
  }
  for (std::size_t n : {turn, 1 - turn}) { // the older piece first
    finish(pieces[n]);
    giveStaging(std::move(pieces[n].memory));
  }
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

// Keeps the largest buffers, since they serve every smaller copy as well.
void KernelContext::giveStaging(Buffer staging) noexcept {
  Buffer& smallest = *std::ranges::min_element(spareStaging_, {}, &Buffer::bytes);
  if (staging.bytes() <= kMaxStaged && staging.bytes() > smallest.bytes())
    smallest = std::move(staging);
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

// Frees the old memory first, since the device need not have enough for both. If the new allocation
// fails, the old size is allocated again, and kernels created earlier continue to work.
void KernelContext::enlarge(Buffer& buffer, Index bytes, const char* label) {
  const Index oldBytes = buffer.bytes();
  if (bytes <= oldBytes)
    return;
  buffer = Buffer();
  try {
    buffer = Buffer(bytes, label, memory_);
  } catch (...) {
    buffer = Buffer(oldBytes, label, memory_);
    throw;
  }
}

KernelContextPtr contextOrOwn(KernelContextPtr context) {
  return context ? std::move(context) : std::make_shared<KernelContext>();
}

} // namespace tenon
