// SPDX-License-Identifier: BSD-2-Clause
// Lists what a folder holds. The iterators of std::filesystem end the program where an allocation
// fails.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace tenon {

// The names in the folder, in no order, without "." and ".."; none if it cannot be read, for the
// reason in `error`.
std::vector<std::string> namesIn(const std::string& folder, std::error_code& error);

} // namespace tenon
