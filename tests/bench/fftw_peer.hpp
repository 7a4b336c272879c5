// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark repartition: the transpose of FFTW-MPI, which changes the split of an array
// [rows, columns, inner] from rows to columns (with FFTW_MPI_TRANSPOSED_OUT). It uses its own
// arrays.
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
