// SPDX-License-Identifier: BSD-2-Clause
// LaneCarrier: sends the parts of a conversion (the data of one rank for another, part.hpp) through
// memory that the ranks of a node share, by lanes (comm/memory/lane.hpp). Small parts, and parts of
// arrays outside the arena, are packed chunk by chunk; large parts of arrays in the arena are read
// in place. A rank that waits for a posting continues to fill its own lanes, so all ranks make
// progress.
#pragma once

#include "linop/carriers/node_carrier.hpp"
#include "linop/carriers/packed_runs.hpp"

namespace tenon {

// The two ends of a lane in host memory, and the state of the action in flight.
struct HostLane {
  using Address = LaneAddress;
  static constexpr bool kHasSeveralReceivers = false;
  struct Outgoing {
    std::vector<std::size_t> parts; // one
    StoreChoice stores;
    std::unique_ptr<SendLane> lane;
    PartRuns runs;
    // Number of postings of the action in flight (one for each field of the part if the receiver
    // reads the arrays in place), and how many of them have been made.
    Index posts = 0, posted = 0;
    bool readInPlace = false;

    Address address(std::size_t) const noexcept { return lane->address(); }
    Index heldBytes() const noexcept { return lane->bytes(); }
    bool isAwaited(std::size_t) const noexcept {
      return posted < posts || (readInPlace && !lane->isDrained());
    }
  };
  struct Incoming {
    std::size_t part;
    ReceiveLane lane;
    PartRuns runs;
    ArrayPlace place{}; // Place of the array of the posting being read.
  };

  static std::optional<Outgoing> make(const CarrierSetup& setup,
                                      const std::vector<std::size_t>& parts, Index allBytes,
                                      std::string& whyNot);
  static bool isMade(const Address& address) noexcept { return address.place >= 0; }
  static Incoming open(const Communicator& comm, std::size_t number, const Part& part,
                       const Address& address) {
    return {number, {*comm.arena(), part.peer, address, part.bytes}, runsOf(part)};
  }
};

class LaneCarrier final : public NodeCarrier<HostLane> {
public:
  // The communicator must have an arena, unless it has one rank.
  explicit LaneCarrier(const CarrierSetup& setup);

  std::string describe() const override {
    return messages_.sendBytes() > 0 ? "shared, messages" : "shared";
  }

private:
  void beginLanes(const Action& action) override;
  void receiveByLane(Incoming& in, const Action& action, Interval chunks,
                     const Meeting& meeting) override;
  void endLanes(const Action& action) override;

  bool findPlaces(const Action& action);
  void pump(const Action& action, Index maxPerLane);
  void post(Outgoing& out, const Action& action);
  void awaitPosting(const Incoming& in, const Action& action);
  void readArrays(Incoming& in, const Action& action, Interval chunks, const Meeting& meeting);
  std::string missingSenders(const Incoming& from) const;

  Index packLimit_;
  Index largest_ = 0; // Size in bytes of the largest part of a lane.
  // True while some lane has chunks of the action in flight left to post.
  bool morePosts_ = false;
  // The offsets of x in the arena, by field, if large parts of the action are read in place.
  std::vector<Index> places_;
};

} // namespace tenon
