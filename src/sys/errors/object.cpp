// SPDX-License-Identifier: BSD-2-Clause
// Objects, and the list of all that are alive. Every public call checks its handles against this
// list. A small cache of recently used objects is searched first, which needs no lock.
#include "sys/errors/object.hpp"

#include "sys/memory/immortal.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

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
  std::unordered_map<const void*, long> born; // object -> sequence number of its creation
  long count = 0;                             // number of objects created so far
};

// Never destroyed: static objects of the program can own objects of the library.
Live& live() noexcept {
  return immortal<Live>();
}

// A direct-mapped cache of live objects, indexed by a hash of the address. It is read without the
// lock by every call in a time step. Entries are written under the lock only, so an entry cannot
// outlive its object.
using FoundObject = std::atomic<const void*>;
constinit std::array<FoundObject, 1024> foundObjects{};

FoundObject& foundAt(const void* pointer) noexcept {
  // The lowest bits of heap addresses are equal; the higher bits are folded in, since objects of
  // one size are allocated at regular distances.
  constexpr std::uintptr_t kAlignment = 16;
  const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(pointer) / kAlignment;
  return foundObjects[(number ^ (number / foundObjects.size())) % foundObjects.size()];
}

void addLiveObject(const Object* object) {
  std::lock_guard lock(live().mutex);
  live().born.emplace(object, live().count++);
}

void removeLiveObject(const Object* object) noexcept {
  std::lock_guard lock(live().mutex);
  // The cache is read without the lock, so the object is removed from it too.
  if (FoundObject& slot = foundAt(object); slot.load(std::memory_order_relaxed) == object)
    slot.store(nullptr, std::memory_order_relaxed);
  live().born.erase(object);
}

// The noun for an object of this class in sentences.
std::string nounOf(std::string_view className) {
  if (className == "DTensor")
    return "tensor";
  if (className == "LinearOp")
    return "operator";
  std::string noun; // e.g. "placement list" for PlacementList
  for (const char c : className)
    noun += (c >= 'A' && c <= 'Z' && !noun.empty()) ? std::string(" ") + c : std::string(1, c);
  return lowered(noun);
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
    list.push_back({.className = object->className(),
                    .name = object->name(),
                    .references = object->references(),
                    .handles = object->handles()});
  return list;
}

bool isLiveObject(const void* pointer) noexcept {
  if (!pointer)
    return false;
  FoundObject& slot = foundAt(pointer);
  if (slot.load(std::memory_order_acquire) == pointer)
    return true;
  std::lock_guard lock(live().mutex);
  if (!live().born.contains(pointer))
    return false;
  slot.store(pointer, std::memory_order_release);
  return true;
}

Object::Object(const char* className) : className_(className), title_("the " + nounOf(className)) {
  addLiveObject(this);
}

Object::~Object() {
  removeLiveObject(this);
  magic_ = 0;
}

void Object::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete this;
}

std::string Object::describe() const {
  const std::string heading = headingOf(*this);
  return type().empty() ? heading : fmt::format("{}: {}", heading, type());
}

void Object::setName(std::string name) {
  checkPlain("the new name of " + title_, name);
  name_ = std::move(name);
  const std::string noun = nounOf(className_);
  title_ = name_.empty() ? "the " + noun : noun + " \"" + name_ + '"';
}

} // namespace tenon
