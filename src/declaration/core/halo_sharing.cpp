// SPDX-License-Identifier: BSD-2-Clause
// Finds the values of a network whose halo is computed instead of exchanged (halo_sharing.hpp). For
// two 3 x 3 convolutions on rows split at 0, 8, 16, the second needs one more row on each side of a
// block:
//
//   input of the first    rank 0 has [0, 8), reads [0, 10)    one exchange of 2 rows
//   value between         rank 0 computes [0, 9)              row 8 is also computed by rank 1
//   output of the second  rank 0 computes [0, 8)              no exchange
//
// The value between has the halo [8, 9), which rank 0 computes. A layer that can compute the halo
// of its output has one input. The halo of a value is therefore found by recursion over the layers
// that read it, up to layers that exchange their halo, and the first layer of a chain has the
// widest halo. Either all readers of a value share its halo, or none. All ranks decide equally,
// since everything follows from layouts.
#include "declaration/core/halo_sharing.hpp"

#include "declaration/core/window_layout.hpp"
#include "geometry/schedule/segments.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

Interval hull(Interval a, Interval b) {
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

bool isPeriodic(const Halo& halo) {
  return halo.low == Boundary::Periodic && halo.high == Boundary::Periodic && halo.bands.empty();
}

// Whether the elements beyond a side are, for some channel, those of the opposite end (periodic).
bool isPeriodicSomewhere(const Halo& halo) {
  return halo.low == Boundary::Periodic || halo.high == Boundary::Periodic ||
         std::ranges::any_of(halo.bands, [](const ModeBand& band) {
           return band.low == Boundary::Periodic || band.high == Boundary::Periodic;
         });
}

// The elements of the domain from which the elements of a box are filled.
Interval sourcesOf(Interval box, Index extent, const Halo& halo) {
  std::vector<ModeBand> bands = halo.bands;
  if (bands.empty())
    bands.push_back({.end = 0, .low = halo.low, .high = halo.high}); // the end is not read
  Interval merged;
  for (const ModeBand& band : bands)
    for (const Segment& run : extensionSegments(box, extent, band.low, band.high))
      merged = hull(merged, globalRange(run));
  return merged;
}

// One dimension of the smallest halo from which ranks can fill the halo of `use` without
// communication, or none if they cannot.
std::optional<Halo> halosFor(const Layout& use, int dim) {
  const Halo& required = *use.halo(dim);
  const Index extent = use.shape()[dim];
  // With one block in the dimension, the rank owns the elements of the opposite end itself.
  const bool wraps = isPeriodic(required) && use.parts(dim) > 1;
  if (!wraps && use.parts(dim) > 1 && isPeriodicSomewhere(required))
    return std::nullopt;
  Halo halo;
  if (wraps)
    halo.low = halo.high = Boundary::Periodic;
  for (int part = 0; part < use.parts(dim); ++part) {
    const Interval box = required.boxes[part], owned = use.owned(dim, part);
    halo.boxes.push_back(hull(owned, wraps ? box : sourcesOf(box, extent, required)));
  }
  return halo;
}

// Merges the halos of two readers. Returns false if only one of them is periodic: by halosFor(),
// both sides of a halo are periodic, or neither has a mode.
bool merge(std::optional<Halo>& merged, const Halo& addition) {
  if (!merged) {
    merged = addition;
    return true;
  }
  for (std::size_t part = 0; part < addition.boxes.size(); ++part)
    merged->boxes[part] = hull(merged->boxes[part], addition.boxes[part]);
  return merged->low == addition.low;
}

} // namespace

bool hasSharedHalo(const Declaration& type) {
  return type.settings().has("halo");
}

HaloFrom haloFrom(const Declaration& type) {
  const std::string setting = hasSharedHalo(type) ? type.value<std::string>("halo") : "auto";
  return setting == "compute"    ? HaloFrom::Compute
         : setting == "exchange" ? HaloFrom::Exchange
                                 : HaloFrom::Auto;
}

HaloSharing::HaloSharing(std::vector<SharingNode> nodes, int inputs, std::vector<int> outputs)
    : nodes_(std::move(nodes)), inputs_(inputs), outputs_(std::move(outputs)),
      values_(static_cast<std::size_t>(inputs) + nodes_.size(),
              {0, "what it reads comes from outside of its container"}) {}

std::optional<Layout> HaloSharing::computedHaloOf(int node, const Layouts& inputs) {
  const SharingNode& current = nodes_[node];
  State& value = values_[inputs_ + node];
  if (!current.declaration) {
    value.why = "what it reads is the output of a container";
    return std::nullopt;
  }
  if (value.why = current.declaration->computedHaloObstacle(); !value.why.empty()) {
    value.why = fmt::format("{}: {}", current.declaration->title(), value.why);
    if (current.halo == HaloFrom::Compute)
      throwNotComputed(current, value.why);
    return std::nullopt;
  }
  const Form plain = current.form(inputs, std::nullopt);
  const bool reads = readsHalo(current, plain);
  const State& inputState = values_[current.reads.front()];
  // The halo must be computed, but the input has none, and `why` is the reason.
  if (reads && current.halo == HaloFrom::Compute && inputState.windows == 0 &&
      !inputState.why.empty())
    throwNotComputed(current, inputState.why);
  // Without a shared halo (0 windows), the node exchanges its own halo or has none.
  const Index windows = inputState.windows + (reads ? 1 : 0);
  if (windows == 0) {
    value.why = inputState.why;
    return std::nullopt;
  }
  const Wanted computed = wanted(node, inputs.front(), plain.output, windows);
  value = {computed.computedHalo ? windows : 0, computed.why};
  return computed.computedHalo;
}

// A window of one point, or windows that do not overlap, need no halo.
bool HaloSharing::readsHalo(const SharingNode& node, const Form& form) {
  return hasSharedHalo(*node.declaration) && form.uses.front().hasHalos();
}

void HaloSharing::throwNotComputed(const SharingNode& node, const std::string& why) {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{} is to have its halo computed by the layers before it (setting halo), "
                          "but {}; set halo to exchange or auto",
                          node.declaration->title(), why));
}

// The halo that the readers of a node's output need, or the reason why it cannot be computed: an
// unfulfilled condition of the node itself or of a layer after it.
HaloSharing::Wanted HaloSharing::wanted(int node, const Layout& input, const Layout& output,
                                        Index windows) const {
  const SharingNode& current = nodes_[node];
  const int value = inputs_ + node;
  const auto refuse = [&](const std::string& why) {
    return Wanted{{}, fmt::format("{}: {}", current.declaration->title(), why)};
  };
  if (const std::string why = current.declaration->computedHaloObstacle(); !why.empty())
    return refuse(why);
  if (std::ranges::find(outputs_, value) != outputs_.end())
    return refuse("its output is one of the container");
  LayoutSpec merged = output.spec();
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    const SharingNode& reader = nodes_[r];
    if (std::ranges::find(reader.reads, value) == reader.reads.end())
      continue;
    if (reader.container != current.container)
      return refuse("its output is read in another container");
    const Wanted readerHalo = wantedBy(reader, static_cast<int>(r), output, windows);
    if (!readerHalo.why.empty())
      return {{}, readerHalo.why};
    for (int d = 0; readerHalo.computedHalo && d < output.ndim(); ++d) {
      if (!readerHalo.computedHalo->halo(d))
        continue;
      const std::optional<Halo> halo = halosFor(*readerHalo.computedHalo, d);
      if (!halo || !merge(merged.halos[d], *halo))
        return refuse(fmt::format("its readers go round dimension {} on one side, or some of them, "
                                  "and not on all",
                                  d));
    }
  }
  const Layout computedHalo(std::move(merged));
  if (haveSameMemory(computedHalo, output))
    return {};
  for (int d = 0; d < output.ndim(); ++d)
    if (computedHalo.halo(d) && computedHalo.halo(d)->low == Boundary::Periodic &&
        !current.declaration->keepsPeriod(d, input.shape()))
      return refuse(fmt::format("its readers go round dimension {}, but its windows do not, or not "
                                "from one period to the next",
                                d));
  return {computedHalo, {}};
}

// The layout in which a reader uses a value, including the halo that the reader itself computes.
HaloSharing::Wanted HaloSharing::wantedBy(const SharingNode& reader, int number,
                                          const Layout& value, Index windows) const {
  if (!reader.declaration)
    return {{}, "its output is read by a container"};
  const Declaration& type = *reader.declaration;
  const auto refuse = [&](const std::string& why) {
    return Wanted{{}, fmt::format("{}: {}", type.title(), why)};
  };
  if (const std::string why = type.computedHaloObstacle(); !why.empty())
    return refuse(why);
  const Form plain = reader.form({value}, std::nullopt);
  if (!(plain.uses.front().withoutHalos() == value))
    return refuse("it uses its input on other ranks");
  const bool reads = readsHalo(reader, plain);
  if (reads && reader.halo == HaloFrom::Exchange)
    return refuse("it exchanges its halo (setting halo)");
  if (reads && windows >= reader.depth && reader.halo != HaloFrom::Compute)
    return refuse("as many layers as halo_depth says have a halo before it");
  const Wanted next = wanted(number, value, plain.output, windows + (reads ? 1 : 0));
  return {next.computedHalo ? reader.form({value}, next.computedHalo).uses.front()
                            : plain.uses.front(),
          {}};
}

} // namespace tenon
