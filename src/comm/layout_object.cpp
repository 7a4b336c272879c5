// SPDX-License-Identifier: BSD-2-Clause
#include "comm/layout_object.hpp"

#include "comm/agreement.hpp"
#include "geometry/from_boxes.hpp"

#include <fmt/format.h>

namespace tenon {

Layout gatherBoxes(Communicator& comm, const Box& mine) {
  agreeOnText(comm, "the number of dimensions", fmt::format("{}", mine.size()));
  std::vector<Interval> all(mine.size() * comm.size());
  const int count = static_cast<int>(mine.size() * sizeof(Interval));
  checkMpi(MPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm.mpi()),
           "MPI_Allgather");
  std::vector<Box> boxes;
  for (int r = 0; r < comm.size(); ++r)
    boxes.emplace_back(all.begin() + r * mine.size(), all.begin() + (r + 1) * mine.size());
  return collectively(comm, [&] { return layoutFromBoxes(boxes); });
}

} // namespace tenon
