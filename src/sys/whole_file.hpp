// SPDX-License-Identifier: BSD-2-Clause
// A small file as one text.
#pragma once

#include <cstddef>
#include <string>

namespace tenon {

// What is longer is no file of text.
inline constexpr std::size_t kMostFileText = std::size_t(16) << 20;
// Throws TENON_ERR_FILE, saying why, if it cannot be read, is no regular file or is longer than that;
// `kind` ("options file") is what messages call it.
std::string readWholeFile(const std::string& path, const std::string& kind);

} // namespace tenon
