// SPDX-License-Identifier: BSD-2-Clause
// Finds which values get a halo that is computed. A layer that can compute one reads one value, so
// that what its readers need of it is found by going on to theirs, down a tree that ends where
// windows exchange their halo; the widest halo is that of the first layer. All readers of a value
// share its halo or none.
#include "declaration/core/halo_sharing.hpp"

#include "declaration/core/window_layout.hpp"
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

// Whether some channel's elements beyond a side are those at the other end.
bool goesRound(const Halo& halo) {
  return halo.low == Boundary::Periodic || halo.high == Boundary::Periodic ||
         std::ranges::any_of(halo.bands, [](const ModeBand& band) {
           return band.low == Boundary::Periodic || band.high == Boundary::Periodic;
         });
}

// The elements of the domain that a box is filled from.
Interval sourcesOf(Interval box, Index extent, const Halo& halo) {
  std::vector<ModeBand> bands = halo.bands;
  if (bands.empty())
    bands.push_back({0, halo.low, halo.high});
  Interval all;
  for (const ModeBand& band : bands)
    for (const Segment& run : extensionSegments(box, extent, band.low, band.high))
      all = hull(all, run.step > 0 ? Interval{run.global, run.global + run.length}
                                   : Interval{run.global - run.length + 1, run.global + 1});
  return all;
}

// A dimension of the halo from which ranks can fill another, none where they cannot.
std::optional<Halo> halosFor(const Layout& use, int dim) {
  const Halo& needs = *use.halo(dim);
  const Index extent = use.shape()[dim];
  // A single part has the other end itself.
  const bool leaves = isPeriodic(needs) && use.parts(dim) > 1;
  if (!leaves && use.parts(dim) > 1 && goesRound(needs))
    return std::nullopt;
  Halo halo;
  if (leaves)
    halo.low = halo.high = Boundary::Periodic;
  for (int part = 0; part < use.parts(dim); ++part) {
    const Interval box = needs.boxes[part], owned = use.owned(dim, part);
    halo.boxes.push_back(hull(owned, leaves ? box : sourcesOf(box, extent, needs)));
  }
  return halo;
}

// Joins what two readers need; false where one goes round and the other does not.
bool merge(std::optional<Halo>& all, const Halo& more) {
  if (!all) {
    all = more;
    return true;
  }
  for (std::size_t part = 0; part < more.boxes.size(); ++part)
    all->boxes[part] = hull(all->boxes[part], more.boxes[part]);
  return all->low == more.low;
}

} // namespace

bool hasSharedHalo(const Declaration& type) {
  return type.settings().has("halo");
}

HaloFrom haloFrom(const Declaration& type) {
  const std::string said = hasSharedHalo(type) ? type.value<std::string>("halo") : "auto";
  return said == "compute"    ? HaloFrom::Compute
         : said == "exchange" ? HaloFrom::Exchange
                              : HaloFrom::Auto;
}

HaloSharing::HaloSharing(std::vector<SharingNode> nodes, int inputs, std::vector<int> outputs,
                         Index depth)
    : nodes_(std::move(nodes)), inputs_(inputs), outputs_(std::move(outputs)), depth_(depth),
      values_(static_cast<std::size_t>(inputs) + nodes_.size(),
              {0, "what it reads comes from outside of its container"}) {}

std::optional<Layout> HaloSharing::computedHaloOf(int node, const Layouts& inputs) {
  const SharingNode& at = nodes_[node];
  State& value = values_[inputs_ + node];
  if (!at.declaration) {
    value.why = "what it reads is the output of a container";
    return std::nullopt;
  }
  if (value.why = at.declaration->whyNoComputedHalo(); !value.why.empty()) {
    value.why = fmt::format("{}: {}", at.declaration->title(), value.why);
    if (at.halo == HaloFrom::Compute)
      throwNotComputed(at, value.why);
    return std::nullopt;
  }
  const Form plain = at.form(inputs, std::nullopt);
  const bool reads = readsHalo(at, plain);
  const State& read = values_[at.reads.front()];
  if (reads && at.halo == HaloFrom::Compute && read.windows == 0 && !read.why.empty())
    throwNotComputed(at, read.why);
  // Where nothing shares the halo of what it reads, it exchanges its own, or has none to share.
  const Index windows = read.windows + (reads ? 1 : 0);
  if (windows == 0) {
    value.why = read.why;
    return std::nullopt;
  }
  const Wanted found = wanted(node, inputs.front(), plain.output, windows);
  value = {found.computedHalo ? windows : 0, found.why};
  return found.computedHalo;
}

// A window of one point, or one beside the other, reads none.
bool HaloSharing::readsHalo(const SharingNode& node, const Form& form) {
  return hasSharedHalo(*node.declaration) && form.uses.front().hasHalos();
}

void HaloSharing::throwNotComputed(const SharingNode& node, const std::string& why) {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("{} is to have its halo computed by the layers before it (setting halo), "
                          "but {}; set halo to exchange or auto",
                          node.declaration->title(), why));
}

HaloSharing::Wanted HaloSharing::wanted(int node, const Layout& input, const Layout& output,
                                        Index windows) const {
  const SharingNode& at = nodes_[node];
  const int value = inputs_ + node;
  const auto says = [&](const std::string& why) {
    return Wanted{{}, fmt::format("{}: {}", at.declaration->title(), why)};
  };
  if (const std::string why = at.declaration->whyNoComputedHalo(); !why.empty())
    return says(why);
  if (std::ranges::find(outputs_, value) != outputs_.end())
    return says("its output is one of the container");
  LayoutSpec all = output.spec();
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    const SharingNode& reader = nodes_[r];
    if (std::ranges::find(reader.reads, value) == reader.reads.end())
      continue;
    if (reader.container != at.container)
      return says("its output is read in another container");
    const Wanted its = wantedBy(reader, static_cast<int>(r), output, windows);
    if (!its.why.empty())
      return {{}, its.why};
    for (int d = 0; its.computedHalo && d < output.rank(); ++d) {
      if (!its.computedHalo->halo(d))
        continue;
      const std::optional<Halo> halo = halosFor(*its.computedHalo, d);
      if (!halo || !merge(all.halos[d], *halo))
        return says(fmt::format("its readers go round dimension {} on one side, or some of them, "
                                "and not on all",
                                d));
    }
  }
  const Layout computedHalo(std::move(all));
  if (sameHolding(computedHalo, output))
    return {};
  for (int d = 0; d < output.rank(); ++d)
    if (computedHalo.halo(d) && computedHalo.halo(d)->low == Boundary::Periodic &&
        !at.declaration->keepsPeriod(d, input.shape()))
      return says(fmt::format("its readers go round dimension {}, but its windows do not, or not "
                              "from one period to the next",
                              d));
  return {computedHalo, {}};
}

// What a reader uses of a value, with the halo that the reader computes itself.
HaloSharing::Wanted HaloSharing::wantedBy(const SharingNode& reader, int number,
                                          const Layout& value, Index windows) const {
  if (!reader.declaration)
    return {{}, "its output is read by a container"};
  const Declaration& type = *reader.declaration;
  const auto says = [&](const std::string& why) {
    return Wanted{{}, fmt::format("{}: {}", type.title(), why)};
  };
  if (const std::string why = type.whyNoComputedHalo(); !why.empty())
    return says(why);
  const Form plain = reader.form({value}, std::nullopt);
  if (!(plain.uses.front().withoutHalos() == value))
    return says("it uses its input on other ranks");
  const bool reads = readsHalo(reader, plain);
  if (reads && reader.halo == HaloFrom::Exchange)
    return says("it exchanges its halo (setting halo)");
  if (reads && windows >= depth_ && reader.halo != HaloFrom::Compute)
    return says("as many layers as halo_depth says have a halo before it");
  const Wanted next = wanted(number, value, plain.output, windows + (reads ? 1 : 0));
  return {next.computedHalo ? reader.form({value}, next.computedHalo).uses.front()
                            : plain.uses.front(),
          {}};
}

} // namespace tenon
