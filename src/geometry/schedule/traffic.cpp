// SPDX-License-Identifier: BSD-2-Clause
// Counts the messages and elements of a rank in a conversion, and finds a list of grid positions
// such that every other position has the same counts as one of the list. The counts are a product
// over dimensions. The factor of a dimension depends only on the coordinates on the axes that split
// it, so it is counted once for each combination of these coordinates. Combinations with equal
// factors are a class, and two positions have equal counts if they have the same class in every
// dimension.
#include "geometry/schedule/traffic.hpp"

#include "geometry/layout/channel_runs.hpp"
#include "sys/errors/error.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace tenon {

namespace {

// Divides positions into classes by their coordinates on some axes: each combination of coordinates
// belongs to a class.
class PositionClasses {
public:
  PositionClasses(const Grid& grid, std::vector<int> axes) : grid_(grid), axes_(std::move(axes)) {}

  int combinations() const { return grid_.extentOf(axes_); }
  int classOf(int position) const { return classes_[grid_.coordinateOn(position, axes_)]; }

  // Combinations with equal keys are one class; key(position) is called for the position that is 0
  // on all other axes.
  template <class Key>
  void make(Key&& key) {
    std::map<decltype(key(0)), int> classOfKey;
    for (int index = 0; index < combinations(); ++index) {
      std::vector<int> coordinates(grid_.axes(), 0);
      for (int quotient = index, i = static_cast<int>(axes_.size()) - 1; i >= 0; --i) {
        coordinates[axes_[i]] = quotient % grid_.extent(axes_[i]);
        quotient /= grid_.extent(axes_[i]);
      }
      const auto keyHere = key(grid_.positionAt(coordinates));
      classes_.push_back(
          classOfKey.emplace(keyHere, static_cast<int>(classOfKey.size())).first->second);
    }
  }

private:
  const Grid& grid_;
  std::vector<int> axes_;
  std::vector<int> classes_;
};

// The axes that split a dimension in either layout.
std::vector<int> axesOfDim(const Layout& from, const Layout& to, int dim) {
  std::vector<int> axes = from.splitAxes(dim);
  for (int axis : to.splitAxes(dim))
    if (std::ranges::find(axes, axis) == axes.end())
      axes.push_back(axis);
  return axes;
}

// Axes that split nothing, on which only positions with coordinate 0 have peers.
std::vector<int> axesWithRoot(const Layout& from, const Layout& to) {
  std::vector<int> axes;
  for (int axis = 0; axis < from.grid().axes(); ++axis) {
    const Property a = from.property(axis), b = to.property(axis);
    if (!a.isShard() && !b.isShard() &&
        (a.isRoot() || b.isRoot() || (a.isBroadcast() && b.isPartial())))
      axes.push_back(axis);
  }
  return axes;
}

// By axis, the difference between the ranks of neighbours along it; nothing if it differs between
// positions.
std::optional<std::vector<int>> rankStrides(const Grid& grid) {
  std::vector<int> strides;
  for (int axis = 0; axis < grid.axes(); ++axis) {
    std::vector<int> coordinates(grid.axes(), 0);
    coordinates[axis] = grid.extent(axis) > 1 ? 1 : 0;
    strides.push_back(grid.rank(grid.positionAt(coordinates)) - grid.rank(0));
  }
  for (int position = 0; position < grid.size(); ++position) {
    int rank = grid.rank(0);
    for (int axis = 0; axis < grid.axes(); ++axis)
      rank += strides[axis] * grid.coordinate(position, axis);
    if (rank != grid.rank(position))
      return std::nullopt;
  }
  return strides;
}

// A flow by level, counted from the schedule; levelOf(peer) is the level that a message crosses.
// Needed if the conversion is not one product: several runs of channels, or terms at poles, can
// then have the same peer, whose messages are counted once.
LevelFlow listedFlow(const Layout& from, const Layout& to, int rank, Role role, std::size_t levels,
                     const std::function<std::ptrdiff_t(int peer)>& levelOf) {
  LevelFlow flow{std::vector<Traffic>(levels + 1), 0};
  const Schedule schedule = makeSchedule(from, to, rank);
  for (const Transfer& t : role == Role::Source ? schedule.sends : schedule.receives) {
    if (t.peer == rank) {
      flow.keptElements += t.elements;
      continue;
    }
    Traffic& level = flow.others[static_cast<std::size_t>(levelOf(t.peer))];
    ++level.messages;
    level.elements += t.elements;
  }
  return flow;
}

// What a position sends and receives along one dimension, by which unlikePositions() compares
// positions: the factor of the dimension if the conversion is one product, otherwise the parts that
// share elements with its own, product by product, since a peer of several is counted once.
class DimensionKey {
public:
  DimensionKey(const Layout& from, const Layout& to, int dim)
      : from_(from), to_(to), dim_(dim), isOne_(isOneProduct(from, to)) {}

  // Adds the numbers of a rank whose peers have its coordinates on some axes.
  void add(int rank, AxisMask sameCoordinate, std::vector<AlongDim>& key) const {
    for (const Role role : {Role::Source, Role::Target}) {
      Index number = 0; // of a product
      forEachChannelRun(from_, to_, [&](const Layout& a, const Layout& b, const Interval* run) {
        forEachPoleTerm(a, b, [&](const Layout& source, const Layout& target) {
          addProduct(FlowCount(source, target, rank, role, sameCoordinate), run, number++, key);
        });
      });
    }
  }

private:
  void addProduct(const FlowCount& count, const Interval* run, Index number,
                  std::vector<AlongDim>& key) const {
    // If the conversion is one product, the factor of this dimension determines the counts.
    // Otherwise a peer can be in several products, and the parts themselves are compared. A
    // position without peers gets a key that no flow has.
    if (isOne_ || !count.hasPeers()) {
      key.push_back(count.hasPeers() ? count.along(dim_) : AlongDim{{-1, -1}, -1});
      return;
    }
    const Interval channels = run ? *run : Interval{0, from_.shape()[dim_]};
    // These entries are compared only, so they have other numbers in the members of AlongDim: the
    // distance of a part, the elements shared with it, and the number of the product.
    for (const auto& [distance, shared] : count.partsBeside(dim_, channels))
      key.push_back({{distance, shared}, number});
  }

  const Layout &from_, &to_;
  const int dim_;
  const bool isOne_;
};

} // namespace

// Along an axis, either all ranks are in one unit or each is in a different one: the latter if the
// unit size divides the stride of the axis. The ranks along all other axes together must not leave
// the unit of rank(0), which a carry would do; `within` is the place of the last of them in the
// unit. For example, the grid 2 x 4 of the ranks 0 to 7 has the strides 4 and 1. For units of 4
// ranks, axis 0 is apart, and the ranks along axis 1 are the places 0 to 3 of a unit. For units of
// 6 ranks, no stride is divisible, and the places 0 to 7 do not fit: there are no UnitAxes.
std::optional<UnitAxes> UnitAxes::of(const Grid& grid, const std::vector<Index>& unitRanks) {
  UnitAxes units;
  if (unitRanks.empty())
    return units;
  const auto strides = rankStrides(grid);
  if (!strides || grid.axes() > kMaxMaskedAxes)
    return std::nullopt;
  for (const Index ranks : unitRanks) {
    AxisMask apart = 0;
    Index within = grid.rank(0) % ranks;
    for (int axis = 0; axis < grid.axes(); ++axis) {
      if (grid.extent(axis) > 1 && (*strides)[axis] % ranks == 0)
        apart |= AxisMask(1) << axis;
      else
        within += Index(grid.extent(axis) - 1) * (*strides)[axis];
      if ((*strides)[axis] < 0)
        return std::nullopt;
    }
    if (within >= ranks)
      return std::nullopt;
    units.apart.push_back(apart);
  }
  return units;
}

Flow countFlow(const Layout& from, const Layout& to, int rank, Role role) {
  if (isOneProduct(from, to))
    return FlowCount(from, to, rank, role).flow();
  const LevelFlow flow = listedFlow(from, to, rank, role, 0, [](int) { return 0; });
  return {flow.others.front(), flow.keptElements};
}

LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const std::vector<Index>& unitRanks) {
  if (isOneProduct(from, to))
    return FlowCount(from, to, rank, role).byLevel(unitRanks);
  return listedFlow(from, to, rank, role, unitRanks.size(),
                    [&](int peer) { return levelBetween(rank, peer, unitRanks); });
}

LevelFlow countFlow(const Layout& from, const Layout& to, int rank, Role role,
                    const UnitAxes& units) {
  LevelFlow flow{std::vector<Traffic>(units.apart.size() + 1), 0};
  if (!isOneProduct(from, to)) {
    const Grid& grid = from.grid();
    const int own = grid.position(rank);
    // The first level on whose axes the peer has another coordinate.
    return listedFlow(from, to, rank, role, units.apart.size(), [&](int peer) {
      const auto isApart = [&](AxisMask apart) {
        for (int axis = 0; axis < grid.axes(); ++axis)
          if ((apart >> axis & 1) != 0 &&
              grid.coordinate(own, axis) != grid.coordinate(grid.position(peer), axis))
            return true;
        return false;
      };
      return std::ranges::find_if(units.apart, isApart) - units.apart.begin();
    });
  }
  const FlowCount whole(from, to, rank, role);
  flow.keptElements = whole.keptElements();
  // Units are nested, so the traffic that crosses a level is the difference of two counts: of all
  // peers in one unit of the level around, and of those in one unit of this level.
  Traffic around = whole.all();
  for (std::size_t level = 0; level < units.apart.size(); ++level) {
    const Traffic inside = FlowCount(from, to, rank, role, units.apart[level]).all();
    flow.others[level] = {around.messages - inside.messages, around.elements - inside.elements};
    around = inside;
  }
  flow.others.back() = {around.messages - (flow.keptElements > 0),
                        around.elements - flow.keptElements};
  return flow;
}

std::vector<int> unlikePositions(const Layout& from, const Layout& to) {
  return unlikePositions(from, to, UnitAxes());
}

std::vector<int> unlikePositions(const Layout& from, const Layout& to, const UnitAxes& units) {
  const Grid& grid = from.grid();
  std::vector<PositionClasses> classes;
  classes.emplace_back(grid, axesWithRoot(from, to));
  classes.front().make([](int position) { return position; });
  for (int dim = 0; dim < from.ndim(); ++dim) {
    classes.emplace_back(grid, axesOfDim(from, to, dim));
    const DimensionKey dimension(from, to, dim);
    classes.back().make([&](int position) {
      const int rank = grid.rank(position);
      std::vector<AlongDim> key;
      dimension.add(rank, /*sameCoordinate=*/0, key);
      for (const AxisMask apart : units.apart)
        dimension.add(rank, apart, key);
      return key;
    });
  }
  std::vector<int> positions;
  // The classes of a position are combined to a single number, one by one: a new pair gets the next
  // number. The position is new if its last pair is.
  std::vector<std::unordered_map<Index, int>> pairNumbers(classes.size());
  for (int position = 0; position < grid.size(); ++position) {
    int id = 0;
    bool isNew = false;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const Index pair = Index(id) << 32 | classes[i].classOf(position);
      const auto [entry, added] =
          pairNumbers[i].emplace(pair, static_cast<int>(pairNumbers[i].size()));
      id = entry->second;
      isNew = added;
    }
    if (isNew)
      positions.push_back(position);
  }
  return positions;
}

} // namespace tenon
