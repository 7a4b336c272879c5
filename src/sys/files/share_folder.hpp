// SPDX-License-Identifier: BSD-2-Clause
// Finds the library's own data files. They are found from where the library itself was loaded,
// so that an installed tree can be moved. A static library is found from the place of the program,
// and looks where it was configured to be installed as well.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// The path of a data file: of the library's own by name, or of a user's own by path. A word with a
// slash, or that ends with .json, is a path and returned as it is. Any other word is the name of a
// file NAME.json in `ownFolder`, if that is not empty, or in `folder` of the share folders. Throws
// TENON_ERR_FILE with the names that exist; `what` is what messages call the file.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder);
// The same in several folders of each share folder, in this order.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::vector<std::string>& folders, const std::string& ownFolder);

// The folders to look in, in this order; they need not exist. None if the library does not know its
// place.
std::vector<std::string> shareFolders();

} // namespace tenon
