// SPDX-License-Identifier: BSD-2-Clause
// A stand-in for MFEM: linear elements on a line, r + 2 of them on rank r. Dofs are numbered from
// right to left; the rank before owns the leftmost one.
#pragma once
#include <mpi.h>

#include <vector>

namespace mfem {

class ParFiniteElementSpace {
public:
  explicit ParFiniteElementSpace(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    for (int r = 0; r < rank_; ++r)
      first_ += r + 2;
  }
  MPI_Comm GetComm() const { return comm_; }
  int GetVSize() const { return rank_ + 3; }
  int GetTrueVSize() const { return rank_ + (rank_ == 0 ? 3 : 2); }
  int GetLocalTDofNumber(int dof) const { return dof < GetTrueVSize() ? dof : -1; }
  int GetGlobalTDofNumber(int dof) const { return first_ + GetVSize() - 1 - dof; }

private:
  MPI_Comm comm_;
  int rank_ = 0, first_ = 0;
};

class HypreParVector {
public:
  explicit HypreParVector(const ParFiniteElementSpace* space)
      : values_(static_cast<std::size_t>(space->GetTrueVSize())) {}
  double* GetData() const { return const_cast<double*>(values_.data()); }
  int Size() const { return static_cast<int>(values_.size()); }

private:
  std::vector<double> values_;
};

} // namespace mfem
