// SPDX-License-Identifier: BSD-2-Clause
#include "sys/share_folder.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace tenon {

std::vector<std::string> shareFolders() {
  static const char anchor = 0;
  Dl_info info;
  if (dladdr(&anchor, &info) == 0 || !info.dli_fname)
    return {};
  std::error_code ignored;
  const std::filesystem::path library = std::filesystem::absolute(info.dli_fname, ignored);
  // As installed, and in the tree where it was built.
  std::vector<std::string> folders;
  for (const char* way : {TENON_SHARE_FROM_LIBRARY, "../share/tenon"})
    folders.push_back((library.parent_path() / way).lexically_normal().string());
  if (folders.front() == folders.back())
    folders.pop_back();
  return folders;
}

} // namespace tenon
