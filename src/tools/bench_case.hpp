// SPDX-License-Identifier: BSD-2-Clause
// The movements that `tenon bench` times, each with the MPI call that does the same.
#pragma once

#include "tools/layout_spec.hpp"

#include <functional>

namespace tenon::tools {

struct BenchCase {
  const char* name;
  LayoutSpec from, to;
  const char* peerName;
  // Moves this rank's cells in `from` to its cells in `to` by MPI's own means.
  std::function<void(const double* x, double* y)> peer;
};

// Bytes of the larger of the two on the rank that holds most: it must read or write them.
double bytesOf(const BenchCase& bench);

// With tensors of about so many bytes on the rank that holds most. Collective.
std::vector<BenchCase> benchCases(Index bytes);

} // namespace tenon::tools
