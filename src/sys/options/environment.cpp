// SPDX-License-Identifier: BSD-2-Clause
// Reads environment variables. An empty variable is set, and differs from one that is not.
#include "sys/options/environment.hpp"

#include <cstdlib>

namespace tenon {

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (!value)
    return std::nullopt;
  return value;
}

} // namespace tenon
