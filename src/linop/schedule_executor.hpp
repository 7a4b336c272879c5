// SPDX-License-Identifier: BSD-2-Clause
// Executes a schedule, forward or transposed, between two local arrays of any strides:
//     y <- alpha C x + beta y.
// Contributions are combined in the order of the schedule, which is that of mesh positions, so that
// copies of a sum are equal bit by bit, whatever the transport and whichever ranks the mesh has where. begin() packs and sends, end() receives and combines; the rank's own
// part is read from x at the end.
//
// In place, x and y lie in one array, such that a cell that the rank keeps has one address in both:
// it is left alone, and counts as the first contribution. So is a cell whose value is the caller's.
//
// Bound to two arrays, messages use persistent requests, and what lies contiguous in an array is
// sent from it, or received into it, without a copy.
//
// Parts between ranks of one node may go by lanes (comm/lane.hpp): small parts, and those of arrays
// outside the arena, packed chunk by chunk; large ones of arrays inside it are read in place. Lanes
// are announced to their receivers at the first use, by one message each; a sender that found no
// memory for a lane says so, and sends messages.
#pragma once

#include "comm/delay.hpp"
#include "comm/exchange.hpp"
#include "comm/lane.hpp"
#include "comm/patience.hpp"
#include "comm/transport.hpp"
#include "kernels/block_copy.hpp"
#include "linop/action.hpp"
#include "linop/part.hpp"
#include "linop/store_choice.hpp"

#include <memory>
#include <optional>

namespace tenon {

struct Meeting;

class ScheduleExecutor {
public:
  // Throws TENON_ERR_SUPPORT if the transport is shared and the node has no arena.
  ScheduleExecutor(CommPtr comm, const Schedule& schedule, TenonDataType type,
                   const std::string& owner, Transport transport = Transport::Auto);
  ~ScheduleExecutor();
  ScheduleExecutor(const ScheduleExecutor&) = delete;
  ScheduleExecutor& operator=(const ScheduleExecutor&) = delete;

  void begin(const Action& action);
  // With Combine::Max, for plain actions, cells that several ranks contribute to get the largest
  // value instead of the sum; every target cell must then be contributed to.
  void end(const Action& action, Combine combine = Combine::Add);

  // Whether x and y of the action lie in one array as above.
  bool isInPlace(const Action& action) const;

  void bind(Sense sense, DTensor& x, DTensor& y);
  void unbind();

  Index bufferBytes() const noexcept;
  // By which ways the parts travel, and why not by shared memory where auto could not.
  std::string describeTransport() const;

private:
  // The messages of two fixed arrays. direct[i]: message i lies in the array, not in the buffer.
  struct Binding {
    Ref<DTensor> x, y;
    const void* xArray = nullptr;
    const void* yArray = nullptr;
    Strides xStrides{}, yStrides{};
    std::vector<bool> sendsDirect, receivesDirect;
    std::unique_ptr<Exchange> exchange;
  };
  // A part that leaves by a lane. posts: of the action in flight, one if the receiver reads the
  // array in place.
  struct Outgoing {
    std::size_t part;
    Chunks chunks;
    StoreChoice stores;
    std::unique_ptr<SendLane> lane;
    LaneAddress announced{};
    MPI_Request request = MPI_REQUEST_NULL;
    Index posts = 0, posted = 0;
    bool inPlaceRead = false;
  };
  // A part that arrives by a lane, or by a message if the sender has none.
  struct Incoming {
    std::size_t part;
    Chunks chunks;
    std::unique_ptr<ReceiveLane> lane;
    std::unique_ptr<Exchange> message;
    Buffer buffer;
    ArrayPlace place{};
  };
  struct Direction {
    std::vector<Part> packs, unpacks;
    std::vector<Message> sends, receives;
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    std::unique_ptr<Exchange> exchange;
    std::optional<Binding> binding;
    const Binding* bound = nullptr; // that of the action in flight, if it uses one
    std::byte* sendBuffer = nullptr;
    std::byte* receiveBuffer = nullptr;
    std::vector<Region> zeros, callers; // target cells that nobody contributes to
    int own = -1;                       // the unpack part that the rank gives itself
    bool sums = false;                  // target cells may get several addends; else at most one
    bool sameTarget = false;            // all parts are added to one box of cells
    bool announced = false, opened = false;
    bool morePosts = false; // of the action in flight
    Index largest = 0;      // bytes of the parts that leave by lanes, at most
    Index place = -1; // in the arena, of x of the action in flight; -1 outside, or if all is packed
    Delay delay;
  };

  // schedule_executor.cpp: set-up and binding
  void makeDirection(Direction& direction, const Schedule& schedule, bool forward);
  void addParts(const std::vector<Transfer>& transfers, bool transposed, Index targetCells,
                std::vector<Part>& parts, std::vector<Message>& messages);
  void addMessage(Part& part, std::vector<Message>& messages) const;
  bool goesByLane(int peer) const;
  void makeTransport(Direction& direction, std::byte* sendBuffer, std::byte* receiveBuffer);
  Direction& directionOf(Sense sense) { return sense == Sense::Forward ? forward_ : transpose_; }
  const Direction& directionOf(Sense sense) const {
    return sense == Sense::Forward ? forward_ : transpose_;
  }

  // schedule_run.cpp: the halves of an action
  template <class T>
  void beginTyped(Direction& direction, const Action& action);
  template <class T>
  void endTyped(Direction& direction, const Action& action, Combine combine);
  template <class T>
  void unpack(Direction& direction, const Part& part, const Action& action, const Region* kept,
              const Meeting& meeting);
  template <class T>
  static bool prepareTarget(const Direction& direction, const Action& action, const Region* kept,
                            Combine combine);
  static bool sameCells(const Region& from, const DTensor& x, const Region& to, const DTensor& y);
  static const Region* keptRegion(const Direction& direction, const Action& action);
  template <class T>
  static void clearAround(const Region& kept, DTensor& y);
  template <class T>
  static void scaleRegion(double factor, const Region& region, DTensor& y);

  // lane_setup.cpp: lanes made, announced and opened
  void makeLanes(Direction& direction, const std::string& owner);
  static bool haveSameTarget(const std::vector<Part>& parts);
  void announce(Direction& direction);
  void open(Direction& direction);

  // lane_run.cpp: parts through lanes; the missing, as texts
  static std::string missingSenders(const Direction& direction, const Incoming& from);
  static std::string missingReaders(const Direction& direction);
  template <class T>
  void beginLanes(Direction& direction, const Action& action);
  template <class T>
  void pump(Direction& direction, const DTensor& x, Index mostOfEach);
  template <class T>
  static void post(Direction& direction, Outgoing& out, const DTensor& x);
  template <class T>
  void awaitPosting(Direction& direction, Incoming& in, const Action& action);
  template <class T>
  void receive(Direction& direction, const Part& part, const Action& action,
               const Meeting& meeting);
  template <class T>
  void receiveChunk(Direction& direction, Incoming& in, Index chunk, const Action& action,
                    const Meeting& meeting);
  template <class T>
  void sumChunkwise(Direction& direction, const Action& action, Combine combine, bool sole);
  template <class T>
  void finishLanes(Direction& direction, const Action& action);

  CommPtr comm_;
  std::shared_ptr<SharedArena> arena_; // NULL if no part goes by a lane
  Transport asked_, transport_;
  StoreWay storeWay_;
  Index packLimit_; // larger parts, in bytes, of arrays in the arena are read in place
  int rank_;
  Index size_;
  int tag_;
  Buffer sourceSide_, targetSide_;
  Direction forward_, transpose_;
};

} // namespace tenon
