// SPDX-License-Identifier: BSD-2-Clause
// Makes index maps from the lists of all ranks: each rank lists the source elements of its own
// target elements, whose owners are found by the layout, or by a directory of ids.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/mesh/index_map.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// The entries of this rank: entry n adds weights[n] times element source[n] to element target[n].
struct WantedEntries {
  std::vector<Index> target;   // joint index in this rank's array, row by row
  std::vector<Index> source;   // joint global index, row by row
  std::vector<double> weights; // One per entry, or empty for weights of 1.
};

// Makes the map; elements of the target without entries become 0. Both layouts have the same
// process grid and divide the dimensions outside `dims` alike. Collective. If `to` is `from` with
// linked halos, the map is a halo exchange, and entries are for ghosts only. Throws on all ranks
// TENON_ERR_LAYOUT if the layouts do not fit each other, and TENON_ERR_ARG if an index is out of
// range.
IndexMapPtr makeIndexMap(Communicator& comm, const Layout& from, const Layout& to,
                         const std::vector<int>& dims, const WantedEntries& wanted);

// Makes the map from a field on owned nodes to the same field with ghosts after them: dimension 0
// has the extent sum of `owned` and property S(0); a rank's array has the nodes of `ids`, owned
// ones first. Collective. Throws the errors of numberRows().
IndexMapPtr makeIndexMapFromIds(Communicator& comm, Index owned, const std::vector<Index>& ids);

// The object of the handle TenonIndexMap.
class IndexMapObject : public Object {
public:
  static constexpr const char* kClass = "IndexMap";
  // `ids` are the ids of the rows that this rank owns, for a map from ids.
  IndexMapObject(CommPtr comm, IndexMapPtr map, std::vector<Index> ids = {})
      : Object(kClass), comm_(std::move(comm)), map_(std::move(map)), ids_(std::move(ids)) {}

  const CommPtr& comm() const noexcept { return comm_; }
  const IndexMapPtr& map() const noexcept { return map_; }
  const std::vector<Index>& ids() const noexcept { return ids_; }
  std::string describe() const override;

private:
  CommPtr comm_;
  IndexMapPtr map_;
  std::vector<Index> ids_;
};

// Makes the map from the rows of a map from ids to the same rows sorted by id, in balanced blocks:
// [rows], S(0), independent of the partition. Collective. Throws TENON_ERR_LAYOUT if `nodes` is not
// a map from ids.
IndexMapPtr makeSortedIndexMap(Communicator& comm, const IndexMapObject& nodes);

} // namespace tenon
