// SPDX-License-Identifier: BSD-2-Clause
// A small file as one text.
#pragma once

#include <string>

namespace tenon {

// Throws TENON_ERR_FILE, saying why, if it cannot be read; `kind` ("options file") is what messages
// call it.
std::string readWholeFile(const std::string& path, const std::string& kind);

} // namespace tenon
