// SPDX-License-Identifier: BSD-2-Clause
// Table of large values, in which equal values share one object: on 100,000 ranks the split points
// of one layout are a megabyte, and the layouts of a network have few different lists. The table
// has weak references only, so a value is freed with the last layout that uses it.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tenon {

// Value must have hash(), consistent with operator==.
template <class Value>
class SharedValues {
public:
  // Returns an equal value that is in use, or else this one.
  std::shared_ptr<const Value> share(Value value) {
    const std::size_t hash = value.hash();
    const std::scoped_lock lock(mutex_);
    const auto [first, last] = values_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry)
      if (auto existing = entry->second.lock(); existing && *existing == value)
        return existing;
    auto created = std::make_shared<const Value>(std::move(value));
    forgetExpired();
    values_.emplace(hash, created);
    return created;
  }

private:
  // Removes unused entries when the table has doubled since the last removal.
  void forgetExpired() {
    if (values_.size() < limit_)
      return;
    std::erase_if(values_, [](const auto& entry) { return entry.second.expired(); });
    limit_ = 2 * values_.size() + 64;
  }

  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Value>> values_;
  std::size_t limit_ = 64;
};

// The hash of a list, continued by one more number.
inline std::size_t mixed(std::size_t hash, std::size_t number) noexcept {
  return (hash ^ number) * 0x9e3779b97f4a7c15U + (hash >> 29);
}

} // namespace tenon
