// SPDX-License-Identifier: BSD-2-Clause
// What the setters of an object remember of their failures. A Set is local and may fail on one rank
// alone; the caller may overlook that. So the object keeps the error, and its next SetUp, which all
// ranks agree on, fails with it, unless the same Set has succeeded since.
#pragma once

#include "sys/error.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tenon {

class FailedSets {
public:
  // `what` names the setter, and what it sets where there are several: "TenonLayoutSetCuts(0)".
  template <class Body>
  void run(std::string_view what, Body&& body) {
    try {
      std::forward<Body>(body)();
      if (const auto made = failures_.find(what); made != failures_.end())
        failures_.erase(made);
    } catch (...) {
      note(what, caughtError());
      throw;
    }
  }

  // Throws a failure that was not made good, and forgets all.
  void check() {
    if (const auto unnamed = std::exchange(unnamed_, std::nullopt))
      throw Error(*unnamed);
    if (failures_.empty())
      return;
    const auto failures = std::exchange(failures_, {});
    const auto& [what, error] = *failures.begin();
    throw Error(error.code(), fmt::format("an earlier {} failed: {}", what, error.text()),
                error.where());
  }

private:
  void note(std::string_view what, const Error& error) noexcept {
    try {
      failures_.insert_or_assign(std::string(what), error);
    } catch (...) { // without memory for its name
      unnamed_ = error;
    }
  }

  std::map<std::string, Error, std::less<>> failures_;
  std::optional<Error> unnamed_;
};

} // namespace tenon
