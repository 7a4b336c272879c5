// SPDX-License-Identifier: BSD-2-Clause
#include "comm/partition.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

Partition::Partition(CommPtr comm, MeshPtr mesh)
    : Object(kClass), comm_(std::move(comm)), mesh_(std::move(mesh)) {
  for (int rank : mesh_->ranks())
    if (rank >= comm_->size())
      throw Error(
          TENON_ERR_ARG,
          fmt::format(
              "the process grid {} contains rank {}, but the communicator has ranks 0 to {}",
              mesh_->describe(), rank, comm_->size() - 1));
}

MPI_Comm Partition::axisComm(int axis) {
  lines_.resize(mesh_->axes());
  if (!lines_[axis])
    lines_[axis] = lineComm(*comm_, *mesh_, {axis}, AxisUse::Callers);
  return lines_[axis]->mpi();
}

SubCommPtr lineComm(Communicator& comm, const Mesh& mesh, const std::vector<int>& axes,
                    AxisUse use) {
  std::vector<int> name = {static_cast<int>(use), static_cast<int>(axes.size())};
  for (const std::vector<int>& part : {axes, mesh.extents(), mesh.ranks()})
    name.insert(name.end(), part.begin(), part.end());
  const int here = mesh.position(comm.rank());
  if (here < 0)
    return comm.split(name, MPI_UNDEFINED, 0);
  std::vector<int> line = mesh.coordinates(here);
  for (int axis : axes)
    line[axis] = 0;
  return comm.split(name, mesh.positionAt(line), mesh.coordinateOn(here, axes));
}

} // namespace tenon
