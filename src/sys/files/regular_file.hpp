// SPDX-License-Identifier: BSD-2-Clause
// Opens a file for reading if it is a regular one. A pipe would wait for a writer that may never
// come, and a device may have no end.
#pragma once

#include <string>

namespace tenon {

// Returns a file descriptor, which the caller closes. Throws TENON_ERR_FILE, "DOING 'PATH':
// reason", where `doing` is such as "cannot read options file".
int openRegularFile(const std::string& path, const std::string& doing);
// The same of a path below a folder, which follows no symbolic link and does not leave the folder;
// TENON_ERR_SUPPORT where it would.
int openRegularFileBelow(const std::string& folder, const std::string& path,
                         const std::string& doing);

} // namespace tenon
