// SPDX-License-Identifier: BSD-2-Clause
// Opens a file for reading if it is a regular file. Opening a pipe would wait for a writer, and a
// device such as /dev/zero can be endless.
#pragma once

#include <string>

namespace tenon {

// Returns a file descriptor, which the caller must close. Throws TENON_ERR_FILE with the text
// "DOING 'PATH': reason", where `doing` is for example "cannot read options file".
int openRegularFile(const std::string& path, const std::string& doing);
// openRegularFile() for a path relative to a folder. Throws TENON_ERR_SUPPORT if the path contains
// a symbolic link or leaves the folder.
int openRegularFileBelow(const std::string& folder, const std::string& path,
                         const std::string& doing);

} // namespace tenon
