// SPDX-License-Identifier: BSD-2-Clause
// For the benchmarks halo and exchange: PETSc's ghost update (DMLocalToLocal, in place) of a
// three-dimensional DMDA with a star stencil, split in its slowest dimension.
#pragma once

#include <tenon/mpi.h>

#include <memory>

namespace tenon::bench {

class DmdaHalo {
public:
  DmdaHalo(MPI_Comm comm, int elements, int channels, int width);
  ~DmdaHalo();
  // The local array [slow, middle, fast, channel] with its ghosts; the caller fills it.
  double* array();
  void run();

private:
  struct Grid;
  std::unique_ptr<Grid> grid_;
};

} // namespace tenon::bench
