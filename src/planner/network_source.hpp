// SPDX-License-Identifier: BSD-2-Clause
// The networks that a plan can be made for: tables, and network files of layers (declaration/network_file.hpp),
// told apart by their format.
#pragma once

#include "planner/declared_network.hpp"

#include <optional>

namespace tenon {

// Of a plan, and of a layout in a network file. A word has a letter for every few axes each; more is a mistake.
inline constexpr Index kMostProcesses = Index(1) << 24;

struct NetworkSource {
  std::string name;
  std::optional<NetworkTable> table;
  std::optional<LayerDescription> layers; // one of the two
};

// A name in share/tenon/networks/tables or share/tenon/networks, or a path: a word with a slash or the ending
// .json. Throws TENON_ERR_FILE and TENON_ERR_FORMAT as those that read them do.
NetworkSource readNetworkSource(const std::string& nameOrPath);

} // namespace tenon
