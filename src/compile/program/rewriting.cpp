// SPDX-License-Identifier: BSD-2-Clause
// Decides, from the options of the command line, how the layers of a network run together.
//
// The steps of all layers of a network form one list, the map list (declaration/core/map_list.hpp):
// kernels, which compute on this rank's data, and exchanges with other ranks, in the order in which
// they run. A joined list is the map list of a network, made of those of its layers. rewritten()
// changes it before it runs. Three steps of a graph neural network, for example, become one:
//
//   gather rows by edge | MLP of each row | sum rows by node    arrays of all edges in memory
//   gather-MLP-sum                                              one kernel, for blocks of edges
//
// The list only describes kernels and exchanges. The module `layer` creates an object for each
// entry and runs it (layer/core/bound_maps.cpp), and the planner (planner/prices/run_memory.cpp)
// counts its memory without any object. Both call rewritten(), which gives both the same list. No
// function here communicates.
#include "compile/program/rewriting.hpp"

#include "machine/link.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kTargetOptions[] = {
    {"overlap_steps", OptionSpec::Flag, "true",
     "begin communication as early and end it as late as values allow, also across layers; false: "
     "one step after the other"},
    {"fuse_rows", OptionSpec::Flag, "true",
     "gather rows for a column MLP, apply it and sum what it gives in one kernel, over blocks of "
     "edges; false: by one kernel for each of these layers"},
};
const OptionRegistration kTargetRegistration{{"layer", kTargetOptions}};

struct RewriteContext {
  const Target& target;
  bool savesRounded;
};

// Whether a map is the only one that writes a value of the library, by a conversion or a halo
// exchange that is part of every evaluation.
bool isMove(const MapList& list, const Map& map) {
  if (map.kind != Map::Kind::Operator || map.when != When::Always || map.fixed)
    return false;
  const OperatorKind kind = list.operators()[map.object].kind;
  const Value& y = list.values()[map.y];
  return (kind == OperatorKind::Conversion || kind == OperatorKind::Exchange) &&
         y.place == Value::Place::Own && !y.isUserSupplied() &&
         std::ranges::count(list.maps(), map.y, &Map::y) == 1;
}

bool areAlike(const MapList& list, const Map& a, const Map& b) {
  if (a.kind != Map::Kind::Operator || a.x != b.x)
    return false;
  const OperatorEntry &first = list.operators()[a.object], &second = list.operators()[b.object];
  return first.kind == second.kind && first.from == second.from && first.to == second.to;
}

// Of several equal conversions of one value, the first serves all readers: a layer of attention
// that projects one tensor to queries, keys and values moves it once instead of three times. In the
// adjoint, the cotangents of the readers are added before they are moved, so they move once too.
void shareMoves(MapList& list, const RewriteContext&) {
  for (int m = static_cast<int>(list.maps().size()); m-- > 1;) {
    const Map map = list.maps()[m];
    if (!isMove(list, map))
      continue;
    const auto end = list.maps().begin() + m;
    const auto first = std::find_if(list.maps().begin(), end, [&](const Map& earlier) {
      return areAlike(list, earlier, map) && isMove(list, earlier);
    });
    if (first == end)
      continue;
    list.redirect(map.y, first->y);
    list.erase(m);
  }
}

// The fused kernel of the example above exists on the host only.
void fuseRows(MapList& list, const RewriteContext& context) {
  if (context.target.space == Space::Host && context.target.fusesRows)
    list.fuseRows();
}

// A kernel can apply the elementwise function that follows it, such as a rectifier, to its own
// output. On the device it cannot do so if it writes only a part of that output, as during a halo
// exchange; the function then remains a kernel of its own.
void leaveFunctionsOfParts(MapList& list, const RewriteContext& context) {
  if (context.target.space == Space::Device)
    list.leaveFunctionsOfParts();
}

// Apply saves in bfloat16 what the adjoint reads (setting saved_type).
void saveRounded(MapList& list, const RewriteContext& context) {
  if (context.savesRounded)
    list.saveRounded();
}

// In the order in which they are applied.
using Rewrite = void (*)(MapList& list, const RewriteContext& context);
constexpr Rewrite kRewrites[] = {shareMoves, fuseRows, leaveFunctionsOfParts, saveRounded};

} // namespace

// The empty text is the prefix of the options: these two have none.
Target Target::fromOptions(Space space) {
  Target target{.space = space,
                .fusesRows = options().getFlag("", "fuse_rows"),
                .order =
                    options().getFlag("", "overlap_steps") ? Order::Overlapped : Order::Listed};
  if (const LinkRates links = LinkRates::fromOptions(); space == Space::Host)
    target.pieces = {links.latency, links.copyBandwidth};
  return target;
}

// Set-up compares this text between all ranks of the communicator, since ranks with different
// options would run different steps. It is empty for the default.
std::string Target::agreedText() const {
  return fmt::format("{}{}", order == Order::Overlapped ? "" : "; steps in order",
                     fusesRows ? "" : "; rows not fused");
}

MapList rewritten(MapList joined, const Target& target, bool savesRounded) {
  MapList list = std::move(joined);
  const RewriteContext context{target, savesRounded};
  for (const Rewrite rewrite : kRewrites)
    rewrite(list, context);
  return list;
}

} // namespace tenon
