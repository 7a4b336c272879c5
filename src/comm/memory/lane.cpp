// SPDX-License-Identifier: BSD-2-Clause
// The ring of slots in shared memory. Each side writes only its own counters and polls those of the
// other, so there is no lock: the sender stores a slot's number after its content, and the receiver
// stores the count of released postings after the reading. Posting n, numbered from 1, is in slot
// (n - 1) modulo the number of slots. The sender counts its postings (posted_), and the receiver
// those that it has released (released_), so the next posting is number posted_ + 1 or
// released_ + 1. Sleeping and waking are system calls on a counter (futex), which all processes
// that map the lane can make.
#include "comm/memory/lane.hpp"

#include "sys/core_share.h"

#ifdef __linux__
#include <linux/futex.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace tenon {

namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

// The most data of a slot. A large part has several slots: while the receiver reads one, the sender
// packs the next one.
constexpr Index kMaxDataBytes = Index(128) << 10;
// Total size of a rank's rings: about that of a core's private caches, and a small share of the
// caches that cores share.
constexpr Index kMinRingsBytes = Index(1) << 20, kMaxRingsBytes = Index(2) << 20;

// The size of the data of a slot: that of a small part, or an eighth of a large one (LaneShape).
Index slotDataBytes(Index partBytes) {
  // A slot must also have room for the strides of an array that is posted in place of packed data.
  if (partBytes <= kLargePart)
    return std::max(partBytes, Index(sizeof(ArrayPlace::strides)));
  return std::clamp(partBytes / 8 / LaneShape::kLine * LaneShape::kLine, kLargePart, kMaxDataBytes);
}

using SleepWord = std::atomic<std::uint32_t>; // 1 while the rank sleeps, or is about to

// The head of a lane, a cache line, which the slots follow.
struct LaneHead {
  Counter released; // Count of released postings.
  SleepWord receiverSleeps, senderSleeps;
};
static_assert(sizeof(LaneHead) <= LaneShape::kLine);

LaneHead& head(std::byte* lane) {
  return *reinterpret_cast<LaneHead*>(lane);
}

Counter& released(std::byte* lane) {
  return head(lane).released;
}

#ifdef __linux__
// A futex has 32 bits: the half of a counter that each step changes.
void* lowHalf(Counter& counter) {
  auto* halves = reinterpret_cast<std::uint32_t*>(&counter);
  return halves + (std::endian::native == std::endian::big);
}
#endif

// Sleeps until the counter changes, or for that time, unless isOver() is true of its value by now.
// The word `sleeps` is stored before the counter is read, and storeAndWake() uses the opposite
// order, so a wake-up cannot be missed (lane.hpp).
template <class IsOver>
void sleepOn(Counter& counter, SleepWord& sleeps, long nanoseconds, const IsOver& isOver) {
  sleeps.store(1, std::memory_order_seq_cst);
  const std::uint64_t value = counter.load(std::memory_order_seq_cst);
  if (!isOver(value)) {
#ifdef __linux__
    const timespec length{.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    const int slack = tenonExactTimers();
    // Returns at once if the counter has another value.
    syscall(SYS_futex, lowHalf(counter), FUTEX_WAIT, static_cast<std::uint32_t>(value), &length,
            nullptr, 0);
    tenonSetTimers(slack);
#else
    tenonNap(nanoseconds);
#endif
  }
  sleeps.store(0, std::memory_order_relaxed);
}

// Stores a counter that the other end tests, and, if `wakes`, wakes that rank if it sleeps. Nothing
// is written after the counter: a sender can have freed the lane when it has seen the last release.
void storeAndWake(Counter& counter, std::uint64_t value, const SleepWord& sleeps, bool wakes) {
  counter.store(value, wakes ? std::memory_order_seq_cst : std::memory_order_release);
#ifdef __linux__
  if (wakes && sleeps.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, lowHalf(counter), FUTEX_WAKE, 1, nullptr, nullptr, 0);
#endif
}

// The head of a slot.
struct Slot {
  Counter number; // Number of its posting, from 1; 0 before the first one.
  Index array;    // kPacked, or the offset of an array, as in ArrayPlace.
};

// The slot of the next posting after that many earlier ones.
Slot& slot(std::byte* lane, const LaneShape& shape, Index slots, std::uint64_t earlierPostings) {
  const Index offset = static_cast<Index>(earlierPostings) % slots * shape.slotBytes;
  return *reinterpret_cast<Slot*>(lane + LaneShape::kLine + offset);
}

// A slot that also has the receiver's time of reading, for the sender.
struct TimedSlot {
  Slot slot;
  double readSeconds;
};
static_assert(sizeof(TimedSlot) <= LaneShape::kLine);

double& readSecondsOf(Slot& slot) {
  return reinterpret_cast<TimedSlot&>(slot).readSeconds;
}

std::byte* dataOf(Slot& slot, const LaneShape& shape) {
  return reinterpret_cast<std::byte*>(&slot) + shape.headBytes;
}

void makeSlot(void* memory, const LaneShape& shape) {
  if (shape.isTimed())
    new (memory) TimedSlot{.slot = {.number = 0, .array = kPacked}, .readSeconds = 0};
  else
    new (memory) Slot{.number = 0, .array = kPacked};
}

} // namespace

LaneShape::LaneShape(Index partBytes)
    : headBytes(partBytes < kLargePart ? sizeof(Slot) : kLine), dataBytes(slotDataBytes(partBytes)),
      slotBytes((headBytes + dataBytes + kLine - 1) / kLine * kLine) {}

int LaneShape::slotsOf(Index partBytes, Index packedBytes) const noexcept {
  if (partBytes <= dataBytes)
    return kMinSlots;
  // The rings of a rank together have ringsBytes, divided in proportion to the parts.
  const Index ringsBytes = std::clamp(packedBytes, kMinRingsBytes, kMaxRingsBytes);
  const double share = static_cast<double>(partBytes) / static_cast<double>(packedBytes);
  const double ringBytes = static_cast<double>(ringsBytes) * share;
  return std::max(kMinSlots, static_cast<int>(ringBytes / static_cast<double>(dataBytes)));
}

SendLane::SendLane(std::shared_ptr<SharedArena> arena, Index partBytes, int slots,
                   const std::string& owner)
    : arena_(std::move(arena)), shape_(partBytes), slots_(slots),
      memory_(shape_.laneBytes(slots), owner + " lane", arena_),
      alwaysWakes_(!hasCoreForEachRank(arena_.get())), pendingNode_(1) {
  // Without memory in the arena the buffer is on the heap, where the receiver cannot read it.
  if (!arena_->contains(lane())) {
    memory_ = Buffer();
    return;
  }
  new (lane()) LaneHead{.released = 0, .receiverSleeps = 0, .senderSleeps = 0};
  for (Index i = 0; i < slots_; ++i)
    makeSlot(&slot(lane(), shape_, slots_, i), shape_);
}

SendLane::~SendLane() {
  if (!exists() || isDrained())
    return;
  const Counter& counter = released(lane());
  // The receiver has not read everything, so the arena retains the memory. The list node was
  // allocated by the constructor, since a destructor cannot allocate.
  pendingNode_.front() = {std::move(memory_), &counter, posted_};
  arena_->keep(std::move(pendingNode_));
}

std::byte* SendLane::lane() const noexcept {
  return const_cast<std::byte*>(memory_.data<std::byte>());
}

LaneAddress SendLane::address() const noexcept {
  return exists() ? LaneAddress{.place = arena_->offsetOf(lane()), .slots = slots_} : LaneAddress{};
}

bool SendLane::hasFreeSlot() const noexcept {
  const std::uint64_t freed = released(lane()).load(std::memory_order_acquire);
  return static_cast<Index>(posted_ - freed) < slots_;
}

std::byte* SendLane::slotData() const noexcept {
  return dataOf(slot(lane(), shape_, slots_, posted_), shape_);
}

double SendLane::readSeconds() const noexcept {
  return shape_.isTimed() ? readSecondsOf(slot(lane(), shape_, slots_, posted_)) : 0;
}

void SendLane::postArray(Index place, const std::array<Index, kMaxDims>& strides) noexcept {
  std::memcpy(slotData(), strides.data(), sizeof strides);
  post(place);
}

void SendLane::post(Index array) noexcept {
  Slot& next = slot(lane(), shape_, slots_, posted_);
  next.array = array;
  storeAndWake(next.number, ++posted_, head(lane()).receiverSleeps, alwaysWakes_ || isCoreWanted());
}

bool SendLane::isDrained() const noexcept {
  return released(lane()).load(std::memory_order_acquire) == posted_;
}

void SendLane::sleepUntilRelease(long nanoseconds) const noexcept {
  LaneHead& ends = head(lane());
  const std::uint64_t before = ends.released.load(std::memory_order_acquire);
  sleepOn(ends.released, ends.senderSleeps, nanoseconds,
          [&](std::uint64_t now) { return now != before || now == posted_; });
}

ReceiveLane::ReceiveLane(const SharedArena& arena, int sender, const LaneAddress& address,
                         Index partBytes)
    : memory_(arena.at(sender, address.place)), shape_(partBytes), slots_(address.slots),
      alwaysWakes_(!hasCoreForEachRank(&arena)) {}

bool ReceiveLane::hasPosting() const noexcept {
  return slot(memory_, shape_, slots_, released_).number.load(std::memory_order_acquire) ==
         released_ + 1;
}

void ReceiveLane::sleepUntilPosting(long nanoseconds) const noexcept {
  sleepOn(slot(memory_, shape_, slots_, released_).number, head(memory_).receiverSleeps,
          nanoseconds, [&](std::uint64_t number) { return number == released_ + 1; });
}

ArrayPlace ReceiveLane::place() const noexcept {
  Slot& next = slot(memory_, shape_, slots_, released_);
  ArrayPlace place{.array = next.array, .strides = {}};
  if (place.array != kPacked)
    std::memcpy(place.strides.data(), dataOf(next, shape_), sizeof place.strides);
  return place;
}

const std::byte* ReceiveLane::slotData() const noexcept {
  return dataOf(slot(memory_, shape_, slots_, released_), shape_);
}

void ReceiveLane::release(double readSeconds) noexcept {
  if (isTimed())
    readSecondsOf(slot(memory_, shape_, slots_, released_)) = readSeconds;
  storeAndWake(released(memory_), ++released_, head(memory_).senderSleeps,
               alwaysWakes_ || isCoreWanted());
}

} // namespace tenon
