// SPDX-License-Identifier: BSD-2-Clause
// Lists of all ranks, gathered on each rank, for tests that write an operator out as a matrix
// between the memories of all ranks.
#pragma once

#include "support/world.hpp"

#include <numeric>
#include <type_traits>
#include <vector>

namespace tenon::test {

template <class T>
MPI_Datatype mpiType() {
  return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
}

// Returns the lists of all ranks, on each rank.
template <class T>
std::vector<std::vector<T>> ofAllRanks(const std::vector<T>& local) {
  const int size = world()->size();
  std::vector<int> counts(size), begins(size + 1, 0);
  const int count = static_cast<int>(local.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  std::vector<T> joined(static_cast<std::size_t>(begins.back()));
  MPI_Allgatherv(local.data(), count, mpiType<T>(), joined.data(), counts.data(), begins.data(),
                 mpiType<T>(), MPI_COMM_WORLD);
  std::vector<std::vector<T>> all;
  for (int rank = 0; rank < size; ++rank)
    all.emplace_back(joined.begin() + begins[rank], joined.begin() + begins[rank + 1]);
  return all;
}

} // namespace tenon::test
