// SPDX-License-Identifier: BSD-2-Clause
// The library's own data files by name, beside a user's own by path.
#pragma once

#include <string>

namespace tenon {

// A word with a slash, or that ends with .json, is a path and given back. Another is the name of a
// file NAME.json in `ownFolder`, if that is not empty, or in `folder` of the share folders. Throws
// TENON_ERR_FILE naming those that there are; `what` is what messages call the file.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder);

} // namespace tenon
