// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark repartition: three ways to change the split of an array [rows, columns, inner]
// of float64 from rows to columns with MPI alone, as a program does by hand. All use derived types
// of subarrays on at least one side.
#pragma once

#include <tenon/mpi.h>

#include <vector>

namespace tenon::bench {

struct Span {
  int begin, count;
};
// Returns part number `part` of a balanced division into `parts` parts, the larger ones first.
Span partOf(int elements, int parts, int part);

// The exchange on one communicator, by several functions of MPI. On each rank the functions read
// x[own rows, columns, inner] and write y[rows, own columns, inner].
class SlabExchange {
public:
  SlabExchange(MPI_Comm comm, int rows, int columns, int inner);
  SlabExchange(const SlabExchange&) = delete;
  SlabExchange& operator=(const SlabExchange&) = delete;
  ~SlabExchange();

  // Calls MPI_Alltoallw on subarrays.
  void allToAll(const double* x, double* y);
  // Calls MPI_Isend and MPI_Irecv on subarrays; the block that stays on the rank is copied row by
  // row.
  void sendSubarrays(const double* x, double* y);
  // Packs blocks row by row and sends them as contiguous memory; they are received as subarrays.
  void packAndSend(const double* x, double* y);

private:
  void receiveAll(double* y);
  void copyOwn(const double* x, double* y) const;
  void waitAll();

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 0, columns_, inner_;
  Span ownRows_{}, ownColumns_{};
  std::vector<MPI_Datatype> sends_, receives_;
  std::vector<std::vector<double>> packed_;
  std::vector<MPI_Request> requests_;
};

} // namespace tenon::bench
