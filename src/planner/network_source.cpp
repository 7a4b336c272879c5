// SPDX-License-Identifier: BSD-2-Clause
#include "planner/network_source.hpp"

#include "sys/data_file.hpp"
#include "sys/json_tree.hpp"
#include "sys/share_folder.hpp"
#include "sys/whole_file.hpp"

#include <filesystem>

namespace tenon {

namespace {

// Tables come first; where there is neither, the message lists these.
std::string findSource(const std::string& nameOrPath) {
  std::error_code ignored;
  const std::string file = nameOrPath + ".json";
  for (const std::string& share : shareFolders()) {
    const std::filesystem::path networks = std::filesystem::path(share) / "networks";
    if (!std::filesystem::exists(networks / "tables" / file, ignored) &&
        std::filesystem::exists(networks / file, ignored))
      return findNetworkFile(nameOrPath);
  }
  return findDataFile(nameOrPath, "network table", "networks/tables", {});
}

} // namespace

NetworkSource readNetworkSource(const std::string& nameOrPath) {
  const std::string path = findSource(nameOrPath);
  const std::string text = readWholeFile(path, "network");
  const JsonNode tree = parseJson(text, path);
  const JsonView root(tree, path);
  NetworkSource source{.name = nameOrPath, .table = {}, .layers = {}};
  if (root.at("format").text().starts_with("tenon-network-table"))
    source.table = parseNetworkTable(text, path);
  else
    source.layers = parseNetwork(
        text, path, [](const std::string&) { return std::unique_ptr<Declaration>(); },
        kMostProcesses);
  return source;
}

} // namespace tenon
