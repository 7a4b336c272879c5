// SPDX-License-Identifier: BSD-2-Clause
// Lists a folder with readdir(): a failed allocation is then an ordinary exception. readdir()
// returns NULL both at the end and on failure; only errno distinguishes the two, so it is cleared
// before each call.
#include "sys/files/folder.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <string_view>

namespace tenon {

std::vector<std::string> namesIn(const std::string& folder, std::error_code& error) {
  error.clear();
  const auto close = [](DIR* stream) { closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(opendir(folder.c_str()), close);
  std::vector<std::string> names;
  errno = stream ? 0 : errno;
  while (const dirent* entry = stream ? readdir(stream.get()) : nullptr) {
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
