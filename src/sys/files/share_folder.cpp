// SPDX-License-Identifier: BSD-2-Clause
// Finds data files relative to the library, or to the program that contains this code (a static
// library), by the path from which the loader has loaded it. An installed tree can be moved, and
// needs no environment variables.
#include "sys/files/share_folder.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/folder.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder) {
  return findDataFile(nameOrPath, what, std::vector{folder}, ownFolder);
}

std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::vector<std::string>& folders, const std::string& ownFolder) {
  if (nameOrPath.find('/') != std::string::npos || nameOrPath.ends_with(".json"))
    return nameOrPath;
  std::vector<std::string> searched;
  if (!ownFolder.empty())
    searched.push_back(ownFolder);
  for (const std::string& share : shareFolders())
    for (const std::string& folder : folders)
      searched.push_back(fmt::format("{}/{}", share, folder));
  std::vector<std::string> knownNames;
  std::error_code ignored;
  for (const std::string& location : searched) {
    const std::filesystem::path path = std::filesystem::path(location) / (nameOrPath + ".json");
    if (std::filesystem::exists(path, ignored))
      return path.string();
    for (const std::string& name : namesIn(location, ignored))
      if (name.ends_with(".json"))
        knownNames.push_back(name.substr(0, name.rfind('.')));
  }
  std::sort(knownNames.begin(), knownNames.end());
  // The same name can be in several folders.
  knownNames.erase(std::unique(knownNames.begin(), knownNames.end()), knownNames.end());
  throw Error(TENON_ERR_FILE,
              fmt::format("there is no {} '{}' in {}; known are: {}. Pass one of these, or a path "
                          "that ends with .json",
                          what, nameOrPath, joined(searched),
                          knownNames.empty() ? "none" : joined(knownNames)));
}

namespace {

// The file that this code was loaded from. For a program, the loader's name is argv[0], which has
// no folder if the shell found it in PATH; then Linux provides the path.
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
  // The layout of an installation, and that of the build tree, in which programs that contain this
  // code are in separate folders.
  const std::filesystem::path file = ownFile();
  if (!file.empty())
    for (const char* relativePath :
         {TENON_SHARE_FROM_LIBRARY, "../share/tenon", "../../share/tenon"})
      add(file.parent_path() / relativePath);
#ifdef TENON_SHARE_INSTALLED // a static library: the program can be anywhere
  add(TENON_SHARE_INSTALLED);
#endif
  return folders;
}

} // namespace tenon
