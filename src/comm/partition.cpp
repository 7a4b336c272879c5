// SPDX-License-Identifier: BSD-2-Clause
#include "comm/partition.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>

namespace tenon {

Partition::Partition(CommPtr comm, MeshPtr mesh)
    : Object(kClass), comm_(std::move(comm)), mesh_(std::move(mesh)) {
  for (int rank : mesh_->ranks())
    if (rank >= comm_->size())
      throw Error(TENON_ERR_ARG,
                  fmt::format("the mesh {} names rank {}, but the communicator has ranks 0 to {}",
                              mesh_->describe(), rank, comm_->size() - 1));
}

MPI_Comm Partition::axisComm(int axis) {
  std::vector<int> name = {axis};
  name.insert(name.end(), mesh_->extents().begin(), mesh_->extents().end());
  name.insert(name.end(), mesh_->ranks().begin(), mesh_->ranks().end());
  const int here = position();
  if (here < 0)
    return comm_->split(name, MPI_UNDEFINED, 0);
  std::vector<int> line = mesh_->coordinates(here);
  const int coordinate = line[axis];
  line[axis] = 0;
  return comm_->split(name, mesh_->positionAt(line), coordinate);
}

} // namespace tenon
