// SPDX-License-Identifier: BSD-2-Clause
// ScheduleExecutor: executes a schedule C, forward or transposed, between two local arrays of any
// strides:
//     y <- alpha C x + beta y
//
// begin()  sends the parts of x for other ranks (a part is the data for one rank, part.hpp)
// end()    receives and combines all parts; the part that stays on this rank is read from x
//
// The parts are sent and received by a Carrier: MPI messages or shared memory. y can be written
// from begin() on, unless beta is not 0. Contributions to a sum are combined in the order of the
// schedule, which is that of positions in the process grid. If several ranks compute the same sum,
// their results are therefore bitwise identical, with every carrier and for every numbering of the
// ranks in the grid. Where each element gets one value, parts are combined as they arrive.
//
// An action is in place if x and y wrap the same array, and each element that stays on the rank has
// the same address in both. Such an element is not written, and counts as the first contribution.
// Elements whose values the user sets (user ghosts) are not written either.
//
// An action of several fields (linear_op.hpp) is one exchange, in which each part has the elements
// of all fields. Each field has a schedule and an element type, and is in place or not.
#pragma once

#include "linop/carriers/carrier.hpp"
#include "linop/carriers/packed_runs.hpp"
#include "linop/exchange/listed_sums.hpp"
#include "linop/exchange/wire.hpp"

#include <map>

namespace tenon {

class ScheduleExecutor {
public:
  // Collective. Throws TENON_ERR_SUPPORT if the transport "shared" is requested and the node has no
  // arena.
  // Its actions have these fields. Throws TENON_ERR_SUPPORT if these cannot be one exchange
  // (makeDirection()).
  ScheduleExecutor(const CommPtr& comm, std::span<const FieldSchedule> fields,
                   const std::string& owner, const CarrierPolicy& policy);
  ScheduleExecutor(const ScheduleExecutor&) = delete;
  ScheduleExecutor& operator=(const ScheduleExecutor&) = delete;

  void begin(const Action& action);
  // With Combine::Max, for plain actions, a target element gets the maximum of its contributions
  // instead of their sum; every target element must have a contribution.
  void end(const Action& action, Combine combine = Combine::Add);

  // For one field: true if x and y wrap the same array and elements that stay on the rank keep
  // their addresses.
  bool isInPlace(const Action& action) const;
  // What this rank sends in an action.
  Sent sent(Sense sense) const;
  // Whether this rank sends and receives nothing. Its actions then use no carrier and do not
  // advance others: begin() does nothing, and the kernels of end() can be recorded in a graph.
  bool isWithinRank() const noexcept { return isWithinRank_; }

  void bind(Sense sense, DTensor& x, DTensor& y) { carrierOf(sense, x.space()).bind(x, y); }
  void unbind();

  Index bufferBytes() const noexcept;
  // The transports of the parts, and the reason if "auto" could not use shared memory.
  std::string describeTransport() const;

  // Hook of tests, called before an action sends, before it tests for received messages, and after
  // its end. A test can delay messages, to imitate a slow network on one node, or write to y.
  class Watch {
  public:
    virtual ~Watch() = default;
    virtual void begins(const ScheduleExecutor&, const Action&) {}
    virtual void looks(const ScheduleExecutor&, const Action&) {}
    virtual void ended(const ScheduleExecutor&, const Action&) {}
  };
  static inline Watch* watch = nullptr;

private:
  // The carriers and message buffers for arrays in one memory space (host or device). The forward
  // action sends from sourceSide and receives in targetSide; the transposed one exchanges the two.
  struct Carriage {
    std::array<std::unique_ptr<Carrier>, 2> carriers; // by sense
    Wire::Reach reach;
    Wire sourceSide, targetSide;
    Carriage(const ScheduleExecutor& executor, Space space);
  };

  // Copies of the positions and weights of a list in device memory.
  struct DeviceList {
    ReadList<Index> positions;
    ReadList<double> weights;
  };
  void showListsToDevice();

  const Direction& directionOf(Sense sense) const { return directions_[static_cast<int>(sense)]; }
  std::unique_ptr<Carrier> makeCarrierFor(Sense sense, Space space) const;
  // The memory that MPI reads and writes for arrays in this space. Collective.
  Wire::Reach reachIn(Space space) const;
  std::span<const Region* const> regionsInPlace(const Action& action) const;
  OwnRuns& ownRunsFor(const Action& action) {
    return ownRuns_[static_cast<std::size_t>(action.sense)];
  }
  void combineAll(Carrier& carrier, const Action& action, Combine combine);
  Carriage& carriage(Space space);
  Carrier& carrierOf(Sense sense, Space space) {
    return *carriage(space).carriers[static_cast<int>(sense)];
  }

  CommPtr comm_;
  int tag_;
  std::string owner_;
  CarrierPolicy policy_;
  std::array<Direction, 2> directions_; // by sense
  std::array<OwnRuns, 2> ownRuns_;      // by sense
  bool isWithinRank_ = false;
  // The regions that are in place, by field, or NULL; and for which tensors they were found.
  struct InPlace {
    struct Tensors {
      std::uint64_t x = 0, y = 0; // DTensor::placement()
    };
    std::vector<Tensors> tensors;
    std::vector<const Region*> regions;
  };
  mutable std::array<InPlace, 2> inPlace_; // by sense, of the last action
  std::map<const ElementList*, DeviceList> deviceLists_;
  std::array<std::vector<std::unique_ptr<MergedLists>>, 2> mergedLists_; // by sense
  PerSpace<Carriage> carriages_;
};

// Executes, in one call, a schedule in which the rank sends data only to itself. It uses no
// carriers and does not advance other actions, so its kernels can be recorded in a graph. The
// schedule must not contain lists of element positions.
class OwnScheduleExecutor {
public:
  OwnScheduleExecutor(const Schedule& schedule, TenonDataType type, int rank);
  void run(const Action& action);

private:
  std::array<Direction, 2> directions_; // by sense
  std::array<OwnRuns, 2> ownRuns_;      // by sense
};

} // namespace tenon
