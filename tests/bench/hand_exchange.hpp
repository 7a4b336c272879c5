// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark exchange: rows of numbers from owned nodes to ghosts, and sums of ghosts at
// their owners, as a program does by hand with MPI alone. Receives are started first, sends as soon
// as they are packed, and messages are taken in the order in which they arrive.
#pragma once

#include <tenon/mpi.h>

#include <vector>

namespace tenon::bench {

class HandExchange {
public:
  // Ghost i, row `owned` + i of the array, is a copy of row rows[i] of rank ranks[i]. The ghosts
  // are in the order of their ranks.
  HandExchange(MPI_Comm comm, int owned, const std::vector<int>& ranks,
               const std::vector<int>& rows, int columns);
  HandExchange(const HandExchange&) = delete;
  HandExchange& operator=(const HandExchange&) = delete;
  ~HandExchange();

  void fill(double* array);
  // The same, but MPI packs: the rows of a message are an indexed MPI datatype.
  void fillByTypes(double* array);
  void add(double* array);

private:
  // The rows that another rank has as ghosts, and a buffer for them.
  struct Owned {
    int rank;
    std::vector<int> rows;
    std::vector<double> buffer;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  // Consecutive ghosts that another rank owns.
  struct Ghosts {
    int rank, first, count; // of rows
  };
  void receiveGhosts(double* array);
  void waitAll();

  MPI_Comm comm_;
  int columns_;
  std::vector<Owned> owned_;
  std::vector<Ghosts> ghosts_;
  std::vector<MPI_Request> sends_, receives_;
};

} // namespace tenon::bench
