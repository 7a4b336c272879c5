// SPDX-License-Identifier: BSD-2-Clause
// Makes the segments of a node, gives out places in the own one, and exchanges pages of the caller
// for it. A segment has a name only until all ranks have mapped it, so that nothing is left in
// /dev/shm after a crash; a failure on one rank leaves the whole node without an arena.
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
constexpr Index kLarge = Index(1) << 20; // from here on aligned to pages, and discarded when freed

std::string freshName() {
  std::random_device random;
  return fmt::format("tenon.{}.{:08x}{:08x}", getpid(), random(), random());
}

// The name of a file, until the others have mapped it or all have given up.
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
  const Index page = SharedSegment::pageBytes(), most = SharedSegment::largest();
  // Every rank of the node gets the same share, and together they cannot ask for more than there
  // is.
  const Index share = std::max(Index(1), SharedSegment::capacity() / ranks);
  const Index wanted = roundedUp(requested < 0 ? share : requested, page);
  if (wanted <= most)
    return {.bytes = wanted, .whySmall = {}};
  return {.bytes = most / page * page,
          .whySmall = fmt::format("files of a rank may have {} bytes at most (ulimit -f)", most)};
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

// Throws unless pages can be replaced. A stack changes while it is copied, pages that are shared
// already have other users, and gaps have nothing to copy.
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
  // The device would go on with the pages that CUDA pinned, and not with those that take their
  // place.
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
    Reservation mine = reservationFor(bytes, node.size);
    mine.check();
    name.text = freshName();
    offers.resize(node.size);
    offers[node.rank] = offerOf(comm, name.text, mine.bytes);
    arena.reset(new SharedArena);
    arena->reserve(comm, node, offers[node.rank]);
    made.whySmall = std::move(mine.whySmall);
  });
  // All segments exist now, as all ranks have agreed on that, and can be mapped.
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
  Offer mine{.bytes = bytes};
  name.copy(mine.name.data(), mine.name.size() - 1);
  checkMpi(MPI_Comm_rank(comm, &mine.rank), "MPI_Comm_rank");
  return mine;
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

void* SharedArena::take(Index bytes) {
  // Memory of lanes that are read by now may be what is requested.
  releasePending();
  const std::lock_guard lock(mutex_);
  // Lines are not shared by arrays, and large arrays have pages that can be given back.
  const Index rounded = roundedUp(bytes, kLineBytes);
  const auto place =
      takeCommitted(rounded, rounded < kLarge ? kLineBytes : SharedSegment::pageBytes());
  return place ? segments_[own_].data() + *place : nullptr;
}

std::optional<Index> SharedArena::takeCommitted(Index bytes, Index alignment) {
  const auto place = closed_ ? std::nullopt : places_.take(bytes, alignment);
  // A place without memory behind it would be a signal at the first store.
  if (!place || segments_[own_].commit(*place, bytes))
    return place;
  places_.giveBack(*place);
  return std::nullopt;
}

void SharedArena::giveBack(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const Index place = offsetOf(memory), bytes = places_.giveBack(place);
  if (bytes >= kLarge)
    // Large pieces go back to the system, which others on the node may need; small ones share
    // pages.
    segments_[own_].discard(place, bytes);
}

void SharedArena::keep(std::list<Pending> one) noexcept {
  const std::lock_guard lock(mutex_);
  if (!closed_)
    pending_.splice(pending_.end(), one);
}

void SharedArena::close() {
  std::list<Pending> dropped; // destroyed after the lock, since buffers come back here
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(pending_);
}

void SharedArena::releasePending() {
  std::list<Pending> drained; // destroyed after the lock, since buffers come back here
  const std::lock_guard lock(mutex_);
  for (auto each = pending_.begin(); each != pending_.end();) {
    const auto next = std::next(each);
    if (each->counter->load(std::memory_order_acquire) >= each->value)
      drained.splice(drained.end(), pending_, each);
    each = next;
  }
}

void SharedArena::checkNotShared(const std::byte* pages, Index bytes) const {
  // Of the pages that begin before the end of these, the last can overlap them.
  const auto after = sharedPages_.lower_bound(const_cast<std::byte*>(pages) + bytes);
  if (after == sharedPages_.begin())
    return;
  const auto& [begin, known] = *std::prev(after);
  if (begin + known.bytes > pages)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("the memory has pages in common with the {} bytes around {}, which are "
                    "already shared; share both by one call, or allocate them on separate pages",
                    known.bytes, known.memory));
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
    if (!segments_[own_].takeOver(pages.begin, *place, pages.bytes))
      throw Error(TENON_ERR_MEMORY,
                  fmt::format("cannot map shared memory over {}: {}", memory, strerror(errno)));
  } catch (...) {
    places_.giveBack(*place);
    throw;
  }
  sharedPages_[pages.begin] = {.memory = memory, .bytes = pages.bytes, .place = *place};
}

void SharedArena::unshare(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto known = sharedPages_.find(pagesAround(memory, 1).begin);
  if (known == sharedPages_.end() || known->second.memory != memory)
    throw Error(TENON_ERR_ARG, fmt::format("no shared memory begins at {}", memory));
  const auto [begin, pages] = *known;
  SharedSegment& own = segments_[own_];
  // Pages that the caller has freed or mapped again meanwhile must not be overwritten: the arena
  // forgets them and reports it.
  const bool isMapped = own.isMappedOver(begin, pages.bytes);
  if (isMapped && !own.giveUp(begin, pages.place, pages.bytes))
    throw Error(TENON_ERR_MEMORY,
                fmt::format("cannot make {} private again: {}", memory, strerror(errno)));
  sharedPages_.erase(known);
  places_.giveBack(pages.place);
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
