// SPDX-License-Identifier: BSD-2-Clause
// Executes a schedule, forward or transposed, between two local arrays of any strides:
//     y <- alpha C x + beta y.
// Contributions are combined in the order of the ranks, so that copies of a sum are equal bit by
// bit. begin() packs and sends, end() receives and combines; the rank's own part is read from x at
// the end.
//
// In place, x and y lie in one array, such that a cell that the rank keeps has one address in both:
// it is left alone, and counts as the first contribution. So is a cell whose value is the caller's.
//
// Bound to two arrays, messages use persistent requests, and what lies contiguous in an array is
// sent from it, or received into it, without a copy.
#pragma once

#include "comm/exchange.hpp"
#include "geometry/schedule.hpp"
#include "kernels/block_copy.hpp"
#include "linop/action.hpp"

#include <memory>
#include <optional>

namespace tenon {

class ScheduleExecutor {
public:
  ScheduleExecutor(CommPtr comm, const Schedule& schedule, TenonDataType type,
                   const std::string& owner);

  void begin(const Action& action);
  // With Combine::Max, for plain actions, cells that several ranks contribute to get the largest
  // value instead of the sum; every target cell must then be contributed to.
  void end(const Action& action, Combine combine = Combine::Add);

  // Whether x and y of the action lie in one array as above.
  bool isInPlace(const Action& action) const;

  void bind(Sense sense, DTensor& x, DTensor& y);
  void unbind();

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
  // The messages of two fixed arrays. direct[i]: message i lies in the array, not in the buffer.
  struct Binding {
    Ref<DTensor> x, y;
    const void* xArray = nullptr;
    const void* yArray = nullptr;
    Strides xStrides{}, yStrides{};
    std::vector<bool> sendsDirect, receivesDirect;
    std::unique_ptr<Exchange> exchange;
  };
  struct Direction {
    std::vector<Part> packs, unpacks;
    std::vector<Message> sends, receives;
    std::unique_ptr<Exchange> exchange;
    std::optional<Binding> binding;
    const Binding* bound = nullptr; // that of the action in flight, if it uses one
    std::byte* sendBuffer = nullptr;
    std::byte* receiveBuffer = nullptr;
    std::vector<Region> zeros, callers; // target cells that nobody contributes to
    int own = -1;                       // the unpack part that the rank gives itself
    bool sums = false;                  // target cells may get several addends; else at most one
  };

  // schedule_executor.cpp: set-up and binding
  Part makePart(const Transfer& transfer, Sense sense) const;
  static std::vector<Region> regionsOf(const std::vector<CellBox>& boxes);
  void makeDirection(Direction& direction, const Schedule& schedule, Sense sense, int tag);
  Direction& directionOf(Sense sense) { return sense == Sense::Forward ? forward_ : transpose_; }
  const Direction& directionOf(Sense sense) const {
    return sense == Sense::Forward ? forward_ : transpose_;
  }

  // schedule_run.cpp
  template <class T>
  void beginTyped(Direction& direction, const Action& action);
  template <class T>
  void endTyped(Direction& direction, const Action& action, Combine combine);
  template <class T>
  static void pack(const Direction& direction, const Part& part, const DTensor& x);
  template <class T>
  static bool prepareTarget(const Direction& direction, const Action& action, const Region* kept,
                            Combine combine);
  template <class T>
  static void unpack(const Direction& direction, const Part& part, const Action& action,
                     const Region* kept, Combine combine, double beta);
  static bool sameCells(const Region& from, const DTensor& x, const Region& to, const DTensor& y);
  static const Region* keptRegion(const Direction& direction, const Action& action);
  template <class T>
  static void clearAround(const Region& kept, DTensor& y);
  template <class T>
  static void scaleRegion(double factor, const Region& region, DTensor& y);

  CommPtr comm_;
  Index size_;
  int tag_;
  Buffer sourceSide_, targetSide_;
  Direction forward_, transpose_;
};

} // namespace tenon
