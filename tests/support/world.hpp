// SPDX-License-Identifier: BSD-2-Clause
// The world communicator as the library sees it, for tests that run on all ranks.
#pragma once

#include "comm/communicator.hpp"

namespace tenon::test {

inline CommPtr world() {
  return Communicator::of(MPI_COMM_WORLD);
}

} // namespace tenon::test
