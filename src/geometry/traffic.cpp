// SPDX-License-Identifier: BSD-2-Clause
#include "geometry/traffic.hpp"

#include "geometry/segments.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace tenon {

namespace {

// The parts of a dimension without a margin that share cells with an interval, and those cells. Such
// parts are one after the other, so that those on consecutive coordinates are counted at once.
class TileCount {
public:
  TileCount(const Layout& layout, int dim, Interval run, const std::vector<int>& coordinates)
      : layout_(layout), dim_(dim), run_(run), coordinates_(coordinates) {
    const std::vector<int>& axes = layout.splitAxes(dim);
    const auto isFixed = [&](int axis) { return coordinates[axis] != kAnyCoordinate; };
    chosenAxes_ = std::find_if(axes.rbegin(), axes.rend(), isFixed).base() - axes.begin();
  }

  Traffic count() {
    if (run_.empty())
      return {};
    const std::vector<Index>& cuts = layout_.cuts(dim_);
    first_ = static_cast<int>(std::ranges::upper_bound(cuts, run_.begin) - cuts.begin()) - 1;
    last_ = static_cast<int>(std::ranges::lower_bound(cuts, run_.end) - cuts.begin());
    add(0, 0, layout_.parts(dim_));
    return sum_;
  }

private:
  // The parts from first to last, which differ in the coordinates from the splitting axis i on.
  void add(std::ptrdiff_t i, int first, int last) {
    if (last <= first_ || last_ <= first)
      return;
    if (i == chosenAxes_)
      return addAll(std::max(first, first_), std::min(last, last_));
    const int axis = layout_.splitAxes(dim_)[i], extent = layout_.mesh().extent(axis);
    const int each = (last - first) / extent, fixed = coordinates_[axis];
    if (fixed != kAnyCoordinate)
      return add(i + 1, first + fixed * each, first + (fixed + 1) * each);
    for (int c = 0; c < extent; ++c)
      add(i + 1, first + c * each, first + (c + 1) * each);
  }

  void addAll(int first, int last) {
    const std::vector<Index>& cuts = layout_.cuts(dim_);
    sum_.messages += layout_.ownersAmong(dim_, first, last);
    sum_.cells += intersect(run_, {cuts[first], cuts[last]}).size();
  }

  const Layout& layout_;
  const int dim_;
  const Interval run_;
  const std::vector<int>& coordinates_;
  std::ptrdiff_t chosenAxes_ = 0; // up to the last whose coordinate is fixed
  int first_ = 0, last_ = 0;      // the parts that share cells with the run
  Traffic sum_;
};

// What one rank shares with others.
class FlowCount {
public:
  FlowCount(const Layout& from, const Layout& to, int rank, Role role)
      : mine_(role == Role::Source ? from : to), theirs_(role == Role::Source ? to : from),
        role_(role), rank_(rank), position_(mine_.mesh().position(rank)),
        coordinates_(peerCoordinates(mine_, position_, theirs_, role)) {
    if (!coordinates_)
      return;
    if (mine_.hasMargins() || theirs_.hasMargins())
      own_.resize(mine_.rank());
    for (int d = 0; d < mine_.rank(); ++d) {
      const int part = mine_.part(position_, d);
      if (hasMargin(d))
        own_[d] = partSegments(mine_, d, part, role);
      else
        run_[d] = mine_.owned(d, part);
    }
  }

  Flow flow() const {
    Flow flow;
    if (!coordinates_)
      return flow;
    flow.others = all();
    flow.keptCells = cellsWith(theirs_.mesh().position(rank_));
    flow.others.messages -= flow.keptCells > 0;
    flow.others.cells -= flow.keptCells;
    return flow;
  }

  LevelFlow byLevel(const std::vector<Index>& unitRanks) const {
    const Flow sum = flow();
    LevelFlow flow{std::vector<Traffic>(unitRanks.size() + 1), sum.keptCells};
    Traffic& outermost = flow.others.front();
    outermost = sum.others;
    if (outermost.messages > 0 && !unitRanks.empty())
      for (int other : ranksOfUnit(unitRanks.front()))
        if (const Index cells = other == rank_ ? 0 : cellsWith(theirs_.mesh().position(other))) {
          take(outermost, cells);
          give(flow.others[levelBetween(other, unitRanks)], cells);
        }
    return flow;
  }

  // What a dimension contributes to the products: messages, cells, and cells kept.
  std::array<Index, 3> along(int dim) const {
    if (!coordinates_)
      return {-1, -1, -1};
    const Traffic parts = partsAlong(dim);
    return {parts.messages, parts.cells, sharedAt(dim, theirs_.part(position_, dim))};
  }

private:
  static void take(Traffic& traffic, Index cells) {
    --traffic.messages;
    traffic.cells -= cells;
  }
  static void give(Traffic& traffic, Index cells) {
    ++traffic.messages;
    traffic.cells += cells;
  }

  bool hasMargin(int dim) const { return mine_.margin(dim) || theirs_.margin(dim); }

  Traffic all() const {
    Traffic product{1, 1};
    for (int d = 0; d < mine_.rank(); ++d) {
      const Traffic parts = partsAlong(d);
      if (parts.messages == 0)
        return {};
      product.messages *= parts.messages;
      product.cells = times(product.cells, parts.cells);
    }
    for (int axis = 0; axis < theirs_.mesh().axes(); ++axis)
      if ((*coordinates_)[axis] == kAnyCoordinate && !theirs_.property(axis).isShard()) {
        product.messages *= theirs_.mesh().extent(axis);
        product.cells = times(product.cells, theirs_.mesh().extent(axis));
      }
    return product;
  }

  static Index times(Index cells, Index factor) {
    return checkedProduct(cells, factor, "cells that a rank sends");
  }

  // The parts of one dimension with shared cells, and those cells.
  Traffic partsAlong(int dim) const {
    if (!hasMargin(dim))
      return TileCount(theirs_, dim, run_[dim], *coordinates_).count();
    if (!theirs_.margin(dim) && own_[dim].size() == 1)
      return TileCount(theirs_, dim, globalRange(own_[dim].front()), *coordinates_).count();
    Traffic sum;
    for (int part : partsNear(own_[dim], theirs_, dim, otherRole(role_)))
      if (liesOn(theirs_, dim, part, *coordinates_))
        if (const Index cells = sharedAlong(dim, part))
          give(sum, cells);
    return sum;
  }

  Index sharedAlong(int dim, int part) const {
    return sharedCells(own_[dim], partSegments(theirs_, dim, part, otherRole(role_)));
  }

  // Those shared with one position of the other side.
  Index cellsWith(int other) const {
    if (!theirs_.isHolder(other))
      return 0;
    for (int axis = 0; axis < theirs_.mesh().axes(); ++axis) {
      const int only = (*coordinates_)[axis];
      if (only != kAnyCoordinate && only != theirs_.mesh().coordinate(other, axis))
        return 0;
    }
    Index cells = 1;
    for (int d = 0; d < mine_.rank() && cells > 0; ++d)
      cells *= sharedAt(d, theirs_.part(other, d));
    return cells;
  }

  Index sharedAt(int dim, int part) const {
    return hasMargin(dim) ? sharedAlong(dim, part)
                          : intersect(run_[dim], theirs_.owned(dim, part)).size();
  }

  // The ranks of the other side that are in the own unit of a level.
  std::vector<int> ranksOfUnit(Index size) const {
    const Mesh& mesh = theirs_.mesh();
    std::vector<int> ranks;
    if (size > mesh.size()) {
      std::ranges::copy_if(mesh.ranks(), std::back_inserter(ranks),
                           [&](int other) { return other / size == rank_ / size; });
      return ranks;
    }
    const Index first = rank_ / size * size;
    for (Index other = first; other < first + size; ++other)
      ranks.push_back(static_cast<int>(other));
    return ranks;
  }

  std::size_t levelBetween(int other, const std::vector<Index>& unitRanks) const {
    const auto parts = [&](Index size) { return other / size != rank_ / size; };
    return std::ranges::find_if(unitRanks, parts) - unitRanks.begin();
  }

  const Layout& mine_;
  const Layout& theirs_;
  const Role role_;
  const int rank_, position_;
  const std::optional<std::vector<int>> coordinates_;
  // Per dimension, with a margin on either side and without.
  std::vector<std::vector<Segment>> own_;
  std::array<Interval, kMaxRank> run_;
};

// Which positions do the same, as far as some axes tell: a number for each combination of their coordinates.
class PositionClasses {
public:
  PositionClasses(const Mesh& mesh, std::vector<int> axes) : mesh_(mesh), axes_(std::move(axes)) {}

  int combinations() const { return mesh_.extentOf(axes_); }
  int classOf(int position) const { return classes_[mesh_.coordinateOn(position, axes_)]; }

  // `key` of the positions that are 0 on all other axes.
  template <class Key>
  void make(Key&& key) {
    std::map<decltype(key(0)), int> known;
    for (int index = 0; index < combinations(); ++index) {
      std::vector<int> coordinates(mesh_.axes(), 0);
      for (int rest = index, i = static_cast<int>(axes_.size()) - 1; i >= 0; --i) {
        coordinates[axes_[i]] = rest % mesh_.extent(axes_[i]);
        rest /= mesh_.extent(axes_[i]);
      }
      const auto found = key(mesh_.positionAt(coordinates));
      classes_.push_back(known.emplace(found, static_cast<int>(known.size())).first->second);
    }
  }

private:
  const Mesh& mesh_;
  std::vector<int> axes_;
  std::vector<int> classes_;
};

// The axes that split a dimension on either side.
std::vector<int> axesOfDim(const Layout& from, const Layout& to, int dim) {
  std::vector<int> axes = from.splitAxes(dim);
  for (int axis : to.splitAxes(dim))
    if (std::ranges::find(axes, axis) == axes.end())
      axes.push_back(axis);
  return axes;
}

// Axes that split nothing, on which a position is a peer at all only if its coordinate is 0.
std::vector<int> choosyAxes(const Layout& from, const Layout& to) {
  std::vector<int> axes;
  for (int axis = 0; axis < from.mesh().axes(); ++axis) {
    const Property a = from.property(axis), b = to.property(axis);
    if (!a.isShard() && !b.isShard() &&
        (a.isRoot() || b.isRoot() || (a.isBroadcast() && b.isPartial())))
      axes.push_back(axis);
  }
  return axes;
}

} // namespace

Flow countFlow(const Layout& from, const Layout& to, int rank, Role role) {
  return FlowCount(from, to, rank, role).flow();
}

LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks) {
  return FlowCount(from, to, rank, role).byLevel(unitRanks);
}

std::vector<int> unlikePositions(const Layout& from, const Layout& to) {
  const Mesh& mesh = from.mesh();
  std::vector<PositionClasses> all;
  all.emplace_back(mesh, choosyAxes(from, to));
  all.front().make([](int position) { return position; });
  for (int dim = 0; dim < from.rank(); ++dim) {
    all.emplace_back(mesh, axesOfDim(from, to, dim));
    all.back().make([&](int position) {
      const int rank = mesh.rank(position);
      return std::pair(FlowCount(from, to, rank, Role::Source).along(dim),
                       FlowCount(from, to, rank, Role::Target).along(dim));
    });
  }
  std::vector<int> positions;
  std::vector<std::unordered_map<Index, int>> known(all.size());
  for (int position = 0; position < mesh.size(); ++position) {
    int id = 0;
    bool isNew = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Index pair = Index(id) << 32 | all[i].classOf(position);
      const auto [at, added] = known[i].emplace(pair, static_cast<int>(known[i].size()));
      id = at->second;
      isNew = added;
    }
    if (isNew)
      positions.push_back(position);
  }
  return positions;
}

} // namespace tenon
