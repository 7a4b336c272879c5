// SPDX-License-Identifier: BSD-2-Clause
// FFTW-MPI's own change of slabs: [rows, columns, inner] split by rows becomes the same array split
// by columns (its transpose with FFTW_MPI_TRANSPOSED_OUT). It works on arrays of its own.
#pragma once

#include <tenon/mpi.h>

#include <memory>

namespace tenon::bench {

class FftwSlabs {
public:
  FftwSlabs(MPI_Comm comm, int rows, int columns, int inner);
  ~FftwSlabs();
  double* input();
  const double* output() const;
  void run();

private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

} // namespace tenon::bench
