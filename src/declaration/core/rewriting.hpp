// SPDX-License-Identifier: BSD-2-Clause
// What becomes of the list of a network, joined of those of its layers, before it runs. Set-ups and
// plans ask the same functions, so that what is planned is what runs.
#pragma once

#include "declaration/core/map_list.hpp"
#include "declaration/core/pass.hpp"
#include "sys/memory/memory.hpp"

namespace tenon {

// What decides how a list runs besides the settings of its layers. All ranks have the same: set-ups
// agree on the text.
struct Target {
  Space space = Space::Host;
  bool fusesRows = true;
  Order order = Order::Moved;

  static Target fromOptions(Space space);
  // For texts on which ranks agree: what differs from the default, each part behind "; ".
  std::string agreedText() const;
};

// The list that runs of one that was joined and not rewritten before. The caller keeps the joined
// one where others may join it: see MapList::join().
MapList rewritten(MapList joined, const Target& target, bool keepsRounded);

} // namespace tenon
