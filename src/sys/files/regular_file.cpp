// SPDX-License-Identifier: BSD-2-Clause
// Opens files that are expected to be regular, and refuses others by name. A file is opened first
// and asked afterwards what it is, so that nobody can replace it in between.
#include "sys/files/regular_file.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon {

int openRegularFile(const std::string& path, const std::string& doing) {
  // A pipe would make open() wait without O_NONBLOCK, which means nothing to a regular file.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat there {};
  std::string reason;
  if (file < 0 || fstat(file, &there) != 0)
    reason = std::strerror(errno);
  else if (!S_ISREG(there.st_mode))
    reason = "it is not a regular file";
  else
    return file;
  if (file >= 0)
    ::close(file);
  throw Error(TENON_ERR_FILE, fmt::format("{} '{}': {}", doing, path, reason));
}

} // namespace tenon
