// SPDX-License-Identifier: BSD-2-Clause
// Executes a schedule, forward or transposed, between two local arrays of any strides:
//     y <- alpha C x + beta y.
// Contributions are combined in the order of the schedule, which is that of grid positions, so that
// copies of a sum are equal bit by bit, whichever carrier brings them and whichever ranks the grid
// has where. begin() sends, end() receives and combines; the rank's own part is read from x at the
// end.
//
// In place, x and y lie in one array, such that an element that the rank keeps has one address in
// both: it is left alone, and counts as the first contribution. So is an element whose value is the
// caller's.
#pragma once

#include "linop/exchange/carrier.hpp"
#include "linop/exchange/wire.hpp"

#include <map>

namespace tenon {

class ScheduleExecutor {
public:
  // Collective. Throws TENON_ERR_SUPPORT if the policy's transport is shared and the node has no
  // arena.
  ScheduleExecutor(const CommPtr& comm, const Schedule& schedule, TenonDataType type,
                   const std::string& owner, const CarrierPolicy& policy);
  ScheduleExecutor(const ScheduleExecutor&) = delete;
  ScheduleExecutor& operator=(const ScheduleExecutor&) = delete;

  void begin(const Action& action);
  // With Combine::Max, for plain actions, elements that several ranks contribute to get the largest
  // value instead of the sum; every target element must then be contributed to.
  void end(const Action& action, Combine combine = Combine::Add);

  // Whether x and y of the action lie in one array, as described above.
  bool isInPlace(const Action& action) const;

  void bind(Sense sense, DTensor& x, DTensor& y) { carrierOf(sense, x.space()).bind(x, y); }
  void unbind();

  Index bufferBytes() const noexcept;
  // Says by which ways the parts travel, and why not by shared memory where auto could not use it.
  std::string describeTransport() const;

  // A test sets a watch to be called once an action has begun to send, and before it looks at what
  // has come: so it can let messages take time, which on one node they do not.
  class Watch {
  public:
    virtual ~Watch() = default;
    virtual void began(const ScheduleExecutor& conversion) = 0;
    virtual void looks(const ScheduleExecutor& conversion) = 0;
  };
  static inline Watch* watch = nullptr;

private:
  // The carriers and buffers of arrays in one space.
  struct Carriage {
    std::array<std::unique_ptr<Carrier>, 2> carriers; // by sense
    Wire::Reach reach;
    Wire sourceSide, targetSide;
    Carriage(const ScheduleExecutor& executor, Space space);
  };

  // The numbers of a list where kernels of the device read them.
  struct DeviceList {
    ReadList<Index> positions;
    ReadList<double> weights;
  };
  void showListsToDevice();

  const Direction& directionOf(Sense sense) const { return directions_[static_cast<int>(sense)]; }
  std::unique_ptr<Carrier> makeCarrierFor(Sense sense, Space space) const;
  // Where MPI reads and writes the messages of arrays in this space. Collective.
  Wire::Reach reachIn(Space space) const;
  void combineAll(Carrier& carrier, const Action& action, Combine combine);
  Carriage& carriage(Space space);
  Carrier& carrierOf(Sense sense, Space space) {
    return *carriage(space).carriers[static_cast<int>(sense)];
  }

  CommPtr comm_;
  int tag_;
  Index elementBytes_;
  std::string owner_;
  CarrierPolicy policy_;
  std::array<Direction, 2> directions_; // by sense
  std::map<const ElementList*, DeviceList> deviceLists_;
  PerSpace<Carriage> carriages_;
};

// Executes likewise, by one call, a schedule in which each rank gives to itself alone: without
// carriers, and without a look at what others are doing, so that the work can be recorded. Regions
// have no lists.
class OwnScheduleExecutor {
public:
  OwnScheduleExecutor(const Schedule& schedule, TenonDataType type, int rank);
  void run(const Action& action) const;

private:
  std::array<Direction, 2> directions_; // by sense
};

} // namespace tenon
