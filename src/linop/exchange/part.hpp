// SPDX-License-Identifier: BSD-2-Clause
// Part: the data that one rank sends another when a schedule is executed, as a list of regions:
// boxes of elements in the local arrays of both ranks. A part is transferred whole or in chunks of
// bounded size. Sender and receiver compute the same chunks, since they depend on the extents only.
//
// An exchange can move several fields, each with a schedule and an element type of its own. A part
// then has the regions of all fields that have data for the peer, and is one message.
#pragma once

#include "geometry/schedule/schedule.hpp"
#include "sys/data_type.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tenon {

namespace functors {
struct ListedSums;
} // namespace functors

// One box of elements in a local array: in dimension d the indices begin[d] + i step[d] for i <
// extent[d]. With a list of element positions (as for unstructured meshes), the dimensions that the
// list indexes jointly are treated as one: the extent of the first of them counts list entries,
// from entry `first` on, and begin is 0 in all of them. Example: columns 1 and 3 of rows 2 to 4 of
// a matrix are extent {3, 2}, begin {2, 1}, step {1, 2}, and 6 elements.
struct Region {
  std::array<Index, kMaxDims> extent{}, begin{}, step{};
  Index elements = 0;
  ElementListPtr list = {};
  Index first = 0;
  int sign = 1;  // Factor of the elements at the target, 1 or -1.
  int field = 0; // The field in whose arrays it is, for actions of several fields.
  // Of a target: what its contributions are to its elements. The only one applies the beta of the
  // action, and so does the first of several unless the field is in place; others are added.
  enum class Role : std::int8_t { Only, First, Added };
  Role role = Role::Only;
  // Copies of the list in device memory; set once an operator is applied to device arrays.
  const Index* devicePositions = nullptr;
  const double* deviceWeights = nullptr;
  // Of a target: the entries of several lists by their targets, of which this list has a number, to
  // add all of them at once (listed_sums.hpp); NULL if it is added by itself.
  const functors::ListedSums* sums = nullptr;
  int numberInSums = 0;

  bool operator==(const Region&) const = default;
};

// The regions [begin, end) of a part that are in the arrays of one field, which have these numbers
// of dimensions and of bytes of an element.
struct FieldRegions {
  int field = 0, dims = 0;
  Index elementBytes = 0, elements = 0;
  std::size_t begin = 0, end = 0;

  std::span<const Region> of(const std::vector<Region>& regions) const {
    return std::span(regions).subspan(begin, end - begin);
  }
};

// Divides a list of regions into chunks. If all regions together have at most maxBytes bytes, they
// form one chunk. Otherwise each region is divided separately, along the outermost dimension for
// which its pieces have about maxBytes bytes, and each piece is a chunk.
class Chunks {
public:
  Chunks() = default; // One chunk.
  Chunks(const std::vector<Region>& regions, std::span<const FieldRegions> fields, Index maxBytes);

  Index count() const noexcept { return first_.back(); }
  Interval all() const noexcept { return {0, count()}; }
  // Calls visit(from[i], to[i]), or the same piece of both, for each region of these chunks. `from`
  // and `to` are regions of equal extents; `chunks` is all() or an interval of one chunk.
  template <class Visit>
  void visit(const std::vector<Region>& from, const std::vector<Region>& to, Interval chunks,
             Visit visit) const {
    if (chunks == all()) {
      for (std::size_t i = 0; i < from.size(); ++i)
        visit(from[i], to[i]);
      return;
    }
    const auto after = std::upper_bound(first_.begin(), first_.end(), chunks.begin);
    const std::size_t i = after - first_.begin() - 1;
    const Index piece = chunks.begin - first_[i];
    visit(pieceOf(from[i], cuts_[i], piece), pieceOf(to[i], cuts_[i], piece));
  }

private:
  // A piece has `rows` indices of dimension `dim`, one index of each dimension before it, and all
  // indices of each dimension after it.
  struct Cut {
    int dim = 0;
    Index rows = 1;
  };
  static Cut cutOf(const Region& region, int dims, Index maxElements);
  static Index pieces(const Region& region, const Cut& cut);
  static Region pieceOf(const Region& region, const Cut& cut, Index piece);

  std::vector<Cut> cuts_;             // Division of each region; empty if there is one chunk.
  std::vector<Index> first_ = {0, 1}; // First chunk of each region, and the total.
};

// Element i of the regions `from` in the sender's array is a contribution to element i of the
// regions `to` in the receiver's array.
struct Part {
  int peer = -1;                // The other rank; this rank for data that stays here.
  Index bytes = 0;              // Of all elements.
  std::vector<Region> from, to; // Those of one field after the other.
  // The fields with data for the peer, those with the largest elements first: elements that are
  // packed one after the other are then aligned.
  std::vector<FieldRegions> fields;
  Chunks chunks;
  bool isScaled = false; // True if some elements have a sign or a weight.

  template <class Visit>
  void visit(Interval chunkRange, Visit visit) const {
    chunks.visit(from, to, chunkRange, visit);
  }
};

// What one rank sends and receives in one direction of a schedule: from source to target, or from
// target to source in the adjoint. Pack parts are sent by this rank, unpack parts are received.
struct Direction {
  // How the target of a field is written.
  struct Target {
    // Elements without a contribution: they get 0, or keep the value that the user has set.
    std::vector<Region> zeros, userValues;
    // True if elements can get several contributions; otherwise each gets at most one.
    bool sums = false;
    bool isCovered = false; // True if the first part has a value for each element.
  };

  std::vector<Part> packs, unpacks; // The rank's own part is in both lists.
  std::vector<Target> targets;      // by field
  int rank = -1;                    // This rank, whose own part is not sent.
  bool sums = false;                // True if some field sums.
  bool sameTarget = false;          // True if all parts are added to the same box of elements.
  // Bytes of the largest element. In a buffer, parts begin at multiples of it.
  Index alignment = 1;

  // The place that a part takes in a buffer of several.
  Index paddedBytes(Index bytes) const noexcept {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  bool isOwn(const Part& part) const noexcept { return part.peer == rank; }
  // The indices of the parts of other ranks for which accept(peer) is true.
  template <class Accept>
  std::vector<std::size_t> others(const std::vector<Part>& parts, Accept accept) const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!isOwn(parts[i]) && accept(parts[i].peer))
        indices.push_back(i);
    return indices;
  }
};

// A field of an exchange.
struct FieldSchedule {
  const Schedule& schedule;
  TenonDataType type;
  bool isTransposed = false; // True if the forward action of the field is the transposed schedule.
};

// The direction of all fields together. Where a field sums, its parts keep the order of its
// schedule. Throws TENON_ERR_SUPPORT if the fields that sum have their parts in contrary orders.
Direction makeDirection(std::span<const FieldSchedule> fields, bool forward, int rank);

} // namespace tenon
