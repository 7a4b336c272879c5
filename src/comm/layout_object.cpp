// SPDX-License-Identifier: BSD-2-Clause
// Sets up layouts that are the same on all ranks. Each rank specifies its draft without
// communication, so setUp() compares the layouts as text and fails on all ranks if they differ: a
// difference found later would be a hang.
#include "comm/layout_object.hpp"

#include "comm/agreement/agreement.hpp"
#include "geometry/layout/from_boxes.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

const Layout& LayoutObject::layout() const {
  if (!layout_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is not set up; call TenonLayoutSetUp() first", title()));
  return *layout_;
}

std::string LayoutObject::describe() const {
  return fmt::format("{}: {}", headingOf(*this), layout_ ? layout_->describe() : "not set up");
}

void LayoutObject::checkOpen() const {
  if (layout_)
    throw Error(TENON_ERR_STATE,
                fmt::format("{} is set up and cannot be changed; create another one", title()));
}

void LayoutObject::setUp() {
  if (layout_)
    return;
  layout_ = collectively(
      *comm_, "the layout",
      [&] {
        failedSets_.check();
        return draft_->build();
      },
      [](const Layout& layout) { return layout.describe(); });
  draft_.reset();
  changed();
}

Layout gatherBoxes(Communicator& comm, const Box& mine, const std::optional<Shape>& shape) {
  // The shape and the dimension of the boxes are agreed on first, since the all-gather expects
  // boxes of one size from all ranks.
  std::vector<Interval> bounds = collectively(
      comm, "the shape", [&] { return std::vector<Interval>(mine.size() * comm.size()); },
      [&](const auto&) {
        return fmt::format("{}, boxes in {} dimensions",
                           shape ? fmt::format("[{}]", fmt::join(*shape, ",")) : "none",
                           mine.size());
      });
  const int count = static_cast<int>(mine.size() * sizeof(Interval));
  checkMpi(MPI_Allgather(mine.data(), count, MPI_BYTE, bounds.data(), count, MPI_BYTE, comm.mpi()),
           "MPI_Allgather");
  return collectively(comm, [&] {
    std::vector<Box> boxes;
    for (int r = 0; r < comm.size(); ++r)
      boxes.emplace_back(bounds.begin() + r * mine.size(), bounds.begin() + (r + 1) * mine.size());
    return layoutFromBoxes(boxes, shape);
  });
}

} // namespace tenon
