// SPDX-License-Identifier: BSD-2-Clause
// Opens files that must be regular, with an error text for other kinds. A file is opened first and
// checked afterwards, so it cannot be replaced in between. A path relative to a folder is opened
// component by component, without following links.
#include "sys/files/regular_file.hpp"

#include "sys/errors/error.hpp"

#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tenon {

namespace {

// O_NONBLOCK: open() would wait on a pipe; no effect on regular files.
constexpr int kReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// Returns the descriptor if it is a regular file; otherwise closes it and sets the reason.
int ifRegular(int file, std::string& reason) {
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0)
    reason = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    reason = "it is not a regular file";
  else
    return file;
  if (file >= 0)
    ::close(file);
  return -1;
}

[[noreturn]] void failToOpen(TenonErrorCode code, const std::string& doing, const std::string& path,
                             const std::string& reason) {
  throw Error(code, fmt::format("{} '{}': {}", doing, path, reason));
}

bool isLink(int folder, const std::string& part) {
  struct stat status {};
  return fstatat(folder, part.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

} // namespace

int openRegularFile(const std::string& path, const std::string& doing) {
  std::string reason;
  const int file = ifRegular(::open(path.c_str(), kReading), reason);
  if (file < 0)
    failToOpen(TENON_ERR_FILE, doing, path, reason);
  return file;
}

int openRegularFileBelow(const std::string& folder, const std::string& path,
                         const std::string& doing) {
  const std::vector<std::string> parts = split(path, '/');
  if (parts.empty() || parts.front().empty() || std::ranges::count(parts, "..") > 0)
    failToOpen(TENON_ERR_SUPPORT, doing, path,
               fmt::format("it is outside the folder '{}'", folder));
  const std::string whole = folder + "/" + path;
  int at = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (at < 0)
      failToOpen(TENON_ERR_FILE, doing, whole, std::strerror(errno));
    // "a//b" and "a/./b" mean "a/b". A last "." is a folder, which is rejected at the end.
    if (parts[i].empty() || (parts[i] == "." && i + 1 < parts.size()))
      continue;
    const bool isLast = i + 1 == parts.size(), links = isLink(at, parts[i]);
    const int next =
        openat(at, parts[i].c_str(), kReading | O_NOFOLLOW | (isLast ? 0 : O_DIRECTORY));
    const int failure = errno; // of openat(); close() can change errno
    ::close(std::exchange(at, next));
    errno = failure;
    if (next < 0 && links)
      failToOpen(TENON_ERR_SUPPORT, doing, whole,
                 fmt::format("'{}' is a symbolic link, which is not followed here; put the file "
                             "itself there",
                             parts[i]));
  }
  std::string reason;
  const int file = ifRegular(at, reason);
  if (file < 0)
    failToOpen(TENON_ERR_FILE, doing, whole, reason);
  return file;
}

} // namespace tenon
