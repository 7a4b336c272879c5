// SPDX-License-Identifier: BSD-2-Clause
// Finds the peers of one rank (the ranks that it sends to or receives from), and the boxes of
// elements that it exchanges with each:
//   1. for each dimension, the parts of the other layout that overlap this rank's part
//   2. each combination of such parts, one per dimension, is a peer; the product of their overlaps
//      is the list of boxes of its message
//   3. the elements of the local array that no peer covers are the gaps
// If boundary modes differ by channel, the search is made for each run of channels with equal
// modes, and at poles for each term of the extension (channel_runs.hpp): only the boxes of one run
// and one term are a product over dimensions.
//
// The same search is used for the source and for the target, and lists the boxes of a message in
// the same order on both sides. Sender and receiver therefore agree on the content of a message
// without communication.
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

// True if the ranks along an axis have, in this role, copies or contributions of which each peer
// uses only one: B at the source, P at the target.
bool isRepeatedAlong(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isBroadcast()
                              : layout.property(axis).isPartial();
}

// Between two grids, only coordinate 0 of an axis with repeated data takes part.
bool takesPart(const Layout& layout, int position, Role role) {
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (isRepeatedAlong(layout, axis, role) && layout.grid().coordinate(position, axis) != 0)
      return false;
  return true;
}

// The coordinate of the peers on one axis if both layouts are on one grid; nothing if the
// position's coordinate excludes peers. If the data of either side are repeated, peers have the
// same coordinate; if both are, only coordinate 0 takes part, since the others would send the same
// again.
std::optional<int> ownCoordinate(const Layout& layout, int position, const Layout& peerLayout,
                                 int axis, Role role) {
  const int ownCoord = layout.grid().coordinate(position, axis);
  const bool isRepeatedHere = isRepeatedAlong(layout, axis, role);
  const bool isRepeatedAtPeer = isRepeatedAlong(peerLayout, axis, otherRole(role));
  if (isRepeatedHere && isRepeatedAtPeer && ownCoord != 0)
    return std::nullopt;
  return isRepeatedHere || isRepeatedAtPeer ? ownCoord : kAnyCoordinate;
}

} // namespace

std::optional<std::vector<int>> peerCoordinates(const Layout& layout, int position,
                                                const Layout& peerLayout, Role role) {
  const Grid& grid = peerLayout.grid();
  const bool sameGrid = &layout.grid() == &grid || layout.grid() == grid;
  if (!layout.isHolder(position) || (!sameGrid && !takesPart(layout, position, role)))
    return std::nullopt;
  std::vector<int> coordinates(grid.axes(), kAnyCoordinate);
  for (int axis = 0; axis < grid.axes(); ++axis) {
    int& coordinate = coordinates[axis];
    if (sameGrid) {
      const auto coordinateHere = ownCoordinate(layout, position, peerLayout, axis, role);
      if (!coordinateHere)
        return std::nullopt;
      coordinate = *coordinateHere;
    } else if (isRepeatedAlong(peerLayout, axis, otherRole(role))) {
      coordinate = 0;
    }
    // Along an R axis only coordinate 0 has data.
    if (peerLayout.property(axis).isRoot()) {
      if (coordinate > 0)
        return std::nullopt;
      coordinate = 0;
    }
  }
  return coordinates;
}

bool liesOn(const Layout& layout, int dim, int part, const std::vector<int>& coordinates) {
  const std::vector<int>& axes = layout.splitAxes(dim);
  // The coordinates are the digits of the part; the minor axis, which is last, is the lowest digit.
  for (std::size_t i = axes.size(); i-- > 0;) {
    const int extent = layout.grid().extent(axes[i]);
    const int fixed = coordinates[axes[i]];
    if (fixed != kAnyCoordinate && fixed != part % extent)
      return false;
    part /= extent;
  }
  return true;
}

namespace {

// True if the ranks along an axis have partial sums. In the transpose (role Target) this is the
// case for B, whose dual is P.
bool holdsPartialSums(const Layout& layout, int axis, Role role) {
  return role == Role::Source ? layout.property(axis).isPartial()
                              : layout.property(axis).isBroadcast();
}

// All boxes of elements that two positions share: the product of the overlaps in all dimensions.
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
// that it receives from. The work is proportional to the number of peers and of parts along each
// dimension, not to the number of ranks.
//
// With Among::Itself (makeRefill()) the rank is its only peer: it fills halo elements beyond the
// domain from its own elements (refill.hpp).
class PeerSearch {
public:
  enum class Among { All, Itself };
  // `channelRun` restricts the search to a run of channels, if not NULL.
  PeerSearch(const Layout& from, const Layout& to, int rank, Role role, const Interval* channelRun,
             Among among)
      : from_(from), layout_(role == Role::Source ? from : to),
        peerLayout_(role == Role::Source ? to : from), role_(role),
        position_(layout_.grid().position(rank)),
        ownPeerPosition_(peerLayout_.grid().position(rank)), channelRun_(channelRun),
        among_(among) {}

  void search() {
    candidates_.resize(peerLayout_.ndim());
    auto coordinates = among_ == Among::All
                           ? peerCoordinates(layout_, position_, peerLayout_, role_)
                           : ownCoordinates();
    if (!coordinates)
      return;
    coordinates_ = std::move(*coordinates);
    for (int d = 0; d < peerLayout_.ndim(); ++d)
      findCandidates(d);
    for (const auto& candidates : candidates_)
      if (candidates.empty())
        return;
    chosen_.resize(peerLayout_.ndim());
    chooseParts(0);
  }

  std::vector<Transfer> takeTransfers() { return std::move(transfers_); }

  // The elements of the rank's array that no transfer covers, by dimension. Each combination of
  // parts of different dimensions is a peer, so the elements that transfers cover (touched) are a
  // product over dimensions. The elements whose values the user does not supply (notSupplied) are a
  // product over dimensions too. Zeros are the notSupplied elements that are not touched.
  Gaps gaps() const {
    std::vector<Coverage> notSupplied;
    return {gapsOf(touched(notSupplied)), gapsOf(notSupplied)};
  }
  // If a conversion has several terms, an element is a gap if no term covers it: removes the
  // elements that this term covers from the gaps that the terms before have left. The user's
  // elements are the same in all terms, which differ only in what they copy.
  void closeGaps(Gaps& gaps) const {
    std::vector<Coverage> notSupplied;
    gaps.zeros = without(gaps.zeros, touched(notSupplied));
  }

private:
  struct Candidate {
    std::vector<int> coordinates;
    std::vector<Overlap> overlaps;
  };

  // By dimension, the local elements that transfers cover; appends those that the user does not
  // supply to `notSupplied`.
  std::vector<Coverage> touched(std::vector<Coverage>& notSupplied) const {
    const Box box = layout_.box(position_);
    std::vector<Coverage> touched;
    for (int d = 0; d < layout_.ndim(); ++d) {
      notSupplied.push_back(localRangeNotSupplied(d, box[d]));
      std::vector<Interval> covered;
      for (const Candidate& candidate : candidates_[d])
        for (const Overlap& o : candidate.overlaps)
          covered.push_back(localRange(o));
      // Gaps are searched for outside the user's elements only, since those must not change.
      const auto& range = notSupplied.back().covered;
      touched.push_back(coverage(std::move(covered), range.empty() ? Interval{} : range.front()));
    }
    return touched;
  }

  // The coordinates of the rank itself, its only peer in a refill, whose layouts have one grid.
  std::optional<std::vector<int>> ownCoordinates() const {
    if (!layout_.isHolder(position_))
      return std::nullopt;
    std::vector<int> coordinates;
    for (int axis = 0; axis < peerLayout_.grid().axes(); ++axis)
      coordinates.push_back(peerLayout_.grid().coordinate(ownPeerPosition_, axis));
    return coordinates;
  }

  std::vector<Segment> segments(const Layout& layout, int dim, int part, Role role) const {
    if (among_ == Among::All)
      return partSegments(layout, dim, part, role);
    return role == Role::Source ? heldSegments(layout, dim, part)
                                : refilledSegments(from_, layout, dim, part);
  }

  // The local elements along one dimension except those that the user supplies, beyond a side with
  // mode Values.
  Coverage localRangeNotSupplied(int dim, Interval box) const {
    const auto& halo = layout_.halo(dim);
    if (halo && isExtended(*halo, role_))
      return besideUsers(*halo, layout_.shape()[dim], box);
    const Interval range = channelRun_ && dim == kChannelDim ? localChannels(*channelRun_, box)
                                                             : Interval{0, box.size()};
    return coverage({range}, range);
  }

  Interval localRange(const Overlap& o) const {
    const bool source = role_ == Role::Source;
    const Index begin = source ? o.source : o.target;
    const int step = source ? o.sourceStep : o.targetStep;
    return step > 0 ? Interval{begin, begin + o.length} : Interval{begin - o.length + 1, begin + 1};
  }

  void findCandidates(int dim) {
    auto own = segments(layout_, dim, layout_.part(position_, dim), role_);
    if (channelRun_ && dim == kChannelDim)
      own = restricted(*channelRun_, own);
    for (int part : among_ == Among::All ? partsNear(own, peerLayout_, dim, otherRole(role_))
                                         : std::vector{peerLayout_.part(ownPeerPosition_, dim)}) {
      if (!liesOn(peerLayout_, dim, part, coordinates_))
        continue;
      const auto peerSegments = segments(peerLayout_, dim, part, otherRole(role_));
      auto shared =
          role_ == Role::Source ? overlaps(own, peerSegments) : overlaps(peerSegments, own);
      if (!shared.empty())
        candidates_[dim].push_back(
            {.coordinates = peerLayout_.partCoordinates(dim, part), .overlaps = std::move(shared)});
    }
  }

  // The channels of a part (one run of elements or none) that are in a run of channels.
  static std::vector<Segment> restricted(const Interval& channels,
                                         const std::vector<Segment>& own) {
    std::vector<Segment> result;
    for (const Segment& s : own)
      if (const Interval common = intersect(channels, globalRange(s)); !common.empty())
        result.push_back({.local = s.local + common.begin - s.global,
                          .global = common.begin,
                          .length = common.size(),
                          .step = 1});
    return result;
  }

  // Chooses one candidate in each dimension from `dim` on, in all combinations. A candidate is a
  // part, which determines the coordinates on the axes that split its dimension.
  void chooseParts(int dim) {
    if (dim == peerLayout_.ndim()) {
      const auto blocks = productBlocks(chosen_);
      chooseCopies(0, Transfer{.peer = -1, .elements = elementsOf(blocks), .blocks = blocks});
      return;
    }
    const auto& axes = peerLayout_.splitAxes(dim);
    for (const Candidate& candidate : candidates_[dim]) {
      const std::vector<int> saved = coordinates_;
      for (std::size_t i = 0; i < axes.size(); ++i)
        coordinates_[axes[i]] = candidate.coordinates[i];
      chosen_[dim] = &candidate.overlaps;
      chooseParts(dim + 1);
      coordinates_ = saved;
    }
  }

  // On axes whose coordinate neither the properties nor the chosen parts determine, every
  // coordinate is a peer, which gets the same transfer.
  void chooseCopies(int axis, const Transfer& transfer) {
    const Grid& grid = peerLayout_.grid();
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
  const Layout& layout_;
  const Layout& peerLayout_;
  const Role role_;
  const int position_, ownPeerPosition_; // Position of the rank in either grid.
  const Interval* const channelRun_;
  const Among among_;
  std::vector<int> coordinates_;
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<const std::vector<Overlap>*> chosen_;
  std::vector<Transfer> transfers_;
};

// Merges two blocks that are consecutive in the channels and otherwise equal, also in the direction
// of both. Returns false if they are not, or if a block runs backwards in the channels. Runs of
// channels with different modes are equal wherever a rank has no element beyond the domain, so most
// messages become as few blocks as without modes by channel.
bool join(ElementBlock& block, const ElementBlock& next) {
  constexpr int c = kChannelDim;
  const auto follows = [&](const std::vector<Index>& first, const std::vector<Index>& second) {
    for (int d = 0; d < static_cast<int>(first.size()); ++d)
      if (second[d] != first[d] + (d == c ? block.extent[c] : 0))
        return false;
    return true;
  };
  for (std::size_t d = 0; d < block.extent.size(); ++d)
    if (d != c && block.extent[d] != next.extent[d])
      return false;
  if (block.sourceStep[c] != 1 || block.targetStep[c] != 1)
    return false;
  if (block.sign != next.sign || block.sourceStep != next.sourceStep ||
      block.targetStep != next.targetStep || !follows(block.sourceBegin, next.sourceBegin) ||
      !follows(block.targetBegin, next.targetBegin))
    return false;
  block.extent[c] += next.extent[c];
  return true;
}

// Appends the transfers of another run of channels: a peer still gets one message.
void append(std::vector<Transfer>& transfers, std::vector<Transfer> added) {
  if (transfers.empty()) {
    transfers = std::move(added);
    return;
  }
  std::unordered_map<int, std::size_t> indexOfPeer;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    indexOfPeer.emplace(transfers[i].peer, i);
  for (Transfer& transfer : added) {
    const auto entry = indexOfPeer.find(transfer.peer);
    if (entry == indexOfPeer.end()) {
      transfers.push_back(std::move(transfer));
      continue;
    }
    Transfer& message = transfers[entry->second];
    message.elements += transfer.elements;
    for (ElementBlock& block : transfer.blocks)
      if (std::ranges::none_of(message.blocks, [&](ElementBlock& b) { return join(b, block); }))
        message.blocks.push_back(std::move(block));
  }
}

void append(std::vector<ElementBox>& boxes, const std::vector<ElementBox>& added) {
  boxes.insert(boxes.end(), added.begin(), added.end());
}

// True if an element of layout `to` can get several contributions from layout `from` in its role.
// Contributions that remain contributions, from P to P on one grid, are not summed.
bool addsUp(const Layout& from, const Layout& to, Role role) {
  const bool sameGrid = from.grid() == to.grid();
  for (int axis = 0; axis < from.grid().axes(); ++axis)
    if (holdsPartialSums(from, axis, role) && !(sameGrid && holdsPartialSums(to, axis, role)))
      return true;
  for (int d = 0; d < from.ndim(); ++d) {
    const auto& halo = from.halo(d);
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
  const auto hasLinked = [](const Layout& layout, bool isPartial) {
    for (int d = 0; d < layout.ndim(); ++d)
      if (layout.halo(d) && layout.halo(d)->isLinked() && layout.halo(d)->isPartial == isPartial)
        return true;
    return false;
  };
  if (hasLinked(from, /*isPartial=*/true) || hasLinked(to, /*isPartial=*/false))
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
      std::optional<Gaps> ofTerms;
      const auto searchTerm = [&](const Layout& from, const Layout& to) {
        PeerSearch peers(from, to, rank, role, run, among);
        peers.search();
        if (ofTerms)
          peers.closeGaps(*ofTerms);
        else
          ofTerms = peers.gaps();
        append(transfers, peers.takeTransfers());
      };
      // A rank that refills a halo has the rows beyond a pole already.
      if (among == PeerSearch::Among::Itself)
        searchTerm(source, target);
      else
        forEachPoleTerm(source, target, searchTerm);
      append(gaps.zeros, ofTerms->zeros);
      append(gaps.userValues, ofTerms->userValues);
    };
    search(Role::Source, schedule.sends, schedule.sourceGaps);
    search(Role::Target, schedule.receives, schedule.targetGaps);
  });
  // Transfers are found in the order of the parts of dimensions, and summed in the order of
  // positions.
  const auto sort = [](std::vector<Transfer>& transfers, const Grid& peerGrid) {
    std::ranges::sort(transfers, {}, [&](const Transfer& t) { return peerGrid.position(t.peer); });
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
