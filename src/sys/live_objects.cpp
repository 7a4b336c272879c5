// SPDX-License-Identifier: BSD-2-Clause
#include "sys/live_objects.hpp"

#include "sys/object.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace tenon {

namespace {

struct Live {
  std::mutex mutex;
  std::unordered_map<const void*, long> born; // object -> its number in order of creation
  long count = 0;
};

// Never destroyed: static objects may hold some.
Live& live() {
  static auto* all = new Live;
  return *all;
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
    list.push_back({object->className(), object->name(), object->references()});
  return list;
}

bool isLiveObject(const void* pointer) noexcept {
  std::lock_guard lock(live().mutex);
  return live().born.contains(pointer);
}

void addLiveObject(const Object* object) {
  std::lock_guard lock(live().mutex);
  live().born.emplace(object, live().count++);
}

void removeLiveObject(const Object* object) noexcept {
  std::lock_guard lock(live().mutex);
  live().born.erase(object);
}

} // namespace tenon
