// SPDX-License-Identifier: BSD-2-Clause
// Layout: how a tensor is distributed over a process grid; an immutable value.
//
// Along each grid axis the tensor has one property: S(d), sharded along tensor dimension d; B,
// broadcast (a full copy on each process); P, partial sums of full size; or R, root (on coordinate
// 0 only). The axes that split a dimension are ordered, major first, and divide it into one part
// per combination of their coordinates; the list of cuts has the begin of each part, and the
// extent. For example, 10 rows on 3 processes have the cuts 0, 4, 7, 10. A dimension can have a
// halo, G(d): each part is stored in a box, and the boxes can overlap, leave gaps or extend beyond
// the domain. The dual G*(d) has the same boxes, in which each element is a contribution to a sum.
//
// For example, a tensor [10, 8] with the properties S0,B on a grid of 3 x 2 processes: the process
// at (i, j) has the rows of part i, and those at (i, 0) and (i, 1) have the same. With a halo of 1
// in dimension 0 and without boundary modes, the boxes of the parts are [0,5), [3,8) and [6,10).
//
// On an axis of one process S(d), B, P and R are equivalent. A layout stores the property that was
// set, for its text, but such an axis splits nothing, has no contributions, and is ignored by
// comparisons. So the layout of a solver's boxes, which has an axis for each dimension, equals the
// layout that a layer derives from it.
#pragma once

#include "geometry/layout/boundary.hpp"
#include "geometry/layout/grid.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tenon {

// S(d), B, P and R.
enum class PropertyKind { Shard, Broadcast, Partial, Root };

// The property of a layout along one grid axis.
struct Property {
  PropertyKind kind = PropertyKind::Broadcast;
  int dim = -1; // The dimension that a Shard splits.

  static Property shard(int dim) { return {PropertyKind::Shard, dim}; }
  static Property broadcast() { return {PropertyKind::Broadcast, -1}; }
  static Property partial() { return {PropertyKind::Partial, -1}; }
  static Property root() { return {PropertyKind::Root, -1}; }

  bool isShard() const { return kind == PropertyKind::Shard; }
  bool isBroadcast() const { return kind == PropertyKind::Broadcast; }
  bool isPartial() const { return kind == PropertyKind::Partial; }
  bool isRoot() const { return kind == PropertyKind::Root; }
  Property dual() const;
  std::string describe() const; // For example "S0", "B", "P", "R".
  bool operator==(const Property&) const = default;
};

using Properties = std::vector<Property>;

// Parses text such as "S0,B,P,R". Throws TENON_ERR_LAYOUT with the word that is not a property.
Properties parseProperties(std::string_view text);
std::string describe(const Properties& properties);

// The channel dimension; boundary modes of other dimensions can differ by channel.
inline constexpr int kChannelDim = 1;

// The boxes in which the parts of a dimension are stored, if they differ from the parts.
struct Halo {
  std::vector<Interval> boxes; // One per part, in global indices that can be outside the domain.
  Boundary low = Boundary::None;
  Boundary high = Boundary::None;
  bool isPartial = false; // G* instead of G.
  // The modes by channel if they differ; low and high are then those of channel 0. E is
  // block-diagonal over channels, with one block per run of channels (channel_runs.hpp).
  std::vector<ModeBand> bands = {};
  // With pole modes, the dimension of the longitudes. If it is -1, Layout determines it: the only
  // other dimension that is periodic, or the only other one there is, besides batch and channels.
  int longitudes = -1;
  // These two are set only in the terms into which E is divided at poles (channel_runs.hpp). With
  // `crossed`, E fills only the rows that lead across poles an odd number of times (true) or an
  // even one (false). With a shift, which the longitudes have, each element copies the element at
  // its index plus the shift, periodically.
  std::optional<bool> crossed = {};
  Index shift = 0;

  // True if an index map fills the halo: elements of a box beyond the part are copies of arbitrary
  // elements, which only that map knows. Either both sides are linked or none.
  bool isLinked() const { return low == Boundary::Linked; }
  // True if a side has a pole mode for some channel.
  bool hasPole() const;

  bool operator==(const Halo&) const = default;
};

// The specification of a layout. An empty list means the default in each dimension.
struct LayoutSpec {
  Shape shape;
  GridPtr grid;
  Properties properties;
  std::vector<std::vector<int>> splitAxes = {}; // By dimension; default: grid order.
  std::vector<std::vector<Index>> cuts = {};    // By dimension; default: nested balanced.
  std::vector<std::optional<Halo>> halos = {};  // By dimension; default: none.
};

// Throws TENON_ERR_SHAPE unless a halo with pole modes fits these numbers of rows and longitudes;
// `where` names the rows.
void checkPoles(const Halo& halo, Index rows, Index longitudes, const std::string& where);
// Determines and checks the longitudes of halos with pole modes. Throws TENON_ERR_LAYOUT, or the
// error of checkPoles().
void completePoles(LayoutSpec& spec);

class Layout {
public:
  // Throws TENON_ERR_LAYOUT if the lists of the specification are inconsistent.
  explicit Layout(LayoutSpec spec);

  // Number of tensor dimensions; not a rank of MPI.
  int ndim() const noexcept { return static_cast<int>(data_->shape.size()); }
  const Shape& shape() const noexcept { return data_->shape; }
  const Grid& grid() const noexcept { return *data_->grid; }
  const GridPtr& gridPtr() const noexcept { return data_->grid; }
  Property property(int axis) const { return data_->properties[axis]; }
  const Properties& properties() const noexcept { return data_->properties; }
  // The axes that split a dimension, major first, without axes of one process.
  const std::vector<int>& splitAxes(int dim) const { return data_->splitAxes[dim]; }
  const std::vector<Index>& cuts(int dim) const { return data_->splits[dim]->cuts; }
  const std::optional<Halo>& halo(int dim) const { return data_->margins[dim]->halo; }
  bool hasHalos() const noexcept;
  bool hasLinkedHalos() const noexcept;
  // True if the boundary modes of some halo differ by channel.
  bool hasModesByChannel() const noexcept;
  // True if a halo with a pole mode holds values (false) or contributions (true).
  bool hasPole(bool isPartial) const noexcept;
  // True if the ranks' data must be summed: there is a P axis or a G* dimension.
  bool holdsPartialSums() const noexcept;

  int parts(int dim) const { return static_cast<int>(cuts(dim).size()) - 1; }
  // The part of a dimension at a grid position, and the coordinates of a part on the dimension's
  // splitting axes. These are the digits of the part, major axis first: on axes of 2 and 3
  // processes, the coordinates (1, 2) are part 1 * 3 + 2 = 5.
  int part(int position, int dim) const;
  std::vector<int> partCoordinates(int dim, int part) const;
  Interval owned(int dim, int part) const;
  Interval box(int dim, int part) const;
  // Number of parts in [first, last) that own an element.
  int ownersAmong(int dim, int first, int last) const;
  // The largest number of elements that a position owns, without halos.
  Index mostOwnedElements() const noexcept { return data_->mostOwnedElements; }
  // True if both ends of the halo boxes of a dimension are non-decreasing from part to part, which
  // searches by bisection require (partsNear() in segments.hpp). Boxes of the user need not be.
  bool boxesRise(int dim) const { return data_->margins[dim]->rises; }

  // True if a position has data: it is in the grid (not -1), and on coordinate 0 of all R axes.
  bool isHolder(int position) const;
  // The box of a grid position, halos included; empty in every dimension if the position has no
  // data.
  Box box(int position) const;
  Box ownedBox(int position) const;
  Box boxOfRank(int rank) const { return box(grid().position(rank)); }

  // The layout of the cotangent: B and P are exchanged, and G and G*.
  Layout dual() const;
  Layout withoutHalos() const;
  // This layout with the boundary modes of one channel for all channels.
  Layout withModesOf(Index channel) const;
  // One of the two terms of this layout at its poles: with `crossed`, only the rows beyond an odd
  // number of poles, whose longitudes are shifted by half of a circle; otherwise all other rows.
  Layout withPoleTerm(bool crossed) const;
  // The specification of this layout, with all defaults filled in. To change a layout, make one
  // from it.
  LayoutSpec spec() const;
  // An address that is the same for copies of one layout, as a key of tables.
  const void* identity() const noexcept { return data_.get(); }

  // Text such as "[256,1,28,28] S2,S3 on process grid 2x2", with split points and halos that are
  // not the default. Equal texts are equal layouts. The texts of equal layouts can differ in
  // properties of axes of one process.
  std::string describe() const;
  // Text for views that print a process grid `named` once, above the layouts: "[256,1,28,28] S2,S3
  // + halo of 1 in dim 2". The grid of this layout is included if it differs from `named`.
  std::string summary(const Grid& named) const;

  // True if every rank has the same part of the same tensor, with the same halos. The process grids
  // can differ in axes of one process only.
  bool operator==(const Layout& other) const;

private:
  // The compared data of grid and properties: extents, properties and split orders without axes of
  // one process.
  struct Spread {
    std::vector<int> extents;
    Properties properties;
    std::vector<std::vector<int>> splitOrders;
    bool operator==(const Spread&) const = default;
  };
  // The parts of a dimension, and derived quantities.
  struct Split {
    std::vector<Index> cuts;
    // Number of empty parts before each part; empty list if there are none.
    std::vector<int> emptyBefore;
    Index widest;
    explicit Split(std::vector<Index> points);
    std::size_t hash() const noexcept;
    bool operator==(const Split& other) const { return cuts == other.cuts; }
  };
  // The halo of a dimension, if it has one, and derived quantities.
  struct Margin {
    std::optional<Halo> halo;
    bool rises = true;
    Index widest = 0;
    explicit Margin(std::optional<Halo> requested);
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

// True if the conversion from a to b would not change any rank's memory, so both layouts can use
// one array: they are equal except for halos that add no elements.
bool haveSameMemory(const Layout& a, const Layout& b);

// The layouts through which a tensor is converted from one layout to the other, ending with `to`;
// empty if both have the same memory. On one process grid this is only `to`. Between two grids,
// halos are dropped before the change of grid and filled after it, by conversions on one grid.
std::vector<Layout> stopsBetween(const Layout& from, const Layout& to);

} // namespace tenon
