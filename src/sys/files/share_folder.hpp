// SPDX-License-Identifier: BSD-2-Clause
// Finds the data files of the library relative to the file from which the library was loaded; an
// installed tree can therefore be moved. A static library uses the program's file, and also the
// configured installation folder.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// The path of a data file. `nameOrPath` with a slash or the ending .json is a path, which is
// returned unchanged. Otherwise it is the name of a file NAME.json in `ownFolder` (a user's folder;
// can be empty) or in `folder` below the share folders. Throws TENON_ERR_FILE with the names that
// exist; `what` names the kind of file in messages.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder);
// As above, but searches several folders below each share folder, in this order.
std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::vector<std::string>& folders, const std::string& ownFolder);

// The folders that are searched, in this order; they need not exist. Empty if the path of the
// library is unknown.
std::vector<std::string> shareFolders();

} // namespace tenon
