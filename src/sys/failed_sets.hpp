// SPDX-License-Identifier: BSD-2-Clause
// What the setters of an object remember of their failures. A Set is local and may fail on one rank
// alone; the caller may overlook that. So the object keeps the error, and its next SetUp, which all
// ranks agree on, fails with it, unless the same Set has succeeded since.
#pragma once

#include "sys/error.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace tenon {

class FailedSets {
public:
  // `what` names the setter, and what it sets where there are several: "TenonLayoutSetCuts(0)".
  template <class Body>
  void run(const std::string& what, Body&& body) {
    try {
      std::forward<Body>(body)();
      failures_.erase(what);
    } catch (const Error& error) {
      failures_.insert_or_assign(what, error);
      throw;
    }
  }

  // Throws a failure that was not made good, and forgets all.
  void check() {
    if (failures_.empty())
      return;
    const auto failures = std::exchange(failures_, {});
    const auto& [what, error] = *failures.begin();
    throw Error(error.code(), fmt::format("an earlier {} failed: {}", what, error.text()),
                error.where());
  }

private:
  std::map<std::string, Error> failures_;
};

} // namespace tenon
