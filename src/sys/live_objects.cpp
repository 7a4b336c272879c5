// SPDX-License-Identifier: BSD-2-Clause
#include "sys/live_objects.hpp"

#include "sys/immortal.hpp"
#include "sys/object.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace tenon {

namespace {

struct Live {
  std::mutex mutex;
  std::unordered_map<const void*, long> born; // object -> its number in order of creation
  long count = 0;
  std::atomic<long> removals{0};
};

// Static objects may hold some.
Live& live() noexcept {
  return immortal<Live>();
}

// What this thread found alive, and how many objects had gone by then: true until another goes. A
// call in a time step so looks its handles up without the lock.
struct Found {
  const void* object = nullptr;
  long removals = -1;
};

Found& foundBefore(const void* pointer) {
  constexpr std::size_t kSlots = 16, kAlignment = 16;
  thread_local std::array<Found, kSlots> found;
  const auto number = reinterpret_cast<std::uintptr_t>(pointer) / kAlignment;
  return found[(number ^ (number / kSlots) ^ (number / (kSlots * kSlots))) % kSlots];
}

} // namespace

std::vector<LiveObject> liveObjects() {
  std::lock_guard lock(live().mutex);
  std::vector<std::pair<long, const Object*>> ordered;
  for (const auto& [object, number] : live().born)
    ordered.emplace_back(number, static_cast<const Object*>(object));
  std::sort(ordered.begin(), ordered.end());
  std::vector<LiveObject> list;
  for (const auto& [number, object] : ordered)
    list.push_back({object->className(), object->name(), object->references(), object->handles()});
  return list;
}

bool isLiveObject(const void* pointer) noexcept {
  Found& found = foundBefore(pointer);
  if (found.object == pointer && found.removals == live().removals.load(std::memory_order_acquire))
    return true;
  std::lock_guard lock(live().mutex);
  if (!live().born.contains(pointer))
    return false;
  found = {pointer, live().removals.load(std::memory_order_relaxed)};
  return true;
}

void addLiveObject(const Object* object) {
  std::lock_guard lock(live().mutex);
  live().born.emplace(object, live().count++);
}

void removeLiveObject(const Object* object) noexcept {
  std::lock_guard lock(live().mutex);
  live().removals.fetch_add(1, std::memory_order_release);
  live().born.erase(object);
}

} // namespace tenon
