// SPDX-License-Identifier: BSD-2-Clause
#include "sys/data_file.hpp"

#include "sys/error.hpp"
#include "sys/folder.hpp"
#include "sys/share_folder.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tenon {

std::string findDataFile(const std::string& nameOrPath, const std::string& what,
                         const std::string& folder, const std::string& ownFolder) {
  if (nameOrPath.find('/') != std::string::npos || nameOrPath.ends_with(".json"))
    return nameOrPath;
  std::vector<std::string> folders;
  if (!ownFolder.empty())
    folders.push_back(ownFolder);
  for (const std::string& share : shareFolders())
    folders.push_back(fmt::format("{}/{}", share, folder));
  std::vector<std::string> known;
  std::error_code ignored;
  for (const std::string& place : folders) {
    const std::filesystem::path path = std::filesystem::path(place) / (nameOrPath + ".json");
    if (std::filesystem::exists(path, ignored))
      return path.string();
    for (const std::string& name : namesIn(place, ignored))
      if (name.ends_with(".json"))
        known.push_back(name.substr(0, name.rfind('.')));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end()); // in several folders
  throw Error(TENON_ERR_FILE,
              fmt::format("there is no {} '{}' in {}; known are: {}. Pass one of these, or a path "
                          "that ends with .json",
                          what, nameOrPath, joined(folders),
                          known.empty() ? "none" : joined(known)));
}

} // namespace tenon
