// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark exchange: PETSc's star forest (PetscSF), which copies rows of numbers from
// owned nodes to ghosts, and adds ghosts to their owners. Ghosts follow the owned rows in one
// array.
#pragma once

#include <tenon/mpi.h>

#include <memory>
#include <vector>

namespace tenon::bench {

class StarForest {
public:
  // Ghost i, row `owned` + i of the array, is a copy of row rows[i] of rank ranks[i].
  StarForest(MPI_Comm comm, int owned, const std::vector<int>& ranks, const std::vector<int>& rows,
             int columns);
  ~StarForest();
  void fill(double* array);
  void add(double* array);

private:
  struct Forest;
  std::unique_ptr<Forest> forest_;
};

} // namespace tenon::bench
