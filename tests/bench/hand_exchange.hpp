// SPDX-License-Identifier: BSD-2-Clause
// For the benchmark exchange: rows of numbers from owned nodes to ghosts, and sums of ghosts at
// their owners, as a program does by hand with MPI alone. Receives are started first, sends as soon
// as they are packed, and messages are taken in the order in which they arrive. Several arrays
// share one packed message for each neighbour.
#pragma once

#include <tenon/mpi.h>

#include <vector>

namespace tenon::bench {

class HandExchange {
public:
  // Ghost i, row `owned` + i of the array, is a copy of row rows[i] of rank ranks[i]. The ghosts
  // are in the order of their ranks. A message has room for as many arrays as there are fields.
  HandExchange(MPI_Comm comm, int owned, const std::vector<int>& ranks,
               const std::vector<int>& rows, int columns, int fields = 1);
  HandExchange(const HandExchange&) = delete;
  HandExchange& operator=(const HandExchange&) = delete;
  ~HandExchange();

  void fill(double* array);
  // The same, but MPI packs: the rows of a message are an indexed MPI datatype.
  void fillByTypes(double* array);
  void add(double* array);
  // The same for the arrays of all fields, through buffers on both sides.
  void fillTogether(const std::vector<double*>& arrays);
  void addTogether(const std::vector<double*>& arrays);

private:
  // The rows that another rank has as ghosts, and a buffer for them.
  struct Owned {
    int rank;
    std::vector<int> rows;
    std::vector<double> buffer;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  // Consecutive ghosts that another rank owns, and a buffer for those of all fields.
  struct Ghosts {
    int rank, first, count; // of rows
    std::vector<double> buffer = {};
  };
  double* pack(const Owned& to, const double* array, double* packed) const;
  const double* addRows(const Owned& to, double* array, const double* packed) const;
  void receiveGhosts(double* array);
  template <class Part>
  void receiveBuffers(std::vector<Part>& parts);
  template <class Part>
  void send(Part& part);
  int nextReceived();
  void waitAll();

  MPI_Comm comm_;
  int columns_, fields_;
  std::vector<Owned> owned_;
  std::vector<Ghosts> ghosts_;
  std::vector<MPI_Request> sends_, receives_;
};

} // namespace tenon::bench
