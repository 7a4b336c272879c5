// SPDX-License-Identifier: BSD-2-Clause
// Where the library's own data files lie. They are found from where the library itself was loaded,
// so an installed tree may be moved. A static library is found from the program's place, and looks where it was
// configured to be installed as well.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// Folders to look in, in order; they need not exist. None if the library does not know its place.
std::vector<std::string> shareFolders();

} // namespace tenon
