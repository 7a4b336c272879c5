// SPDX-License-Identifier: BSD-2-Clause
// Shared memory of the ranks of a node. make() has three steps, and if one rank fails in one of
// them no rank of the node has an arena:
//   1. each rank creates its segment, a file in /dev/shm
//   2. MPI_Allgather of the names and sizes of the segments
//   3. each rank maps the segments of the other ranks; the names are then removed
// Without a name, the system deletes a segment when its last process ends, so nothing remains in
// /dev/shm after a crash. The other functions allocate in this rank's segment, and replace pages of
// the user by pages of the segment.
#include "comm/memory/shared_arena.hpp"

#include "sys/device.hpp"
#include "sys/memory/own_memory.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <random>

namespace tenon {

namespace {

constexpr Index kLineBytes = 64;
// Allocations of this size and more are aligned to pages, and discarded when freed.
constexpr Index kLarge = Index(1) << 20;

std::string freshName() {
  std::random_device random;
  return fmt::format("tenon.{}.{:08x}{:08x}", getpid(), random(), random());
}

// The name of this rank's file in /dev/shm. The destructor removes it, once the other ranks have
// mapped the file or all ranks have given up.
struct SegmentName {
  std::string text = {};

  SegmentName() = default;
  SegmentName(const SegmentName&) = delete;
  SegmentName& operator=(const SegmentName&) = delete;
  ~SegmentName() {
    if (!text.empty())
      SharedSegment::unlink(text);
  }
};

// The memory that a rank reserves, in whole pages.
struct Reservation {
  Index bytes;
  std::string whySmall;

  void check() const {
    if (bytes == 0 && whySmall.empty())
      throw Error(TENON_ERR_MEMORY, "-tenon_shared_memory is 0");
    if (bytes < kLarge)
      throw Error(TENON_ERR_MEMORY,
                  whySmall.empty()
                      ? fmt::format("a rank's share of /dev/shm is {} bytes; expected {} or more",
                                    bytes, kLarge)
                      : fmt::format("{}; shared memory takes {} or more", whySmall, kLarge));
  }
};

Reservation reservationFor(Index requested, int ranks) {
  const Index page = SharedSegment::pageBytes(), maxFileBytes = SharedSegment::largest();
  // Every rank of the node gets the same share, so together they reserve no more than the capacity.
  const Index share = std::max(Index(1), SharedSegment::capacity() / ranks);
  const Index wanted = roundedUp(requested < 0 ? share : requested, page);
  if (wanted <= maxFileBytes)
    return {.bytes = wanted, .whySmall = {}};
  return {.bytes = maxFileBytes / page * page,
          .whySmall =
              fmt::format("files of a rank may have {} bytes at most (ulimit -f)", maxFileBytes)};
}

struct Pages {
  std::byte* begin;
  Index bytes;
};

Pages pagesAround(void* memory, Index bytes) {
  const Index page = SharedSegment::pageBytes();
  const auto low = static_cast<Index>(reinterpret_cast<std::uintptr_t>(memory) % page);
  return {static_cast<std::byte*>(memory) - low, roundedUp(low + bytes, page)};
}

// Throws unless the pages can be replaced by pages of the segment. A stack would change while it is
// copied, other processes use pages that are already shared, and unmapped pages have no content.
void checkOwn(const Pages& pages) {
  const auto refuse = [&](const std::string& why) {
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("memory of the {} bytes at {} {}; pass private, writable memory, such as "
                    "that of malloc()",
                    pages.bytes, static_cast<void*>(pages.begin), why));
  };
  if (touchesOwnStack(pages.begin, pages.bytes))
    refuse("is on the stack");
  const std::byte* end = pages.begin;
  for (const MappedRange& range : mappedRanges(pages.begin, pages.bytes)) {
    if (range.begin > end)
      break;
    end = range.end;
    if (range.isShared)
      refuse(fmt::format("is already shared ({})", range.name));
    if (!range.isReadable || !range.isWritable)
      refuse("cannot be read and written");
  }
  if (end < pages.begin + pages.bytes)
    refuse("is not mapped");
  // The device would continue to use the pages that CUDA pinned, not those that replace them.
  if (Device::isPinned(pages.begin, pages.bytes, SharedSegment::pageBytes()))
    throw Error(TENON_ERR_ARG,
                fmt::format("memory of the {} bytes at {} is registered with CUDA or was allocated "
                            "by it; unregister it, share it, and register it again",
                            pages.bytes, static_cast<void*>(pages.begin)));
}

} // namespace

SharedArena::Made SharedArena::make(MPI_Comm comm, Index bytes) {
  const Node node(comm);
  if (node.size == 1)
    return {.reason = "no other rank of the communicator is on this node", .isAlone = true};
  std::shared_ptr<SharedArena> arena;
  Made made;
  std::vector<Offer> offers;
  SegmentName name;
  Reason reason = node.whyNot([&] {
    Reservation reservation = reservationFor(bytes, node.size);
    reservation.check();
    name.text = freshName();
    offers.resize(node.size);
    offers[node.rank] = offerOf(comm, name.text, reservation.bytes);
    arena.reset(new SharedArena);
    arena->reserve(comm, node, offers[node.rank]);
    made.whySmall = std::move(reservation.whySmall);
  });
  // All segments exist now, as the ranks have agreed, and can be mapped.
  if (reason.isEmpty()) {
    checkMpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, offers.data(), sizeof(Offer),
                           MPI_BYTE, node.comm),
             "MPI_Allgather");
    reason = node.whyNot([&] { arena->map(offers); });
  }
  if (!reason.isEmpty())
    return {.reason = std::string(reason.text())};
  made.arena = std::move(arena);
  return made;
}

SharedArena::Offer SharedArena::offerOf(MPI_Comm comm, const std::string& name, Index bytes) {
  Offer offer{.bytes = bytes};
  name.copy(offer.name.data(), offer.name.size() - 1);
  checkMpi(MPI_Comm_rank(comm, &offer.rank), "MPI_Comm_rank");
  return offer;
}

void SharedArena::reserve(MPI_Comm comm, const Node& node, const Offer& mine) {
  int size = 0;
  checkMpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  nodeRankOf_.assign(size, -1);
  own_ = node.rank;
  places_ = FirstFit(mine.bytes);
  segments_.resize(node.size);
  segments_[own_] = SharedSegment::create(mine.name.data(), mine.bytes);
}

void SharedArena::map(const std::vector<Offer>& offers) {
  for (int r = 0; r < nodeSize(); ++r) {
    nodeRankOf_[offers[r].rank] = r;
    if (r != own_)
      segments_[r] = SharedSegment::open(offers[r].name.data(), offers[r].bytes);
  }
}

void* SharedArena::allocate(Index bytes) {
  // Frees the lanes that have been read by now, which can make memory available.
  releasePending();
  const std::lock_guard lock(mutex_);
  // Arrays do not share cache lines, and large arrays have whole pages, which can be returned.
  const Index rounded = roundedUp(bytes, kLineBytes);
  const auto place =
      takeCommitted(rounded, rounded < kLarge ? kLineBytes : SharedSegment::pageBytes());
  return place ? segments_[own_].data() + *place : nullptr;
}

std::optional<Index> SharedArena::takeCommitted(Index bytes, Index alignment) {
  const auto place = closed_ ? std::nullopt : places_.allocate(bytes, alignment);
  // A range that is not committed would raise a signal at the first store.
  if (!place || segments_[own_].commit(*place, bytes))
    return place;
  places_.deallocate(*place);
  return std::nullopt;
}

void SharedArena::deallocate(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const Index place = offsetOf(memory), bytes = places_.deallocate(place);
  if (bytes >= kLarge)
    // Large pieces are returned to the system, for other processes of the node; small ones share
    // pages.
    segments_[own_].discard(place, bytes);
}

void SharedArena::keep(std::list<Pending> pending) noexcept {
  const std::lock_guard lock(mutex_);
  // In a closed arena the entries are destroyed with the parameter, after the lock has been
  // released.
  if (!closed_)
    pending_.splice(pending_.end(), pending);
}

void SharedArena::close() {
  // Destroyed after the lock has been released, since the destructors of the buffers call
  // deallocate(), which locks the mutex.
  std::list<Pending> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(pending_);
}

void SharedArena::releasePending() {
  // Destroyed after the lock has been released, as in close().
  std::list<Pending> drained;
  const std::lock_guard lock(mutex_);
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    const auto next = std::next(entry);
    if (entry->counter->load(std::memory_order_acquire) >= entry->value)
      drained.splice(drained.end(), pending_, entry);
    entry = next;
  }
}

void SharedArena::checkNotShared(const std::byte* pages, Index bytes) const {
  // Of the shared ranges that begin before the end of these pages, only the last can overlap them.
  const auto after = sharedPages_.lower_bound(const_cast<std::byte*>(pages) + bytes);
  if (after == sharedPages_.begin())
    return;
  const auto& [begin, range] = *std::prev(after);
  if (begin + range.bytes > pages)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the memory has pages in common with the {} bytes around {}, which are "
                    "already shared; share both by one call, or allocate them on separate pages",
                    range.bytes, range.memory));
}

void SharedArena::share(void* memory, Index bytes) {
  const Pages pages = pagesAround(memory, bytes);
  const std::lock_guard lock(mutex_);
  checkNotShared(pages.begin, pages.bytes);
  checkOwn(pages);
  const auto place = takeCommitted(pages.bytes, SharedSegment::pageBytes());
  if (!place)
    throw Error(TENON_ERR_MEMORY,
                fmt::format("cannot allocate {} bytes in the memory shared by the ranks of the "
                            "node, of which {} of {} are in use; see -tenon_shared_memory and the "
                            "size of /dev/shm",
                            pages.bytes, places_.bytesTaken(), segments_[own_].bytes()));
  try {
    if (!segments_[own_].commitPages(pages.begin, *place, pages.bytes))
      throw Error(TENON_ERR_MEMORY,
                  fmt::format("cannot map shared memory over {}: {}", memory, strerror(errno)));
  } catch (...) {
    places_.deallocate(*place);
    throw;
  }
  sharedPages_[pages.begin] = {.memory = memory, .bytes = pages.bytes, .place = *place};
}

void SharedArena::unshare(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto entry = sharedPages_.find(pagesAround(memory, 1).begin);
  if (entry == sharedPages_.end() || entry->second.memory != memory)
    throw Error(TENON_ERR_ARG, fmt::format("no shared memory begins at {}", memory));
  const auto [begin, pages] = *entry;
  SharedSegment& own = segments_[own_];
  // Pages that the user has freed or mapped again since must not be overwritten: they are removed
  // from the arena, and an error is reported.
  const bool isMapped = own.isMappedOver(begin, pages.bytes);
  if (isMapped && !own.giveUp(begin, pages.place, pages.bytes))
    throw Error(TENON_ERR_MEMORY,
                fmt::format("cannot make {} private again: {}", memory, strerror(errno)));
  sharedPages_.erase(entry);
  places_.deallocate(pages.place);
  own.discard(pages.place, pages.bytes);
  if (!isMapped)
    throw Error(TENON_ERR_STATE, fmt::format("the memory at {} was freed or mapped again while it "
                                             "was shared; unshare it first",
                                             memory));
}

bool SharedArena::contains(const void* memory) const noexcept {
  const auto* byte = static_cast<const std::byte*>(memory);
  const SharedSegment& own = segments_[own_];
  return byte >= own.data() && byte < own.data() + own.bytes();
}

Index SharedArena::offsetOf(const void* memory) const noexcept {
  return static_cast<const std::byte*>(memory) - segments_[own_].data();
}

std::optional<Index> SharedArena::placeOf(const void* memory, Index bytes) const {
  if (contains(memory))
    return offsetOf(memory);
  const auto* first = static_cast<const std::byte*>(memory);
  const std::lock_guard lock(mutex_);
  const auto after = sharedPages_.upper_bound(const_cast<std::byte*>(first));
  if (after == sharedPages_.begin())
    return std::nullopt;
  const auto& [begin, pages] = *std::prev(after);
  if (first + bytes > begin + pages.bytes)
    return std::nullopt;
  return pages.place + (first - begin);
}

std::byte* SharedArena::at(int rank, Index offset) const noexcept {
  return segments_[nodeRankOf_[rank]].data() + offset;
}

Index SharedArena::bytesTaken() const {
  const std::lock_guard lock(mutex_);
  return places_.bytesTaken();
}

} // namespace tenon
