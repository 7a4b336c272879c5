// SPDX-License-Identifier: BSD-2-Clause
#include "comm/lane.hpp"

#include <cstring>
#include <new>

namespace tenon {

namespace {

using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free);

constexpr Index kSmallBytes = Index(16) << 10;
constexpr Index kMostBytes = Index(128) << 10;

Index slotDataBytes(Index partBytes) {
  if (partBytes <= kSmallBytes)
    return std::max(partBytes, Index(sizeof(ArrayPlace::strides)));
  return std::clamp(partBytes / 8 / LaneShape::kLine * LaneShape::kLine, kSmallBytes, kMostBytes);
}

// A lane is a line with the count of what is released, then the slots.
Counter& released(std::byte* lane) {
  return *reinterpret_cast<Counter*>(lane);
}

struct Slot {
  Counter number; // of the posting it holds, from 1
  Index array;
};
static_assert(sizeof(Slot) == LaneShape::kHeadBytes);

Slot& slot(std::byte* lane, const LaneShape& shape, std::uint64_t posting) {
  const auto place = static_cast<Index>(posting % LaneShape::kSlots) * shape.slotBytes;
  return *reinterpret_cast<Slot*>(lane + LaneShape::kLine + place);
}

std::byte* dataOf(Slot& slot) {
  return reinterpret_cast<std::byte*>(&slot) + LaneShape::kHeadBytes;
}

} // namespace

LaneShape::LaneShape(Index partBytes)
    : dataBytes(slotDataBytes(partBytes)),
      slotBytes((kHeadBytes + dataBytes + kLine - 1) / kLine * kLine) {}

SendLane::SendLane(std::shared_ptr<SharedArena> arena, Index partBytes, const std::string& owner)
    : arena_(std::move(arena)), shape_(partBytes),
      memory_(shape_.laneBytes(), owner + " lane", arena_) {
  if (!arena_->contains(lane())) {
    memory_ = Buffer();
    return;
  }
  new (lane()) Counter(0);
  for (int i = 0; i < LaneShape::kSlots; ++i)
    new (&slot(lane(), shape_, i)) Slot{.number = 0, .array = kPacked};
}

SendLane::~SendLane() {
  if (!exists() || isDrained())
    return;
  const Counter& counter = released(lane());
  arena_->keepUntil(std::move(memory_), counter, posted_);
}

std::byte* SendLane::lane() const noexcept {
  return const_cast<std::byte*>(memory_.data<std::byte>());
}

bool SendLane::hasFreeSlot() const noexcept {
  const std::uint64_t freed = released(lane()).load(std::memory_order_acquire);
  return posted_ - freed < LaneShape::kSlots;
}

std::byte* SendLane::slotData() const noexcept {
  return dataOf(slot(lane(), shape_, posted_));
}

void SendLane::postArray(Index place, const std::array<Index, kMaxRank>& strides) noexcept {
  std::memcpy(slotData(), strides.data(), sizeof strides);
  post(place);
}

void SendLane::post(Index array) noexcept {
  Slot& next = slot(lane(), shape_, posted_);
  next.array = array;
  next.number.store(++posted_, std::memory_order_release);
}

bool SendLane::isDrained() const noexcept {
  return released(lane()).load(std::memory_order_acquire) == posted_;
}

ReceiveLane::ReceiveLane(const SharedArena& arena, int sender, Index place, Index partBytes)
    : memory_(arena.at(sender, place)), shape_(partBytes) {}

bool ReceiveLane::hasPosting() const noexcept {
  return slot(memory_, shape_, released_).number.load(std::memory_order_acquire) == released_ + 1;
}

ArrayPlace ReceiveLane::place() const noexcept {
  Slot& next = slot(memory_, shape_, released_);
  ArrayPlace place{.array = next.array, .strides = {}};
  if (place.array != kPacked)
    std::memcpy(place.strides.data(), dataOf(next), sizeof place.strides);
  return place;
}

const std::byte* ReceiveLane::slotData() const noexcept {
  return dataOf(slot(memory_, shape_, released_));
}

void ReceiveLane::release() noexcept {
  released(memory_).store(++released_, std::memory_order_release);
}

} // namespace tenon
