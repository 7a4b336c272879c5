// SPDX-License-Identifier: BSD-2-Clause
// An index map: a linear map by lists, from elements of one layout to elements of another.
//
//     y[.., k, ..] = sum over the entries (k, id, w) with this k of  w x[.., id, ..]
//
// k and id are indices of one or several dimensions, the joint dimensions, flattened in row-major
// order; all other dimensions are free. For a mesh with x[node, channel], the nodes are joint and
// the channels free. For example, ranks 0 and 1 own the nodes 0 1 2 and 3 4 5, and rank 0 has the
// nodes 3 and 5 as ghosts, at the positions 3 and 4 of its local array. Both ranks have the entries
// of the message from 1 to 0, as positions in the sender's and the receiver's array:
// source = {0, 2} and target = {3, 4}.
//
// The layouts of a map are patterns: the free dimensions of the tensors can have any extents, and a
// tensor can have further dimensions after those of the pattern. The layouts are the same on all
// ranks; the lists of entries are those of this rank. Sender and receiver both have the list of a
// message, so a map is a schedule (schedule.hpp), and its adjoint is the schedule with source and
// target exchanged.
//
// If the target layout is the source layout with a linked halo (ghosts at arbitrary places), the
// map is a halo exchange: owned elements are the same in both layouts, and all entries are ghosts.
#pragma once

#include "geometry/schedule/schedule.hpp"

namespace tenon {

// The entries between this rank and a peer: positions in the local arrays of source and target,
// along the joint dimensions, in the order of target positions.
struct IndexEntries {
  int peer = -1;
  std::vector<Index> source, target; // [entries, joint dimensions]
  std::vector<double> weights;       // [entries], or empty for weights of 1.
};

// Messages of a rank to and from other ranks, with elements per index of the free dimensions.
struct IndexTraffic {
  Traffic sent = {}, received = {};
};

// The arguments of an index map: layouts, joint dimensions, and this rank's lists of entries.
struct IndexMapSpec {
  Layout from, to;       // Patterns.
  std::vector<int> dims; // The joint dimensions.
  // By the peer's position in the grid, possibly including this rank.
  std::vector<IndexEntries> sends = {}, receives = {};
  // True if some element of this rank's target has several entries, or none.
  bool isUneven = false;
  // Messages of this rank, and the largest numbers of messages and elements of any rank, if known.
  IndexTraffic traffic = {};
  std::optional<IndexTraffic> most = {};
};
// Messages between this rank and others by the lists of a map.
IndexTraffic trafficOf(const IndexMapSpec& spec, int rank);

// An index map, which does not change. Operators, layers and edges refer to it by IndexMapPtr.
class IndexMap {
public:
  explicit IndexMap(IndexMapSpec spec);

  const Layout& from() const noexcept { return from_; }
  const Layout& to() const noexcept { return to_; }
  bool isHalo() const noexcept { return isHalo_; }
  bool isWeighted() const noexcept { return isWeighted_; }

  // The range of a map from this domain. Throws TENON_ERR_LAYOUT, with both layouts, unless the
  // joint dimensions of `x` are distributed like those of the pattern.
  Layout rangeFor(const Layout& x) const;
  // The domain of the map to this range. Throws TENON_ERR_LAYOUT unless the joint dimensions of `y`
  // are distributed like those of the range's pattern.
  Layout domainFor(const Layout& y) const;
  const std::vector<int>& jointDims() const noexcept { return dims_; }
  // Domain and range for tensors of these extents. The joint dimensions are those of the patterns,
  // so their entries in `shape` must be 0: otherwise throws TENON_ERR_SHAPE.
  std::pair<Layout, Layout> layoutsOf(const Shape& shape) const;
  // The schedule of the rank on which the map was made, between layouts that match the patterns.
  Schedule schedule(const Layout& from, const Layout& to, int rank) const;
  // Patterns, messages and entries; the same text on all ranks.
  std::string describe() const;
  const Traffic& sent() const noexcept { return traffic_.sent; }
  // The largest numbers of messages and elements that any rank sends and receives, or, if these are
  // unknown, the numbers of this rank.
  const IndexTraffic& most() const noexcept { return most_ ? *most_ : traffic_; }

private:
  // Entries whose positions are distinct in both arrays, stored as lists or, if the positions are
  // consecutive, as a run.
  struct Group {
    Index count;
    Index source = 0, target = 0; // First positions of a run.
    ElementListPtr sourceList, targetList;
  };
  struct Lists {
    int peer;
    std::vector<Group> groups;
  };
  bool isJoint(int dim) const;
  std::vector<Lists> listsOf(std::vector<IndexEntries>& entries) const;
  std::vector<Transfer> transfers(const std::vector<Lists>& rankLists, const Layout& from,
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

// The extents of the joint dimensions: of the tensor, and of the array at a grid position.
Shape jointShape(const Layout& layout, const std::vector<int>& dims);
Shape jointExtent(const Layout& layout, const std::vector<int>& dims, int position);
// A flat row-major index as one index per dimension, and the inverse.
std::vector<Index> unflattened(Index flat, const Shape& extents);
Index flattened(const Index* index, const Shape& extents);

// The place of a joint index: the grid position of its owner, and its index in the owner's array.
// On axes that split no joint dimension there are several owners; the one with the coordinates of
// the requesting position is meant.
struct IndexPlace {
  int position;
  std::vector<Index> local;
};
IndexPlace placeOf(const Layout& layout, const std::vector<int>& dims, int position, Index joint);

} // namespace tenon
