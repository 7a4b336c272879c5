// SPDX-License-Identifier: BSD-2-Clause
// Sorts the rows of a mesh by their ids. A row is a cell or a node. The user distributes rows as a
// mesh partitioner has assigned them to ranks; the file has them in the order of ids, in balanced
// blocks. The index map cells_ (or nodes_) takes rows from the first distribution, from(), to the
// second, to(), and IndexMapOp applies it to a tensor.
//
// Corners of cells need two steps. The user gives them as positions in this rank's list of nodes,
// which has owned nodes first and then ghosts (nodes that other ranks own). The file needs their
// numbers in the order of ids (numbersOf()):
//   numbers 0, 1, 2, ... in the sorted order          each rank writes its block
//   -> owned nodes in the order of the partition      transpose of the map that sorts
//   -> this rank's list, ghosts included              the user's map of nodes, a halo exchange
// All functions with a tensor or communicator are collective, except where noted.
#include "io/field_mesh.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "geometry/mesh/edges.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <functional>

namespace tenon {

namespace {

// Whether a layout has the rows of the map's from() layout, with any further dimensions undivided.
// Local.
bool areRowsOf(const IndexMap& map, const Layout& x) {
  return x.shape().front() == map.from().shape().front() &&
         x == rowsLayout(map.from(), {x.shape().begin() + 1, x.shape().end()}) &&
         x.grid() == map.from().grid();
}

// Returns the number of rows that this rank owns. Local.
Index ownedOf(const IndexMapObject& rows) {
  return rows.map()->from().boxOfRank(rows.comm()->rank())[0].size();
}

// Returns a tensor with the same rows in the order of their ids.
Ref<DTensor> sorted(const IndexMapPtr& order, const DTensor& rows) {
  IndexMapOp sort(rows.comm(), order, rows.layout(), rows.dataType(), CarrierPolicy::fromOptions());
  auto result = makeRef<DTensor>(rows.comm(), sort.range(), rows.dataType());
  sort.apply(rows, *result);
  return result;
}

// Returns a tensor [rows, columns], in the distribution of the user, with the values that this rank
// lists for the rows that it owns.
template <class T>
Ref<DTensor> listedRows(const IndexMapObject& rows, Index columns, TenonDataType type,
                        const std::vector<T>& values) {
  auto x = makeRef<DTensor>(rows.comm(), rowsLayout(rows.map()->from(), {columns}), type);
  HostView<T> to(*x);
  for (std::size_t i = 0; i < values.size(); ++i)
    to[static_cast<Index>(i)] = values[i];
  return x;
}

// Returns, for each node in this rank's list, its number in the global order of ids. `order` is the
// map that sorts the nodes.
std::vector<Index> numbersOf(const IndexMapObject& nodes, const IndexMapPtr& order) {
  const CommPtr& comm = nodes.comm();
  const CarrierPolicy policy = CarrierPolicy::fromOptions();
  IndexMapOp sort(comm, order, order->from(), TENON_INT64, policy);
  IndexMapOp fill(comm, nodes.map(), nodes.map()->from(), TENON_INT64, policy);
  const auto numbersInOrder = makeRef<DTensor>(comm, sort.range(), TENON_INT64),
             owned = makeRef<DTensor>(comm, sort.domain(), TENON_INT64),
             listed = makeRef<DTensor>(comm, fill.range(), TENON_INT64);
  {
    HostView<Index> to(*numbersInOrder);
    const Interval ownInterval = numbersInOrder->layout().boxOfRank(comm->rank())[0];
    for (Index n = ownInterval.begin; n < ownInterval.end; ++n)
      to[n - ownInterval.begin] = n;
  }
  sort.applyAdjoint(*numbersInOrder, *owned);
  fill.apply(*owned, *listed);
  const HostView<const Index> from(*listed);
  std::vector<Index> numbers(static_cast<std::size_t>(listed->localElements()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = from[static_cast<Index>(i)];
  return numbers;
}

// Checks the lists of this rank: their communicators, lengths and indices. Local.
void checkLists(const CommPtr& comm, const ListedMesh& mesh, Index space) {
  const MeshShape& shape = meshShape(mesh.shape);
  const Index cells = ownedOf(*mesh.cells);
  for (const Ref<IndexMapObject>* map : {&mesh.cells, &mesh.nodes})
    if (map->get() && (*map)->comm() != comm)
      throw Error(TENON_ERR_ARG, fmt::format("{} and the series of fields are on different "
                                             "communicators; create both on the same one",
                                             (*map)->title()));
  const bool hasNodes = mesh.nodes.get();
  const Index corners = cells * shape.corners;
  if (static_cast<Index>(mesh.corners.size()) != (hasNodes ? corners : 0))
    throw Error(TENON_ERR_ARG,
                hasNodes ? fmt::format("rank {} owns {} of {} corners each, but corner has {} "
                                       "entries; expected {}",
                                       comm->rank(), counted(cells, "cell"), shape.corners,
                                       mesh.corners.size(), corners)
                         : "corner has entries, but nodes is NULL; pass the index map of the "
                           "nodes that the cells share, or no corners");
  const Index places = (hasNodes ? ownedOf(*mesh.nodes) : corners) * space;
  if (static_cast<Index>(mesh.places.size()) != places)
    throw Error(TENON_ERR_ARG,
                fmt::format("places of rank {} has {} numbers; expected {}: {} for each {}",
                            comm->rank(), mesh.places.size(), places, space,
                            hasNodes ? "owned node" : "corner of an owned cell"));
  const Index listed =
      hasNodes ? mesh.nodes->map()->to().boxOfRank(comm->rank())[0].size() : Index(0);
  for (std::size_t i = 0; i < mesh.corners.size(); ++i)
    if (mesh.corners[i] < 0 || mesh.corners[i] >= listed)
      throw Error(TENON_ERR_ARG,
                  fmt::format("corner[{}] of rank {} is {}, but its list of nodes has {}; pass "
                              "positions in the list of TenonIndexMapCreateFromIds(), not ids",
                              i, comm->rank(), mesh.corners[i], listed));
}

} // namespace

FieldMesh::FieldMesh(const CommPtr& comm, const ListedMesh& mesh, int space)
    : shape_(collectively(
          *comm, /*what=*/"the mesh of the fields",
          /*body=*/
          [&]() -> std::reference_wrapper<const MeshShape> {
            checkLists(comm, mesh, space);
            return meshShape(mesh.shape);
          },
          /*describe=*/ // the text must be the same on all ranks
          [&](const MeshShape& shape) {
            return fmt::format("{} {}", shape.name, mesh.nodes.get() ? "with nodes" : "alone");
          })) {
  cells_ = makeSortedIndexMap(*comm, *mesh.cells);
  if (mesh.nodes.get())
    nodes_ = makeSortedIndexMap(*comm, *mesh.nodes);
  places_ = sortedPlaces(mesh, space);
  corners_ = sortedCorners(mesh);
}

// Returns the coordinates of all points in the order of the file: [nodes, space], or without nodes
// [cells * corners, space].
Ref<DTensor> FieldMesh::sortedPlaces(const ListedMesh& mesh, int space) const {
  if (nodes_)
    return sorted(nodes_, *listedRows(*mesh.nodes, space, TENON_FLOAT64, mesh.places));
  // The corners of a cell are adjacent, so [cells, corners * space] becomes [cells * corners,
  // space].
  const Index corners = shape_.corners;
  const Ref<DTensor> rows =
      sorted(cells_, *listedRows(*mesh.cells, corners * space, TENON_FLOAT64, mesh.places));
  // Each cell becomes `corners` rows on the same rank, so the boundaries between ranks are
  // multiplied.
  LayoutSpec spec = cells_->to().spec();
  std::vector<Index> cuts = cells_->to().cuts(0);
  for (Index& cut : cuts)
    cut *= corners;
  spec.shape = {cuts.back()};
  spec.cuts = {cuts};
  auto places =
      makeRef<DTensor>(mesh.cells->comm(), rowsLayout(Layout(spec), {space}), TENON_FLOAT64);
  const HostView<const double> from(*rows);
  HostView<double> to(*places);
  for (Index i = 0; i < places->localElements(); ++i)
    to[i] = from[i];
  return places;
}

// Returns [cells, corners]: for each corner of each cell its row in sortedPlaces().
Ref<DTensor> FieldMesh::sortedCorners(const ListedMesh& mesh) const {
  const Index corners = shape_.corners;
  if (nodes_) {
    const std::vector<Index> numbers = numbersOf(*mesh.nodes, nodes_);
    std::vector<Index> cornerNumbers;
    for (Index corner : mesh.corners)
      cornerNumbers.push_back(numbers[static_cast<std::size_t>(corner)]);
    return sorted(cells_, *listedRows(*mesh.cells, corners, TENON_INT64, cornerNumbers));
  }
  // Without nodes, corner k of cell c has its own point c * corners + k.
  auto cornerNumbers =
      makeRef<DTensor>(mesh.cells->comm(), rowsLayout(cells_->to(), {corners}), TENON_INT64);
  HostView<Index> to(*cornerNumbers);
  const Index first =
      cornerNumbers->layout().boxOfRank(mesh.cells->comm()->rank())[0].begin * corners;
  for (Index i = 0; i < cornerNumbers->localElements(); ++i)
    to[i] = first + i;
  return cornerNumbers;
}

FieldMesh::Rows FieldMesh::rowsOf(const DTensor& field, bool prefersCells) const {
  const Layout& layout = field.layout();
  const bool ofCells = areRowsOf(*cells_, layout), ofNodes = nodes_ && areRowsOf(*nodes_, layout);
  if (!ofCells && !ofNodes)
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} is {}, but the mesh has cells in {}{}; pass a tensor in the layout "
                            "without ghosts of their index map",
                            field.title(), layout.describe(), cells_->from().describe(),
                            nodes_ ? " and nodes in " + nodes_->from().describe() : ""));
  const bool areNodes = ofNodes && !(ofCells && prefersCells);
  return {areNodes ? nodes_ : cells_, areNodes};
}

std::string FieldMesh::describe() const {
  return counted(cells_->from().shape().front(), "cell") +
         (nodes_ ? ", " + counted(nodes_->from().shape().front(), "node") : "");
}

} // namespace tenon
