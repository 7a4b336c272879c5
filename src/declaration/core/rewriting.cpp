// SPDX-License-Identifier: BSD-2-Clause
// The one place where options decide how a joined list runs. A rewrite only records in the list
// which kernels it replaces: the planner needs no objects, and the runner creates them later.
#include "declaration/core/rewriting.hpp"

#include "sys/options/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kTargetOptions[] = {
    {"overlap_steps", OptionSpec::Flag, "true",
     "begin communication as early and end it as late as values allow, also across layers; false: "
     "one step after the other"},
    {"fuse_rows", OptionSpec::Flag, "true",
     "gather rows for a column MLP, apply it and sum what it gives in one kernel, over blocks of "
     "edges; false: by one kernel for each of these layers"},
};
const OptionRegistration kTargetRegistration{{"layer", kTargetOptions}};

} // namespace

Target Target::fromOptions(Space space) {
  return {.space = space,
          .fusesRows = options().getFlag("", "fuse_rows"),
          .order = options().getFlag("", "overlap_steps") ? Order::Overlapped : Order::Listed};
}

std::string Target::agreedText() const {
  return fmt::format("{}{}", order == Order::Overlapped ? "" : "; steps in order",
                     fusesRows ? "" : "; rows not fused");
}

// The device has no kernel for several row layers, and no function over part of an array.
MapList rewritten(MapList joined, const Target& target, bool savesRounded) {
  MapList list = std::move(joined);
  if (target.space == Space::Host && target.fusesRows)
    list.fuseRows();
  if (target.space == Space::Device)
    list.leaveFunctionsOfParts();
  if (savesRounded)
    list.saveRounded();
  return list;
}

} // namespace tenon
