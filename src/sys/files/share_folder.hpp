// SPDX-License-Identifier: BSD-2-Clause
// Where the library's own data files lie. They are found from where the library itself was loaded,
// so an installed tree may be moved. A static library is found from the program's place, and looks where it was
// configured to be installed as well.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// The library's own data files by name, beside a user's own by path.

// A word with a slash, or that ends with .json, is a path and given back. Another is the name of a
// file NAME.json in `ownFolder`, if that is not empty, or in `folder` of the share folders. Throws
// TENON_ERR_FILE naming those that there are; `what` is what messages call the file.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder);

// Folders to look in, in order; they need not exist. None if the library does not know its place.
std::vector<std::string> shareFolders();

} // namespace tenon
