// SPDX-License-Identifier: BSD-2-Clause
// Rewrites of the joined map list of a network before it runs. Set-up and planner call the same
// functions, so the planned list is the one that runs.
#pragma once

#include "declaration/core/map_list.hpp"
#include "declaration/core/pass.hpp"
#include "sys/memory/memory.hpp"

namespace tenon {

// The choices for running a list, besides the settings of its layers. They must be equal on all
// ranks; set-up compares their text.
struct Target {
  Space space = Space::Host;
  bool fusesRows = true;
  Order order = Order::Overlapped;

  static Target fromOptions(Space space);
  // Text for the agreement between ranks: the differences from the default, each preceded by "; ".
  std::string agreedText() const;
};

// The list to run, made from a joined list that has not been rewritten before. The caller keeps the
// joined list if other lists can still join it: see MapList::join().
MapList rewritten(MapList joined, const Target& target, bool savesRounded);

} // namespace tenon
