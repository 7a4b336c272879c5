// SPDX-License-Identifier: BSD-2-Clause
// Executes a schedule, forward or transposed, between two local arrays of any strides.
// Contributions are combined in the order of the ranks, so that copies of a sum are equal bit by
// bit.
#pragma once

#include "comm/exchange.hpp"
#include "dtensor/dtensor.hpp"
#include "geometry/schedule.hpp"
#include "kernels/block_copy.hpp"

#include <optional>

namespace tenon {

class ScheduleExecutor {
public:
  ScheduleExecutor(CommPtr comm, const Schedule& schedule, TenonDataType type,
                   const std::string& owner);

  // y <- C x. With Combine::Max cells that several ranks contribute to get the largest value
  // instead of the sum; every target cell must then be contributed to.
  void forward(const DTensor& x, DTensor& y, Combine combine = Combine::Add) {
    run(forward_, x, y, combine);
  }
  // y <- C^T x: sources and targets exchanged.
  void transpose(const DTensor& x, DTensor& y) { run(transpose_, x, y, Combine::Add); }

  Index bufferBytes() const noexcept { return sourceSide_.bytes() + targetSide_.bytes(); }

private:
  // One box of cells on one side: of the local array that is packed, or of the one that is filled.
  struct Region {
    std::array<Index, kMaxRank> extent{}, begin{}, step{};
    Index cells = 0;
  };
  // What is exchanged with one rank. The rank's own part is copied directly, without a message.
  struct Part {
    int message = -1;
    Index offset = 0; // bytes in the buffer
    std::vector<Region> from, to;
    bool coversTarget = false;
  };
  struct Direction {
    std::vector<Part> packs, unpacks;
    std::optional<Exchange> exchange;
    std::byte* sendBuffer = nullptr;
    std::byte* receiveBuffer = nullptr;
    bool sums = false;     // target cells may get several addends
    bool fillsAll = false; // every target cell gets one
  };

  enum class Sense { Forward, Transposed };
  Part makePart(const Transfer& transfer, Sense sense) const;
  Direction makeDirection(const Schedule& schedule, Sense sense, int tag);
  void run(Direction& direction, const DTensor& x, DTensor& y, Combine combine);
  template <class T>
  void runTyped(Direction& direction, const DTensor& x, DTensor& y, Combine combine);

  CommPtr comm_;
  Index size_;
  Buffer sourceSide_, targetSide_;
  Direction forward_, transpose_;
};

} // namespace tenon
