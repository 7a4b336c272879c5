// SPDX-License-Identifier: BSD-2-Clause
// Lists the contents of a folder. The iterators of std::filesystem terminate the program if an
// allocation fails.
#pragma once

#include <string>
#include <system_error>
#include <vector>

namespace tenon {

// The names in the folder, unordered, without "." and "..". If it cannot be read, the list is empty
// and `error` is the reason.
std::vector<std::string> namesIn(const std::string& folder, std::error_code& error);

} // namespace tenon
