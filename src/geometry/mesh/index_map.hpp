// SPDX-License-Identifier: BSD-2-Clause
// An index map: elements of one layout that are made from elements of another, by lists.
//
//     y[.., k, ..] = sum over the entries (k, id, w) of k of  w x[.., id, ..]
//
// k and id are joint indices of some dimensions, and all other dimensions are free: the layouts of
// a map are patterns, whose free dimensions are those of the tensors at hand, with any extents; a
// tensor may have further dimensions behind those of a pattern. Layouts are as ever the same on all
// ranks; the lists are of this rank alone. Both ends of a message have its list, so that a map is a
// schedule (schedule.hpp), whose adjoint is the same with its sides exchanged.
//
// Where the target is the source with a linked halo, the map is a halo exchange: what a rank owns
// lies in the target as in the source, and all entries are ghosts.
#pragma once

#include "geometry/schedule/schedule.hpp"

namespace tenon {

// What goes from one rank to another: positions in the local arrays of source and target, along the
// joint dimensions; the entries in the order of their positions in the target.
struct IndexEntries {
  int peer = -1;
  std::vector<Index> source, target; // [entries, joint dimensions]
  std::vector<double> weights;       // [entries], or none: ones
};

// Of a rank, to and from others: elements for one index of the free dimensions.
struct IndexTraffic {
  Traffic sent = {}, received = {};
};

struct IndexMapSpec {
  Layout from, to;       // patterns
  std::vector<int> dims; // the joint ones
  // By the peer's position in the grid; the rank itself may be among them.
  std::vector<IndexEntries> sends = {}, receives = {};
  // Whether some element of this rank's target gets several entries, or none.
  bool isUneven = false;
  // Of this rank, and the most of any, where that is known.
  IndexTraffic traffic = {};
  std::optional<IndexTraffic> most = {};
};
// What goes between this rank and others by the lists of a map.
IndexTraffic trafficOf(const IndexMapSpec& spec, int rank);

class IndexMap {
public:
  explicit IndexMap(IndexMapSpec spec);

  const Layout& from() const noexcept { return from_; }
  const Layout& to() const noexcept { return to_; }
  bool isHalo() const noexcept { return isHalo_; }
  bool isWeighted() const noexcept { return isWeighted_; }

  // The range of a map from this domain. Throws TENON_ERR_LAYOUT, naming both, unless `x` lies
  // along the joint dimensions as the pattern does.
  Layout rangeFor(const Layout& x) const;
  // The domain of the map to this range, likewise.
  Layout domainFor(const Layout& y) const;
  const std::vector<int>& jointDims() const noexcept { return dims_; }
  // The layouts of tensors of these extents, whose joint dimensions are those of the patterns
  // whatever the shape says.
  std::pair<Layout, Layout> layoutsOf(const Shape& shape) const;
  // Of a rank, whose map this is, between layouts that fit.
  Schedule schedule(const Layout& from, const Layout& to, int rank) const;
  // Patterns, messages and entries; the same text on all ranks.
  std::string describe() const;
  const Traffic& sent() const noexcept { return traffic_.sent; }
  // The most that any rank sends, and that any receives; or where that is not known what this one
  // does.
  const IndexTraffic& most() const noexcept { return most_ ? *most_ : traffic_; }

private:
  // Entries that lie in both arrays at positions that no other of them has; or a run of them.
  struct Group {
    Index count;
    Index source = 0, target = 0; // of a run
    ElementListPtr sourceList, targetList;
  };
  struct Lists {
    int peer;
    std::vector<Group> groups;
  };
  bool isJoint(int dim) const;
  std::vector<Lists> listsOf(std::vector<IndexEntries>& entries) const;
  std::vector<Transfer> transfers(const std::vector<Lists>& all, const Layout& from,
                                  const Layout& to, int rank, Shape free) const;
  Layout withFree(const Layout& pattern, const Layout& like) const;
  Layout acrossFrom(const Layout& side, const Layout& pattern, const Layout& other,
                    const char* name) const;

  Layout from_, to_;
  std::vector<int> dims_;
  bool isHalo_, isWeighted_ = false, isUneven_;
  IndexTraffic traffic_;
  std::optional<IndexTraffic> most_;
  std::vector<Lists> sends_, receives_;
};

using IndexMapPtr = std::shared_ptr<const IndexMap>;

// The extents of some dimensions: of the tensor, and of the array that a rank has of it.
Shape jointShape(const Layout& layout, const std::vector<int>& dims);
Shape jointExtent(const Layout& layout, const std::vector<int>& dims, int position);
// The index, row by row, as one index for each dimension; and back.
std::vector<Index> unflattened(Index flat, const Shape& extents);
Index flattened(const Index* index, const Shape& extents);

// Where a joint index lies: the position in the grid that owns it, as seen from another position,
// whose coordinates it has on axes that split no joint dimension; and the place in the owner's
// array.
struct IndexPlace {
  int position;
  std::vector<Index> local;
};
IndexPlace placeOf(const Layout& layout, const std::vector<int>& dims, int position, Index joint);

} // namespace tenon
