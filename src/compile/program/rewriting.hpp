// SPDX-License-Identifier: BSD-2-Clause
// Rewrites of the map list of a network before it runs. A map list is the list of kernels and
// exchanges between ranks that one evaluation runs, in order (map_list.hpp). The list of a network
// is joined from the lists of its layers. Set-up calls these functions on all ranks, and the
// planner calls them on one, so the list that is planned is the list that runs.
#pragma once

#include "declaration/core/map_list.hpp"
#include "declaration/core/pass.hpp"
#include "declaration/core/pieces.hpp"
#include "sys/memory/memory.hpp"

namespace tenon {

// The choices for running a list, besides the settings of its layers. They must be equal on all
// ranks; set-up compares their text.
struct Target {
  Space space = Space::Host;       // memory of the arrays
  bool fusesRows = true;           // one kernel gathers rows, applies a perceptron and sums rows
  Order order = Order::Overlapped; // whether communication overlaps computation
  // Rates by which set-up predicts whether computing windows in pieces during the halo exchange
  // saves time; none: no windows are computed in pieces.
  std::optional<PieceRates> pieces = {};

  // The choices of the options -tenon_fuse_rows, -tenon_overlap_steps and -tenon_machine_...
  static Target fromOptions(Space space);
  // Text for the agreement between ranks: the differences from the default, each preceded by "; ".
  std::string agreedText() const;
};

// The list to run, made from a joined list that has not been rewritten before. If `savesRounded`,
// the values that derivatives read are saved in bfloat16. The caller keeps a copy of the joined
// list if it can still become a part of other lists: see MapList::join().
MapList rewritten(MapList joined, const Target& target, bool savesRounded);

} // namespace tenon
