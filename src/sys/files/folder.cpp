// SPDX-License-Identifier: BSD-2-Clause
// Lists a folder by readdir(), so that a failed allocation is an exception like any other. The end
// of a folder and a failure look alike to its caller, except for errno, which therefore is cleared
// before each call.
#include "sys/files/folder.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace tenon {

std::vector<std::string> namesIn(const std::string& folder, std::error_code& error) {
  error.clear();
  const auto close = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> open(opendir(folder.c_str()), close);
  std::vector<std::string> names;
  errno = open ? 0 : errno;
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0)
    error.assign(errno, std::generic_category());
  return names;
}

} // namespace tenon
