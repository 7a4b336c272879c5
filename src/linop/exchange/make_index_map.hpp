// SPDX-License-Identifier: BSD-2-Clause
// Index maps made of what each rank wants: it says which elements its own are made from, and finds
// their owners by the layout, or by a directory of ids.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/mesh/index_map.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

// What this rank has of its target: entry n adds weights[n] times element source[n] to element
// target[n].
struct WantedEntries {
  std::vector<Index> target;   // joint index in this rank's array, row by row
  std::vector<Index> source;   // joint global index, row by row
  std::vector<double> weights; // of each entry, or none: ones
};

// Makes the map, in which elements of the target without entries are zero. Both layouts are on one
// process grid and divide the free dimensions alike. Collective. If `to` is `from` with linked
// halos, the map is a halo exchange, and entries are for ghosts alone. Throws on all ranks alike
// TENON_ERR_LAYOUT if the layouts do not fit each other, TENON_ERR_ARG if an index is out of range.
IndexMapPtr makeIndexMap(Communicator& comm, const Layout& from, const Layout& to,
                         const std::vector<int>& dims, const WantedEntries& wanted);

// The map from a field on the nodes that the ranks own to the same with ghosts behind them:
// dimension 0 is [sum of `owned`], S(0), and each rank has the nodes of `ids` in its array, the
// owned ones first. Collective. Throws as numberRows() does.
IndexMapPtr makeIndexMapFromIds(Communicator& comm, Index owned, const std::vector<Index>& ids);

// What the handle TenonIndexMap points to.
class IndexMapObject : public Object {
public:
  static constexpr const char* kClass = "IndexMap";
  // `ids` are those of the rows that this rank owns, of a map from ids.
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

// The map from the rows of a map from ids to the same in the order of their ids, in balanced parts:
// [rows], S(0), the same on any partition. Collective. Throws TENON_ERR_LAYOUT if `nodes` is no
// such map.
IndexMapPtr makeSortedIndexMap(Communicator& comm, const IndexMapObject& nodes);

} // namespace tenon
