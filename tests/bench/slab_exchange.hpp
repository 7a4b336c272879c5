// SPDX-License-Identifier: BSD-2-Clause
// What a program does by hand, with MPI alone, to turn an array [rows, columns, inner] of float64
// that is split by rows into one that is split by columns: three ways, all with derived types of
// subarrays on at least one side.
#pragma once

#include <tenon/mpi.h>

#include <vector>

namespace tenon::bench {

// Balanced parts, the larger ones first.
struct Span {
  int begin, count;
};
Span partOf(int elements, int parts, int part);

class SlabExchange {
public:
  SlabExchange(MPI_Comm comm, int rows, int columns, int inner);
  SlabExchange(const SlabExchange&) = delete;
  SlabExchange& operator=(const SlabExchange&) = delete;
  ~SlabExchange();

  // MPI_Alltoallw of subarrays.
  void allToAll(const double* x, double* y);
  // MPI_Isend and MPI_Irecv of subarrays; what stays is copied row by row.
  void sendSubarrays(const double* x, double* y);
  // What leaves is packed row by row and sent as one piece of memory, which is received in the
  // column blocks of a subarray.
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
