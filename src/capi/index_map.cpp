// SPDX-License-Identifier: BSD-2-Clause
// TenonIndexMap, a sparse linear map between two distributed arrays: y[target] += weight x[source],
// and the linear operator of a map. Each rank lists the entries of the map that produce its own
// elements of y.
//   CreateFromIds   from a field on owned nodes of an unstructured mesh to the same field with
//                   ghosts (copies of other ranks' nodes): each rank lists the ids of its owned
//                   nodes, then those of its ghosts
//   CreateSorted    from that field on owned nodes to the same nodes in the order of their ids, for
//                   files
//   CreateCells     between any two layouts, with entries (target, source, weight)
// All three are collective. The lists differ between ranks and are not compared. They are copied
// and checked in collective bodies, so an invalid list on one rank is an error on all ranks.
//
// Example of ids: rank 0 owns nodes 10 and 11 and needs node 12 of rank 1 as a ghost; it passes
// owned = 2, ids = {10, 11, 12}. The calls are declared in tenon/index_map.h.
#include "capi/linearop/create.hpp"

#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_index_map.hpp"

#include <tenon/index_map.h>

#include <fmt/ranges.h>

#include <numeric>

using namespace tenon;

namespace {

// Creates the object and its handle; `ids` are the ids of the owned nodes, which CreateSorted
// needs.
void createMap(const CommPtr& comm, TenonIndexMap* map, const IndexMapPtr& indexMap,
               std::vector<Index> ids = {}) {
  auto object =
      collectively(*comm, [&] { return makeRef<IndexMapObject>(comm, indexMap, std::move(ids)); });
  giveHandle(map, std::move(object));
}

// Converts one flag per dimension to the list of joint dimensions: {0, 0, 1, 1} to {2, 3}. Indices
// of entries count the elements of all joint dimensions together, row-major; the map is the same
// for each index of the other dimensions.
std::vector<int> jointDims(const int* joint, int rank) {
  std::vector<int> dims;
  const std::vector<int> flags = listOf(joint, rank, "joint");
  for (int d = 0; d < rank; ++d) {
    if (flags[d] != 0 && flags[d] != 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("joint[{}] is {}; pass 1 for a joint dimension and 0 for another", d,
                              flags[d]));
    if (flags[d] == 1)
      dims.push_back(d);
  }
  if (dims.empty())
    throw Error(TENON_ERR_ARG, "no dimension is joint; set joint to 1 for those whose indices the "
                               "entries are of");
  return dims;
}

} // namespace

TenonErrorCode TenonIndexMapCreateFromIds(MPI_Comm comm, TenonInt owned, TenonInt count,
                                          const TenonInt ids[], TenonIndexMap* map) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr communicator = Communicator::of(comm);
    std::vector<Index> list = collectively(*communicator, [&] {
      required(map, "map");
      if (owned < 0 || owned > count)
        throw Error(TENON_ERR_ARG,
                    fmt::format("owned is {} and count {}; of the ids of a rank the first "
                                "`owned` are its own, so pass 0 to count",
                                owned, count));
      return listOf(ids, count, "ids");
    });
    const IndexMapPtr indexMap = makeIndexMapFromIds(*communicator, owned, list);
    // Only the ids of owned nodes are stored. CreateSorted needs each node once, from its owner; a
    // ghost is a copy of a node that another rank owns.
    list.resize(static_cast<std::size_t>(owned));
    createMap(communicator, map, indexMap, std::move(list));
  });
}

TenonErrorCode TenonIndexMapCreateSorted(TenonIndexMap nodes, TenonIndexMap* sorted) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("nodes", nodes);
    const IndexMapObject* from = collectively(*comm, [&] {
      required(sorted, "sorted");
      return &deref(nodes, "nodes");
    });
    createMap(comm, sorted, makeSortedIndexMap(*comm, *from));
  });
}

TenonErrorCode TenonIndexMapCreateCells(TenonLayout from, TenonLayout to, const int joint[],
                                        TenonInt count, const TenonInt target[],
                                        const TenonInt source[], const double weights[],
                                        TenonIndexMap* map) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("from", from, to);
    struct Arguments {
      Layout from, to;
      std::vector<int> dims;
      WantedEntries entries;
    };
    const Arguments arguments = collectively(*comm, [&] {
      required(map, "map");
      const LayoutObject &first = deref(from, "from"), &second = deref(to, "to");
      if (first.comm() != second.comm())
        throw Error(TENON_ERR_ARG, "from and to are on different communicators; create both on one "
                                   "that holds the ranks of both");
      return Arguments{first.layout(),
                       second.layout(),
                       jointDims(joint, first.ndim()),
                       {listOf(target, count, "target"), listOf(source, count, "source"),
                        weights ? listOf(weights, count, "weights") : std::vector<double>()}};
    });
    createMap(comm, map,
              makeIndexMap(*comm, arguments.from, arguments.to, arguments.dims, arguments.entries));
  });
}

// `shape` has the extents of the tensors, 0 for joint dimensions, whose extents are those of the
// map. For a map from ids, the domain has the owned nodes, and the range has the ghosts too. For
// fields with 8 channels, for example, pass {0, 8}.
TenonErrorCode TenonIndexMapGetLayouts(TenonIndexMap map, int ndim, const TenonInt shape[],
                                       TenonLayout* domain, TenonLayout* range) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("map", map);
    // Both layouts are made in one body, so a failure leaves none of them behind.
    auto layouts = collectively(
        *comm, "the shape",
        [&] {
          required(domain, "domain");
          required(range, "range");
          const auto [from, to] = deref(map, "map").map()->layoutsOf(listOf(shape, ndim, "shape"));
          return std::pair(makeRef<LayoutObject>(comm, from), makeRef<LayoutObject>(comm, to));
        },
        [](const auto& pair) {
          return pair.first->layout().describe() + pair.second->layout().describe();
        });
    giveHandle(domain, std::move(layouts.first));
    giveHandle(range, std::move(layouts.second));
  });
}

TenonErrorCode TenonLinearOpCreateIndexMap(TenonIndexMap map, TenonLayout domain,
                                           TenonDataType type, TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    checkInitialized();
    const CommPtr comm = commOf("map", map, domain);
    createOp(*comm, op, "op", [&] {
      const IndexMapObject& lists = deref(map, "map");
      const LayoutObject& layout = deref(domain, "domain");
      if (lists.comm() != layout.comm())
        throw Error(TENON_ERR_ARG,
                    "map and domain are on different communicators; create both on one");
      return LinearOpRef(makeRef<IndexMapOp>(comm, lists.map(), layout.layout(), type,
                                             CarrierPolicy::fromOptions()));
    });
  });
}

TenonErrorCode TenonIndexMapDestroy(TenonIndexMap* map) noexcept {
  return guard(__func__, [&] { destroy(map, "map"); });
}
