// SPDX-License-Identifier: BSD-2-Clause
// All accesses to environment variables.
#pragma once

#include <optional>
#include <string>

namespace tenon {

std::optional<std::string> environment(const std::string& name);

} // namespace tenon
