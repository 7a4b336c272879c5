// SPDX-License-Identifier: BSD-2-Clause
// The transpose of FFTW-MPI as a peer of Tenon's repartition (fftw_peer.hpp): an array [rows,
// columns, inner] is split by rows before and by columns after. Ranks have blocks of ceil(rows /
// ranks) rows.
#include "bench/fftw_peer.hpp"

#include <fftw3-mpi.h>

namespace tenon::bench {

struct FftwSlabs::Plan {
  fftw_plan plan = nullptr;
  double *x = nullptr, *y = nullptr;
};

FftwSlabs::FftwSlabs(MPI_Comm comm, int rows, int columns, int inner)
    : plan_(std::make_unique<Plan>()) {
  fftw_mpi_init();
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  const ptrdiff_t rowBlock = (rows + ranks - 1) / ranks,
                  columnBlock = (columns + ranks - 1) / ranks;
  plan_->x = fftw_alloc_real(rowBlock * columns * inner);
  plan_->y = fftw_alloc_real(columnBlock * rows * inner);
  plan_->plan =
      fftw_mpi_plan_many_transpose(rows, columns, inner, rowBlock, columnBlock, plan_->x, plan_->y,
                                   comm, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
}

FftwSlabs::~FftwSlabs() {
  fftw_destroy_plan(plan_->plan);
  fftw_free(plan_->x);
  fftw_free(plan_->y);
}

double* FftwSlabs::input() {
  return plan_->x;
}

const double* FftwSlabs::output() const {
  return plan_->y;
}

void FftwSlabs::run() {
  fftw_execute(plan_->plan);
}

} // namespace tenon::bench
