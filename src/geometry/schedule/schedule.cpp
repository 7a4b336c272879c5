// SPDX-License-Identifier: BSD-2-Clause
// Finds the peers of one rank, and the boxes that it exchanges with each. One search serves both
// roles, and lists the boxes of a message in the same order from either side: so sender and
// receiver agree on what a message contains without talking.
#include "geometry/schedule/schedule.hpp"

#include "geometry/layout/channel_runs.hpp"
#include "geometry/layout/coverage.hpp"
#include "geometry/schedule/refill.hpp"
#include "geometry/schedule/segments.hpp"
#include "geometry/schedule/user_elements.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

namespace tenon {

namespace {

// Whether the ranks along an axis hold, in this role, copies or contributions of which every peer
// uses only one: B at the source, P at the target.
bool repeats(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isBroadcast()
                              : layout.property(axis).isPartial();
}

// Between two grids coordinate 0 of an axis stands for all ranks that repeat along it.
bool takesPart(const Layout& mine, int position, Role role) {
  for (int axis = 0; axis < mine.grid().axes(); ++axis)
    if (repeats(mine, axis, role) && mine.grid().coordinate(position, axis) != 0)
      return false;
  return true;
}

// The coordinate of the peers on one axis, where both sides are on one grid; none if the position's
// own coordinate excludes it. If either side repeats, a rank exchanges data with its own coordinate
// only; if both do, coordinate 0 alone acts, as any other would send the same once more.
std::optional<int> ownCoordinate(const Layout& mine, int position, const Layout& theirs, int axis,
                                 Role role) {
  const int own = mine.grid().coordinate(position, axis);
  const bool weRepeat = repeats(mine, axis, role);
  const bool theyRepeat = repeats(theirs, axis, otherRole(role));
  if (weRepeat && theyRepeat && own != 0)
    return std::nullopt;
  return weRepeat || theyRepeat ? own : kAnyCoordinate;
}

} // namespace

std::optional<std::vector<int>> peerCoordinates(const Layout& mine, int position,
                                                const Layout& theirs, Role role) {
  const Grid& grid = theirs.grid();
  const bool sameGrid = &mine.grid() == &grid || mine.grid() == grid;
  if (!mine.isHolder(position) || (!sameGrid && !takesPart(mine, position, role)))
    return std::nullopt;
  std::vector<int> coordinates(grid.axes(), kAnyCoordinate);
  for (int axis = 0; axis < grid.axes(); ++axis) {
    int& coordinate = coordinates[axis];
    if (sameGrid) {
      const auto own = ownCoordinate(mine, position, theirs, axis, role);
      if (!own)
        return std::nullopt;
      coordinate = *own;
    } else if (repeats(theirs, axis, otherRole(role))) {
      coordinate = 0;
    }
    if (theirs.property(axis).isRoot()) {
      if (coordinate > 0)
        return std::nullopt;
      coordinate = 0;
    }
  }
  return coordinates;
}

bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates) {
  const std::vector<int>& axes = layout.splitAxes(dim);
  for (std::size_t i = axes.size(); i-- > 0;) {
    const int extent = layout.grid().extent(axes[i]);
    const int wanted = coordinates[axes[i]];
    if (wanted != kAnyCoordinate && wanted != part % extent)
      return false;
    part /= extent;
  }
  return true;
}

namespace {

// P gives contributions; so does B in the transpose, where it stands for its dual.
bool holdsPartialSums(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isPartial()
                              : layout.property(axis).isBroadcast();
}

// All boxes of elements that two positions share: the product of the overlaps of every dimension.
std::vector<ElementBlock> productBlocks(const std::vector<const std::vector<Overlap>*>& perDim) {
  std::vector<ElementBlock> blocks(1);
  for (const auto* choices : perDim) {
    std::vector<ElementBlock> longer;
    for (const ElementBlock& block : blocks)
      for (const Overlap& o : *choices) {
        ElementBlock next = block;
        next.extent.push_back(o.length);
        next.sourceBegin.push_back(o.source);
        next.targetBegin.push_back(o.target);
        next.sourceStep.push_back(o.sourceStep);
        next.targetStep.push_back(o.targetStep);
        next.sign *= o.sign;
        longer.push_back(std::move(next));
      }
    blocks = std::move(longer);
  }
  return blocks;
}

Index elementsOf(const std::vector<ElementBlock>& blocks) {
  Index sum = 0;
  for (const ElementBlock& block : blocks)
    sum += elements(block.extent);
  return sum;
}

// Finds the peers of one rank: as a source the targets that it sends to, as a target the sources
// that it receives from. The work grows with the peers and with the parts of each single dimension,
// not with the number of ranks.
//
// Where nothing is sent the rank is its own only peer, and holds elements that it does not own.
class PeerSearch {
public:
  enum class Among { All, Itself };
  // Within a run of channels, if there is one.
  PeerSearch(const Layout& from, const Layout& to, int rank, Role role, const Interval* run,
             Among among)
      : from_(from), mine_(role == Role::Source ? from : to),
        theirs_(role == Role::Source ? to : from), role_(role),
        position_(mine_.grid().position(rank)), itself_(theirs_.grid().position(rank)), run_(run),
        among_(among) {}

  void run() {
    candidates_.resize(theirs_.rank());
    auto coordinates =
        among_ == Among::All ? peerCoordinates(mine_, position_, theirs_, role_) : ownCoordinates();
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
  }

  std::vector<Transfer> takeTransfers() { return std::move(transfers_); }

  // The elements of the rank's own array that no transfer touches. Parts of different dimensions
  // combine freely, so what transfers touch is a product over dimensions; so is what is not the
  // user's.
  Gaps gaps() const {
    const Box box = mine_.box(position_);
    std::vector<Coverage> touched, ours;
    for (int d = 0; d < mine_.rank(); ++d) {
      ours.push_back(notUsers(d, box[d]));
      std::vector<Interval> runs;
      for (const Candidate& candidate : candidates_[d])
        for (const Overlap& o : candidate.overlaps)
          runs.push_back(ownRun(o));
      // Gaps are looked for only in the interval that is not the user's: the user's elements stay.
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

  std::optional<std::vector<int>> ownCoordinates() const {
    if (!mine_.isHolder(position_))
      return std::nullopt;
    std::vector<int> coordinates;
    for (int axis = 0; axis < theirs_.grid().axes(); ++axis)
      coordinates.push_back(theirs_.grid().coordinate(itself_, axis));
    return coordinates;
  }

  std::vector<Segment> segments(const Layout& layout, int dim, int part, Role role) const {
    if (among_ == Among::All)
      return partSegments(layout, dim, part, role);
    return role == Role::Source ? heldSegments(layout, dim, part)
                                : refilledSegments(from_, layout, dim, part);
  }

  // The elements along one dimension but those beyond a side whose values the user supplies.
  Coverage notUsers(int dim, Interval box) const {
    const auto& halo = mine_.halo(dim);
    if (halo && isExtended(*halo, role_))
      return besideUsers(*halo, mine_.shape()[dim], box);
    const Interval all =
        run_ && dim == kChannelDim ? localChannels(*run_, box) : Interval{0, box.size()};
    return coverage({all}, all);
  }

  Interval ownRun(const Overlap& o) const {
    const bool source = role_ == Role::Source;
    const Index at = source ? o.source : o.target;
    const int step = source ? o.sourceStep : o.targetStep;
    return step > 0 ? Interval{at, at + o.length} : Interval{at - o.length + 1, at + 1};
  }

  void findCandidates(int dim) {
    auto own = segments(mine_, dim, mine_.part(position_, dim), role_);
    if (run_ && dim == kChannelDim)
      own = within(*run_, own);
    for (int part : among_ == Among::All ? partsNear(own, theirs_, dim, otherRole(role_))
                                         : std::vector{theirs_.part(itself_, dim)}) {
      if (!liesOn(theirs_, dim, part, coordinates_))
        continue;
      const auto other = segments(theirs_, dim, part, otherRole(role_));
      auto shared = role_ == Role::Source ? overlaps(own, other) : overlaps(other, own);
      if (!shared.empty())
        candidates_[dim].push_back({theirs_.partCoordinates(dim, part), std::move(shared)});
    }
  }

  // The part of the channels, which are one run of elements or none, that is in a run of channels.
  static std::vector<Segment> within(const Interval& channels, const std::vector<Segment>& own) {
    std::vector<Segment> result;
    for (const Segment& s : own)
      if (const Interval common = intersect(channels, globalRange(s)); !common.empty())
        result.push_back({s.local + common.begin - s.global, common.begin, common.size(), 1});
    return result;
  }

  void chooseParts(int dim) {
    if (dim == theirs_.rank()) {
      const auto blocks = productBlocks(chosen_);
      chooseCopies(0, Transfer{-1, elementsOf(blocks), blocks});
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
    const Grid& grid = theirs_.grid();
    if (axis == grid.axes()) {
      transfers_.push_back(transfer);
      transfers_.back().peer = grid.rank(grid.positionAt(coordinates_));
      return;
    }
    if (coordinates_[axis] != kAnyCoordinate)
      return chooseCopies(axis + 1, transfer);
    for (int c = 0; c < grid.extent(axis); ++c) {
      coordinates_[axis] = c;
      chooseCopies(axis + 1, transfer);
    }
    coordinates_[axis] = kAnyCoordinate;
  }

  const Layout& from_;
  const Layout& mine_;
  const Layout& theirs_;
  const Role role_;
  const int position_, itself_; // in either grid
  const Interval* const run_;
  const Among among_;
  std::vector<int> coordinates_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<const std::vector<Overlap>*> chosen_;
  std::vector<Transfer> transfers_;
};

// Makes one block of two that follow each other in the channels, if they are alike otherwise.
bool join(ElementBlock& block, const ElementBlock& next) {
  constexpr int c = kChannelDim;
  const auto follows = [&](const std::vector<Index>& one, const std::vector<Index>& other) {
    for (int d = 0; d < static_cast<int>(one.size()); ++d)
      if (other[d] != one[d] + (d == c ? block.extent[c] : 0))
        return false;
    return true;
  };
  for (std::size_t d = 0; d < block.extent.size(); ++d)
    if (d != c && block.extent[d] != next.extent[d])
      return false;
  if (block.sign != next.sign || block.sourceStep != next.sourceStep ||
      block.targetStep != next.targetStep || !follows(block.sourceBegin, next.sourceBegin) ||
      !follows(block.targetBegin, next.targetBegin))
    return false;
  block.extent[c] += next.extent[c];
  return true;
}

// Adds the transfers of a further run of channels: a peer still gets one message.
void append(std::vector<Transfer>& all, std::vector<Transfer> more) {
  if (all.empty()) {
    all = std::move(more);
    return;
  }
  std::unordered_map<int, std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i)
    places.emplace(all[i].peer, i);
  for (Transfer& transfer : more) {
    const auto known = places.find(transfer.peer);
    if (known == places.end()) {
      all.push_back(std::move(transfer));
      continue;
    }
    Transfer& message = all[known->second];
    message.elements += transfer.elements;
    for (ElementBlock& block : transfer.blocks)
      if (std::ranges::none_of(message.blocks, [&](ElementBlock& b) { return join(b, block); }))
        message.blocks.push_back(std::move(block));
  }
}

void append(std::vector<ElementBox>& all, const std::vector<ElementBox>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Whether an element of the side that takes can get several contributions from the side that gives
// in its role. Contributions that stay contributions, from P to P on one grid, are not added up on
// the way.
bool addsUp(const Layout& giving, const Layout& taking, Role role) {
  const bool sameGrid = giving.grid() == taking.grid();
  for (int axis = 0; axis < giving.grid().axes(); ++axis)
    if (holdsPartialSums(giving, axis, role) && !(sameGrid && holdsPartialSums(taking, axis, role)))
      return true;
  for (int d = 0; d < giving.rank(); ++d) {
    const auto& halo = giving.halo(d);
    if (halo && isExtended(*halo, role))
      return true;
  }
  return false;
}

Traffic traffic(const std::vector<Transfer>& transfers, int rank) {
  Traffic sum;
  for (const Transfer& t : transfers)
    if (t.peer != rank) {
      ++sum.messages;
      sum.elements += t.elements;
    }
  return sum;
}

} // namespace

void checkSameShape(const Layout& from, const Layout& to) {
  if (from.shape() != to.shape())
    throw Error(
        TENON_ERR_SHAPE,
        fmt::format(
            "a conversion keeps the global shape, but the source is [{}] and the target [{}]",
            fmt::join(from.shape(), ","), fmt::join(to.shape(), ",")));
}

void checkLinkedHalos(const Layout& from, const Layout& to) {
  const auto meets = [](const Layout& layout, bool isPartial) {
    for (int d = 0; d < layout.rank(); ++d)
      if (layout.halo(d) && layout.halo(d)->isLinked() && layout.halo(d)->isPartial == isPartial)
        return true;
    return false;
  };
  if (meets(from, true) || meets(to, false))
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format(
            "a conversion does not know whose copies linked halos hold: from {} to {}; apply "
            "the index map that they were made with, or its adjoint",
            from.describe(), to.describe()));
}

namespace {

Schedule scheduleAmong(PeerSearch::Among among, const Layout& from, const Layout& to, int rank) {
  Schedule schedule;
  forEachChannelRun(from, to, [&](const Layout& source, const Layout& target, const Interval* run) {
    const auto search = [&](Role role, std::vector<Transfer>& transfers, Gaps& gaps) {
      PeerSearch peers(source, target, rank, role, run, among);
      peers.run();
      append(gaps.zeros, peers.gaps().zeros);
      append(gaps.userValues, peers.gaps().userValues);
      append(transfers, peers.takeTransfers());
    };
    search(Role::Source, schedule.sends, schedule.sourceGaps);
    search(Role::Target, schedule.receives, schedule.targetGaps);
  });
  // The parts of dimensions are found in their own order; sums are made in that of positions.
  const auto sort = [](std::vector<Transfer>& transfers, const Grid& theirs) {
    std::ranges::sort(transfers, {}, [&](const Transfer& t) { return theirs.position(t.peer); });
  };
  sort(schedule.sends, to.grid());
  sort(schedule.receives, from.grid());
  schedule.sourceExtent = extents(from.boxOfRank(rank));
  schedule.targetExtent = extents(to.boxOfRank(rank));
  schedule.sumsOnReceipt = addsUp(from, to, Role::Source);
  schedule.sumsOnTranspose = addsUp(to, from, Role::Target);
  return schedule;
}

} // namespace

Schedule makeRefill(const Layout& from, const Layout& to, int rank) {
  return scheduleAmong(PeerSearch::Among::Itself, from, to, rank);
}

Schedule makeSchedule(const Layout& from, const Layout& to, int rank) {
  checkSameShape(from, to);
  checkLinkedHalos(from, to);
  return scheduleAmong(PeerSearch::Among::All, from, to, rank);
}

Traffic sentTraffic(const Schedule& schedule, int rank) {
  return traffic(schedule.sends, rank);
}

Traffic receivedTraffic(const Schedule& schedule, int rank) {
  return traffic(schedule.receives, rank);
}

} // namespace tenon
