// SPDX-License-Identifier: BSD-2-Clause
// Reads environment variables. An empty variable is set, which differs from an unset one. A program
// with more privileges than its user (setuid) reads none: by an option in the environment the user
// could make it write files with these privileges.
#include "sys/options/environment.hpp"

#include <cstdlib>

#include <unistd.h>

namespace tenon {

std::optional<std::string> environment(const std::string& name) {
#ifdef __linux__
  const char* value = secure_getenv(name.c_str());
#else
  const char* value = issetugid() ? nullptr : std::getenv(name.c_str());
#endif
  if (!value)
    return std::nullopt;
  return value;
}

} // namespace tenon
