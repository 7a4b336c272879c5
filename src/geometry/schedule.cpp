// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/schedule.hpp"

#include "geometry/callers_cells.hpp"
#include "geometry/coverage.hpp"
#include "geometry/peer_rule.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <tuple>

namespace tenon {

namespace {

// A run of cells along one dimension that a source part and a target part share.
struct Overlap {
  Index global, length;
  Index source, target;
  int sourceStep, targetStep;
};

// Whether the extension E fills the margin, or the adjoint folds it: G as a target, G* as a source.
bool isExtended(const Margin& margin, Role role) {
  return (role == Role::Source) == margin.addends;
}

// P gives addends, and so does B in the transpose, where it stands for its dual.
bool holdsAddends(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isPartial()
                              : layout.property(axis).isBroadcast();
}

// The runs of global indices that a part contributes in its role. G as a source and G* as a target
// count with their owned cells alone; the other two with the whole box under the extension.
std::vector<Segment> partSegments(const Layout& layout, int dim, int part, Role role) {
  const Interval owned = layout.owned(dim, part);
  const auto& margin = layout.margin(dim);
  if (!margin)
    return owned.empty() ? std::vector<Segment>{}
                         : std::vector<Segment>{{0, owned.begin, owned.size(), 1}};
  const Interval box = margin->boxes[part];
  if (isExtended(*margin, role))
    return extensionSegments(box, layout.shape()[dim], margin->low, margin->high);
  const Interval kept = intersect(box, owned);
  if (kept.empty())
    return {};
  return {{kept.begin - box.begin, kept.begin, kept.size(), 1}};
}

Interval globalRange(const Segment& run) {
  return run.step > 0 ? Interval{run.global, run.global + run.length}
                      : Interval{run.global - run.length + 1, run.global + 1};
}

Index localOf(const Segment& run, Index global) {
  return run.local + (global - run.global) * run.step;
}

std::vector<Overlap> overlaps(const std::vector<Segment>& sources,
                              const std::vector<Segment>& targets) {
  std::vector<Overlap> result;
  for (const Segment& s : sources)
    for (const Segment& t : targets) {
      const Interval shared = intersect(globalRange(s), globalRange(t));
      if (!shared.empty())
        result.push_back({shared.begin, shared.size(), localOf(s, shared.begin),
                          localOf(t, shared.begin), s.step, t.step});
    }
  std::sort(result.begin(), result.end(), [](const Overlap& x, const Overlap& y) {
    return std::tie(x.global, x.source, x.target) < std::tie(y.global, y.source, y.target);
  });
  return result;
}

// The parts that may share cells with some runs, in rising order, with few others: found by bisection,
// unless the boxes of a margin lie in no order.
std::vector<int> partsNear(const std::vector<Segment>& runs, const Layout& layout, int dim,
                           Role role) {
  const int parts = layout.parts(dim);
  const auto& margin = layout.margin(dim);
  const bool extended = margin && isExtended(*margin, role);
  std::vector<int> near;
  const auto addParts = [&](int first, int last) {
    for (int part = first; part < last; ++part)
      near.push_back(part);
  };
  if (extended && !layout.boxesRise(dim)) {
    addParts(0, parts);
    return near;
  }
  const auto intervalOf = [&](int part) {
    return extended ? margin->boxes[part] : layout.owned(dim, part);
  };
  const auto countWhile = [&](auto&& holds) {
    const auto all = std::views::iota(0, parts);
    return static_cast<int>(
        std::ranges::partition_point(all, [&](int part) { return holds(intervalOf(part)); }) -
        all.begin());
  };
  for (const Segment& run : runs) {
    const Interval range = globalRange(run);
    addParts(countWhile([&](Interval i) { return i.end <= range.begin; }),
             countWhile([&](Interval i) { return i.begin < range.end; }));
  }
  if (extended) { // boxes that leave the domain may hold anything
    addParts(0, countWhile([](Interval i) { return i.begin < 0; }));
    addParts(countWhile([&](Interval i) { return i.end <= layout.shape()[dim]; }), parts);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  return near;
}

// All boxes of cells that two positions share: the product of the overlaps of every dimension.
std::vector<CellBlock> productBlocks(const std::vector<const std::vector<Overlap>*>& perDim) {
  std::vector<CellBlock> blocks(1);
  for (const auto* choices : perDim) {
    std::vector<CellBlock> longer;
    for (const CellBlock& block : blocks)
      for (const Overlap& o : *choices) {
        CellBlock next = block;
        next.extent.push_back(o.length);
        next.sourceBegin.push_back(o.source);
        next.targetBegin.push_back(o.target);
        next.sourceStep.push_back(o.sourceStep);
        next.targetStep.push_back(o.targetStep);
        longer.push_back(std::move(next));
      }
    blocks = std::move(longer);
  }
  return blocks;
}

Index cellsOf(const std::vector<CellBlock>& blocks) {
  Index sum = 0;
  for (const CellBlock& block : blocks)
    sum += cells(block.extent);
  return sum;
}

// Finds the peers of one rank: in the role of the source the targets it sends to, in the role of
// the target the sources it receives from. The work grows with the peers and with the parts of each
// single dimension, not with the number of ranks.
class PeerSearch {
public:
  PeerSearch(const Layout& from, const Layout& to, int rank, Role role)
      : mine_(role == Role::Source ? from : to), theirs_(role == Role::Source ? to : from),
        role_(role), position_(mine_.mesh().position(rank)) {}

  void run() {
    candidates_.resize(theirs_.rank());
    auto coordinates = peerCoordinates(mine_, position_, theirs_, role_);
    if (!coordinates)
      return;
    coordinates_ = std::move(*coordinates);
    for (int d = 0; d < theirs_.rank(); ++d)
      findCandidates(d);
    for (const auto& candidates : candidates_)
      if (candidates.empty())
        return;
    chosen_.resize(theirs_.rank());
    chooseParts(0);
    const auto positionOf = [this](const Transfer& t) { return theirs_.mesh().position(t.peer); };
    std::ranges::sort(transfers_, {}, positionOf);
  }

  std::vector<Transfer> takeTransfers() { return std::move(transfers_); }

  // The cells of the own array that no transfer touches. Peers are free to be combined across
  // dimensions, so what they touch is a product; so is what is not the caller's.
  Gaps gaps() const {
    const Box box = mine_.box(position_);
    std::vector<Coverage> touched, ours;
    for (int d = 0; d < mine_.rank(); ++d) {
      ours.push_back(notCallers(d, box[d]));
      std::vector<Interval> runs;
      for (const Candidate& candidate : candidates_[d])
        for (const Overlap& o : candidate.overlaps)
          runs.push_back(ownRun(o));
      const auto& range = ours.back().covered;
      touched.push_back(coverage(std::move(runs), range.empty() ? Interval{} : range.front()));
    }
    return {gapsOf(touched), gapsOf(ours)};
  }

private:
  struct Candidate {
    std::vector<int> coordinates;
    std::vector<Overlap> overlaps;
  };

  // The cells along one dimension but those beyond a side whose values the caller supplies.
  Coverage notCallers(int dim, Interval box) const {
    const auto& margin = mine_.margin(dim);
    if (margin && isExtended(*margin, role_))
      return besideCallers(*margin, mine_.shape()[dim], box);
    const Interval all{0, box.size()};
    return coverage({all}, all);
  }

  Interval ownRun(const Overlap& o) const {
    const bool source = role_ == Role::Source;
    const Index at = source ? o.source : o.target;
    const int step = source ? o.sourceStep : o.targetStep;
    return step > 0 ? Interval{at, at + o.length} : Interval{at - o.length + 1, at + 1};
  }

  void findCandidates(int dim) {
    const auto own = partSegments(mine_, dim, mine_.part(position_, dim), role_);
    for (int part : partsNear(own, theirs_, dim, otherRole(role_))) {
      std::vector<int> coordinates = theirs_.partCoordinates(dim, part);
      if (!compatible(dim, coordinates))
        continue;
      const auto other = partSegments(theirs_, dim, part, otherRole(role_));
      auto shared = role_ == Role::Source ? overlaps(own, other) : overlaps(other, own);
      if (!shared.empty())
        candidates_[dim].push_back({std::move(coordinates), std::move(shared)});
    }
  }

  bool compatible(int dim, const std::vector<int>& coordinates) const {
    const auto& axes = theirs_.splitAxes(dim);
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (coordinates_[axes[i]] != kAnyCoordinate && coordinates_[axes[i]] != coordinates[i])
        return false;
    return true;
  }

  void chooseParts(int dim) {
    if (dim == theirs_.rank()) {
      const auto blocks = productBlocks(chosen_);
      chooseCopies(0, Transfer{-1, cellsOf(blocks), blocks});
      return;
    }
    const auto& axes = theirs_.splitAxes(dim);
    for (const Candidate& candidate : candidates_[dim]) {
      const std::vector<int> saved = coordinates_;
      for (std::size_t i = 0; i < axes.size(); ++i)
        coordinates_[axes[i]] = candidate.coordinates[i];
      chosen_[dim] = &candidate.overlaps;
      chooseParts(dim + 1);
      coordinates_ = saved;
    }
  }

  // Axes that no dimension fixes are free: every coordinate on them is a peer.
  void chooseCopies(int axis, const Transfer& transfer) {
    const Mesh& mesh = theirs_.mesh();
    if (axis == mesh.axes()) {
      transfers_.push_back(transfer);
      transfers_.back().peer = mesh.rank(mesh.positionAt(coordinates_));
      return;
    }
    if (coordinates_[axis] != kAnyCoordinate)
      return chooseCopies(axis + 1, transfer);
    for (int c = 0; c < mesh.extent(axis); ++c) {
      coordinates_[axis] = c;
      chooseCopies(axis + 1, transfer);
    }
    coordinates_[axis] = kAnyCoordinate;
  }

  const Layout& mine_;
  const Layout& theirs_;
  const Role role_;
  const int position_;
  std::vector<int> coordinates_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<const std::vector<Overlap>*> chosen_;
  std::vector<Transfer> transfers_;
};

// Whether a cell on the other side may get several contributions from this one in its role, or from
// its dual: P on the way to P stays where it is.
bool addsUp(const Layout& giving, const Layout& taking, Role role) {
  const bool sameMesh = giving.mesh() == taking.mesh();
  for (int axis = 0; axis < giving.mesh().axes(); ++axis)
    if (holdsAddends(giving, axis, role) && !(sameMesh && holdsAddends(taking, axis, role)))
      return true;
  for (int d = 0; d < giving.rank(); ++d) {
    const auto& margin = giving.margin(d);
    if (margin && isExtended(*margin, role))
      return true;
  }
  return false;
}

Traffic traffic(const std::vector<Transfer>& transfers, int rank) {
  Traffic sum;
  for (const Transfer& t : transfers)
    if (t.peer != rank) {
      ++sum.messages;
      sum.cells += t.cells;
    }
  return sum;
}

} // namespace

Schedule makeSchedule(const Layout& from, const Layout& to, int rank) {
  if (from.shape() != to.shape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "a conversion keeps the global shape, but the source is [{}] and the target [{}]",
            fmt::join(from.shape(), ","), fmt::join(to.shape(), ",")));
  Schedule schedule;
  PeerSearch targets(from, to, rank, Role::Source), sources(from, to, rank, Role::Target);
  targets.run();
  sources.run();
  schedule.sourceGaps = targets.gaps();
  schedule.targetGaps = sources.gaps();
  schedule.sends = targets.takeTransfers();
  schedule.receives = sources.takeTransfers();
  schedule.sourceExtent = extents(from.boxOfRank(rank));
  schedule.targetExtent = extents(to.boxOfRank(rank));
  schedule.sumsOnReceipt = addsUp(from, to, Role::Source);
  schedule.sumsOnTranspose = addsUp(to, from, Role::Target);
  return schedule;
}

Traffic sentTraffic(const Schedule& schedule, int rank) {
  return traffic(schedule.sends, rank);
}

Traffic receivedTraffic(const Schedule& schedule, int rank) {
  return traffic(schedule.receives, rank);
}

} // namespace tenon
