// SPDX-License-Identifier: BSD-2-Clause
// All accesses to environment variables. Other code must not call getenv(), since a program with
// more privileges than its user must ignore the environment (environment.cpp).
#pragma once

#include <optional>
#include <string>

namespace tenon {

// The value of a variable, or nothing if it is not set.
std::optional<std::string> environment(const std::string& name);

} // namespace tenon
