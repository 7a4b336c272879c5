// SPDX-License-Identifier: BSD-2-Clause
#include "sys/share_folder.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

namespace {

// The file that this code was loaded from. The name of a program is as it was called: without a
// folder where the shell has found it in PATH.
std::filesystem::path ownFile() {
  static const char anchor = 0;
  std::error_code ignored;
  Dl_info info;
  if (dladdr(&anchor, &info) == 0 || !info.dli_fname)
    return {};
  const std::filesystem::path file = info.dli_fname;
  return file.has_parent_path() ? std::filesystem::absolute(file, ignored)
                                : std::filesystem::read_symlink("/proc/self/exe", ignored);
}

} // namespace

std::vector<std::string> shareFolders() {
  std::vector<std::string> folders;
  const auto add = [&](const std::filesystem::path& folder) {
    const std::string normal = folder.lexically_normal().string();
    if (std::find(folders.begin(), folders.end(), normal) == folders.end())
      folders.push_back(normal);
  };
  // As installed, and in the tree where it was built.
  const std::filesystem::path file = ownFile();
  if (!file.empty())
    for (const char* way : {TENON_SHARE_FROM_LIBRARY, "../share/tenon"})
      add(file.parent_path() / way);
#ifdef TENON_SHARE_INSTALLED // a static library: programs lie in folders of their own, too
  if (!file.empty())
    add(file.parent_path() / "../../share/tenon");
  add(TENON_SHARE_INSTALLED);
#endif
  return folders;
}

} // namespace tenon
