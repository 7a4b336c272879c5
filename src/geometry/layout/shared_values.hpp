// SPDX-License-Identifier: BSD-2-Clause
// Large values of which equal ones are held once in the process: among 100,000 ranks the split
// points of one layout are a megabyte, and those of all layers of a network are few lists.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tenon {

// Value has hash(), which looks at as much as operator== does.
template <class Value>
class SharedValues {
public:
  // The value, or an equal one that somebody holds.
  std::shared_ptr<const Value> share(Value value) {
    const std::size_t hash = value.hash();
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = known_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (auto held = at->second.lock(); held && *held == value)
        return held;
    auto made = std::make_shared<const Value>(std::move(value));
    forgetExpired();
    known_.emplace(hash, made);
    return made;
  }

private:
  // Once there are twice as many as there were in use the last time.
  void forgetExpired() {
    if (known_.size() < limit_)
      return;
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    limit_ = 2 * known_.size() + 64;
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Value>> known_;
  std::size_t limit_ = 64;
};

inline std::size_t mixed(std::size_t hash, std::size_t number) noexcept {
  return (hash ^ number) * 0x9e3779b97f4a7c15U + (hash >> 29);
}

} // namespace tenon
