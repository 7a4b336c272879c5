// SPDX-License-Identifier: BSD-2-Clause
// A registry of the named types of one class, which maps a name to a factory; both the library and
// users add types. For example, the registry of layer types maps "conv" to the function that
// creates a convolution.
#pragma once

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// The registry of one class. Names are checked, and cannot be added twice.
template <class Factory>
class TypeRegistry {
public:
  // `what` names a type of this registry in messages: "layer type", "optimizer type".
  explicit TypeRegistry(std::string what) : what_(std::move(what)) {}

  void add(const std::string& name, Factory factory) {
    if (name.empty())
      throw Error(TENON_ERR_ARG, fmt::format("{} name is empty; pass a name", what_));
    std::lock_guard lock(mutex_);
    if (!factories_.emplace(name, std::move(factory)).second)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} '{}' is already registered; use another name", what_, name));
  }

  bool contains(const std::string& name) const {
    std::lock_guard lock(mutex_);
    return factories_.contains(name);
  }

  // Returns a copy, which concurrent registrations cannot invalidate.
  Factory find(const std::string& name,
               std::source_location where = std::source_location::current()) const {
    std::lock_guard lock(mutex_);
    const auto found = factories_.find(name);
    if (found != factories_.end())
      return found->second;
    throw Error(TENON_ERR_TYPE, unknown(name), where);
  }

  // All names, in alphabetical order.
  std::vector<std::string> names() const {
    std::lock_guard lock(mutex_);
    return sortedNames();
  }

private:
  std::vector<std::string> sortedNames() const {
    std::vector<std::string> names;
    for (const auto& [name, factory] : factories_)
      names.push_back(name);
    return names;
  }

  std::string unknown(const std::string& name) const {
    const auto known = sortedNames();
    if (known.empty())
      return fmt::format("unknown {} '{}'; none is registered", what_, name);
    return fmt::format("unknown {} '{}'; did you mean '{}'? Known: {}", what_, name,
                       nearest(name, known), joined(known));
  }

  std::string what_;
  mutable std::mutex mutex_;
  std::map<std::string, Factory> factories_;
};

} // namespace tenon
