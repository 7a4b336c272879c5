// SPDX-License-Identifier: BSD-2-Clause
// How a tensor is distributed over a process grid: an immutable value.
//
// Along each grid axis the tensor has one property: S(d) sharded along tensor dimension d, B
// broadcast (a full copy each), P partial sums of full size, R root (on coordinate 0 only).
// The axes that split a dimension are ordered, major first, and one list of cuts over their
// combined index divides the dimension. A dimension may carry a halo, G(d): the parts' boxes then
// overlap, leave gaps or leave the domain; its dual G*(d) has the same boxes holding contributions.
//
// Along an axis of one process S(d), B, P and R are one thing. A layout remembers the property that
// it was given there, for its text, but such an axis splits nothing, holds no contributions, and
// does not count when layouts are compared; so a solver's boxes, which name an axis for every
// dimension, equal what a layer makes of them.
#pragma once

#include "geometry/layout/boundary.hpp"
#include "geometry/layout/grid.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tenon {

enum class PropertyKind { Shard, Broadcast, Partial, Root };

struct Property {
  PropertyKind kind = PropertyKind::Broadcast;
  int dim = -1; // the dimension that a Shard splits

  static Property shard(int dim) { return {PropertyKind::Shard, dim}; }
  static Property broadcast() { return {PropertyKind::Broadcast, -1}; }
  static Property partial() { return {PropertyKind::Partial, -1}; }
  static Property root() { return {PropertyKind::Root, -1}; }

  bool isShard() const { return kind == PropertyKind::Shard; }
  bool isBroadcast() const { return kind == PropertyKind::Broadcast; }
  bool isPartial() const { return kind == PropertyKind::Partial; }
  bool isRoot() const { return kind == PropertyKind::Root; }
  Property dual() const;
  std::string describe() const; // "S0", "B", "P", "R"
  bool operator==(const Property&) const = default;
};

using Properties = std::vector<Property>;

// Parses "S0,B,P,R"; throws TENON_ERR_LAYOUT with the offending word.
Properties parseProperties(std::string_view text);
std::string describe(const Properties& properties);

// The dimension of channels, by whose index the boundary modes of other dimensions can differ.
inline constexpr int kChannelDim = 1;

// The boxes in which the parts of a dimension are stored, where these are not the parts themselves.
struct Halo {
  std::vector<Interval> boxes; // one for each part, in global indices that may leave the domain
  Boundary low = Boundary::None;
  Boundary high = Boundary::None;
  bool isPartial = false; // G* instead of G
  // The modes by channel where they differ: then low and high are those of channel 0. E is
  // block-diagonal over channels, with one block for each run of them (channel_runs.hpp).
  std::vector<ModeBand> bands = {};

  // Whether an index map fills it: what a box has beyond the part's own elements are then copies of
  // elements anywhere, of which only that map knows. Both sides are linked or none is.
  bool isLinked() const { return low == Boundary::Linked; }

  bool operator==(const Halo&) const = default;
};

// What a layout is made from. Empty lists mean the default of each dimension.
struct LayoutSpec {
  Shape shape;
  GridPtr grid;
  Properties properties;
  std::vector<std::vector<int>> splitAxes = {}; // per dimension; default: grid order
  std::vector<std::vector<Index>> cuts = {};    // per dimension; default: nested balanced
  std::vector<std::optional<Halo>> halos = {};  // per dimension; default: none
};

class Layout {
public:
  // Throws TENON_ERR_LAYOUT if the parts of the specification do not fit each other.
  explicit Layout(LayoutSpec spec);

  int rank() const noexcept { return static_cast<int>(data_->shape.size()); }
  const Shape& shape() const noexcept { return data_->shape; }
  const Grid& grid() const noexcept { return *data_->grid; }
  const GridPtr& gridPtr() const noexcept { return data_->grid; }
  Property property(int axis) const { return data_->properties[axis]; }
  const Properties& properties() const noexcept { return data_->properties; }
  // The axes that split a dimension, major first. Axes of one process are not among them.
  const std::vector<int>& splitAxes(int dim) const { return data_->splitAxes[dim]; }
  const std::vector<Index>& cuts(int dim) const { return data_->splits[dim]->cuts; }
  const std::optional<Halo>& halo(int dim) const { return data_->margins[dim]->halo; }
  bool hasHalos() const noexcept;
  bool hasLinkedHalos() const noexcept;
  // Whether the boundary modes of some halo differ by channel.
  bool hasModesByChannel() const noexcept;
  // Whether what the ranks hold must be added up: a P axis or a G* dimension.
  bool holdsPartialSums() const noexcept;

  int parts(int dim) const { return static_cast<int>(cuts(dim).size()) - 1; }
  // The part of a dimension that a grid position holds, and the coordinates of a part on the
  // dimension's splitting axes.
  int part(int position, int dim) const;
  std::vector<int> partCoordinates(int dim, int part) const;
  Interval owned(int dim, int part) const;
  Interval box(int dim, int part) const;
  // How many of the parts from `first` up to `last` own an element.
  int ownersAmong(int dim, int first, int last) const;
  // The most elements that any position owns, halos not counted.
  Index mostOwnedElements() const noexcept { return data_->mostOwnedElements; }
  // Whether both ends of the boxes of a dimension's halo are non-decreasing from part to part.
  bool boxesRise(int dim) const { return data_->margins[dim]->rises; }

  // Whether a position holds anything: not outside the grid (position -1), nor off coordinate 0 of
  // an R axis.
  bool isHolder(int position) const;
  // What a grid position holds, halos included; empty in every dimension where nothing is held.
  Box box(int position) const;
  Box ownedBox(int position) const;
  Box boxOfRank(int rank) const { return box(grid().position(rank)); }

  // The layout of the cotangent: B and P swap, G and G* swap.
  Layout dual() const;
  Layout withoutHalos() const;
  // This layout with the boundary modes of one channel for all of them.
  Layout withModesOf(Index channel) const;
  // What this layout was made from, with all defaults filled in; a changed layout is made from it.
  LayoutSpec spec() const;
  // The same for copies of one layout.
  const void* identity() const noexcept { return data_.get(); }

  // "[256,1,28,28] S2,S3 on process grid 2x2", with split points and halos where they are not the
  // default: equal texts are equal layouts. Equal layouts can differ in what is said of an axis of
  // one process.
  std::string describe() const;
  // The text of views, which name a process grid once: "[256,1,28,28] S2,S3 + halo of 1 in dim 2".
  // A layout on another grid than `named` says so.
  std::string summary(const Grid& named) const;

  // Whether every rank holds the same part of the same tensor, with the same halos: on one process
  // grid, or on two that differ in axes of one process.
  bool operator==(const Layout& other) const;

private:
  // What is compared of the grid and its properties: numbers of processes, properties and split
  // orders without the axes of one process.
  struct Spread {
    std::vector<int> extents;
    Properties properties;
    std::vector<std::vector<int>> splitOrders;
    bool operator==(const Spread&) const = default;
  };
  // The parts of a dimension, and what follows from them.
  struct Split {
    std::vector<Index> cuts;
    std::vector<int> emptyBefore; // parts that own nothing before each part; [] where none does
    Index widest;
    explicit Split(std::vector<Index> given);
    std::size_t hash() const noexcept;
    bool operator==(const Split& other) const { return cuts == other.cuts; }
  };
  // The halo of a dimension, if it has one.
  struct Margin {
    std::optional<Halo> halo;
    bool rises = true;
    Index widest = 0;
    explicit Margin(std::optional<Halo> given);
    std::size_t hash() const noexcept;
    bool operator==(const Margin& other) const { return halo == other.halo; }
  };
  using SplitPtr = std::shared_ptr<const Split>;
  using MarginPtr = std::shared_ptr<const Margin>;
  static SplitPtr shared(Split split);
  static MarginPtr shared(Margin margin);
  struct Data {
    Shape shape;
    GridPtr grid;
    Properties properties;
    std::vector<std::vector<int>> splitAxes;
    std::vector<SplitPtr> splits;
    std::vector<MarginPtr> margins;
    Spread spread;
    Index mostOwnedElements;
  };
  explicit Layout(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  static Spread spreadOf(const Grid& grid, const Properties& properties,
                         std::vector<std::vector<int>> splitAxes);
  std::shared_ptr<const Data> data_;
};

// True if the conversion from a to b leaves every rank's memory as it is, so that both layouts may
// share one array: they are equal but for halos that add nothing.
bool sameHolding(const Layout& a, const Layout& b);

// The layouts that a tensor passes through on its way from one layout to the other, `to` last; none
// if both hold the same memory. That is `to` alone, except between two grids: there halos are
// dropped before and filled after the change of grid, by conversions on one grid each.
std::vector<Layout> stopsBetween(const Layout& from, const Layout& to);

} // namespace tenon
