// SPDX-License-Identifier: BSD-2-Clause
// Ranks of a communicator arranged as a Cartesian mesh. Ranks outside the mesh hold the object too
// and take part in its collective calls.
#pragma once

#include "comm/communicator.hpp"
#include "geometry/mesh.hpp"
#include "sys/errors/object.hpp"

namespace tenon {

class Partition : public Object {
public:
  static constexpr const char* kClass = "Partition";
  Partition(CommPtr comm, MeshPtr mesh);

  const CommPtr& comm() const noexcept { return comm_; }
  const MeshPtr& meshPtr() const noexcept { return mesh_; }
  const Mesh& mesh() const noexcept { return *mesh_; }
  int position() const { return mesh_->position(comm_->rank()); }

  // See below; the caller may communicate on it as long as the partition lives.
  MPI_Comm axisComm(int axis);

private:
  CommPtr comm_;
  MeshPtr mesh_;
  std::vector<SubCommPtr> lines_; // by axis, once asked for
};

// The library's own collectives must not meet those of a caller on one communicator.
enum class AxisUse { Callers, Library };

// The ranks that differ from this one along these axes alone, by coordinates, the first axis slowest;
// MPI_COMM_NULL outside the mesh. Collective over comm where it keeps none for the mesh, axes and use.
SubCommPtr lineComm(Communicator& comm, const Mesh& mesh, const std::vector<int>& axes,
                    AxisUse use);

} // namespace tenon
