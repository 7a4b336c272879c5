// SPDX-License-Identifier: BSD-2-Clause
// PETSc's ghost update of a DMDA as a peer of Tenon's halo exchange (dmda_peer.hpp). The local
// vector has the ghosts already, so the update changes one array in place.
#include "bench/dmda_peer.hpp"

#include <petscdmda.h>

#include <stdexcept>

namespace tenon::bench {

namespace {

void checkGrid(PetscErrorCode code) {
  if (code != 0)
    throw std::runtime_error("a call of PETSc failed");
}

} // namespace

struct DmdaHalo::Grid {
  DM grid = nullptr;
  Vec values = nullptr;
};

DmdaHalo::DmdaHalo(MPI_Comm comm, int elements, int channels, int width)
    : grid_(std::make_unique<Grid>()) {
  PetscBool running = PETSC_FALSE;
  checkGrid(PetscInitialized(&running));
  if (!running)
    checkGrid(PetscInitializeNoArguments());
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  checkGrid(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_STAR, elements, elements, elements, 1, 1, ranks, channels,
                         width, nullptr, nullptr, nullptr, &grid_->grid));
  checkGrid(DMSetUp(grid_->grid));
  checkGrid(DMCreateLocalVector(grid_->grid, &grid_->values));
}

DmdaHalo::~DmdaHalo() {
  VecDestroy(&grid_->values);
  DMDestroy(&grid_->grid);
}

// The address stays valid after VecRestoreArray(), as long as the vector exists.
double* DmdaHalo::array() {
  double *array = nullptr, *lent = nullptr;
  checkGrid(VecGetArray(grid_->values, &array));
  lent = array;
  checkGrid(VecRestoreArray(grid_->values, &lent));
  return array;
}

void DmdaHalo::run() {
  checkGrid(DMLocalToLocalBegin(grid_->grid, grid_->values, INSERT_VALUES, grid_->values));
  checkGrid(DMLocalToLocalEnd(grid_->grid, grid_->values, INSERT_VALUES, grid_->values));
}

} // namespace tenon::bench
