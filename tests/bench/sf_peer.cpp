// SPDX-License-Identifier: BSD-2-Clause
// PETSc's star forest (PetscSF) as a peer of Tenon's index maps (sf_peer.hpp). The unit that it
// sends is a row of numbers, a contiguous MPI type; for one column it must be MPI_DOUBLE itself,
// because PetscSF cannot sum contiguous types of one number.
#include "bench/sf_peer.hpp"

#include <petscsf.h>

#include <stdexcept>

namespace tenon::bench {

namespace {

void checkForest(PetscErrorCode code) {
  if (code != 0)
    throw std::runtime_error("a call of PETSc failed");
}

} // namespace

struct StarForest::Forest {
  PetscSF forest = nullptr;
  MPI_Datatype row = MPI_DATATYPE_NULL;
  int owned = 0, columns = 0;
};

StarForest::StarForest(MPI_Comm comm, int owned, const std::vector<int>& ranks,
                       const std::vector<int>& rows, int columns)
    : forest_(std::make_unique<Forest>()) {
  PetscBool running = PETSC_FALSE;
  checkForest(PetscInitialized(&running));
  if (!running)
    checkForest(PetscInitializeNoArguments());
  forest_->owned = owned;
  forest_->columns = columns;
  std::vector<PetscSFNode> roots;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    PetscSFNode root{};
    root.rank = ranks[i];
    root.index = rows[i];
    roots.push_back(root);
  }
  checkForest(PetscSFCreate(comm, &forest_->forest));
  checkForest(PetscSFSetGraph(forest_->forest, owned, static_cast<PetscInt>(roots.size()), nullptr,
                              PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  checkForest(PetscSFSetUp(forest_->forest));
  forest_->row = MPI_DOUBLE;
  if (columns > 1) {
    MPI_Type_contiguous(columns, MPI_DOUBLE, &forest_->row);
    MPI_Type_commit(&forest_->row);
  }
}

StarForest::~StarForest() {
  PetscSFDestroy(&forest_->forest);
  if (forest_->columns > 1)
    MPI_Type_free(&forest_->row);
}

void StarForest::fill(double* array) {
  double* ghosts = array + static_cast<std::size_t>(forest_->owned) * forest_->columns;
  checkForest(PetscSFBcastBegin(forest_->forest, forest_->row, array, ghosts, MPI_REPLACE));
  checkForest(PetscSFBcastEnd(forest_->forest, forest_->row, array, ghosts, MPI_REPLACE));
}

void StarForest::add(double* array) {
  const double* ghosts = array + static_cast<std::size_t>(forest_->owned) * forest_->columns;
  checkForest(PetscSFReduceBegin(forest_->forest, forest_->row, ghosts, array, MPI_SUM));
  checkForest(PetscSFReduceEnd(forest_->forest, forest_->row, ghosts, array, MPI_SUM));
}

} // namespace tenon::bench
