// SPDX-License-Identifier: BSD-2-Clause
// Parts through the memory that the node's ranks share, by lanes (comm/memory/lane.hpp). Small
// parts, and those of arrays outside the arena, are packed chunk by chunk; large ones of arrays
// inside it are read in place. Whoever waits for a posting keeps filling his own lanes meanwhile,
// so that all ranks advance.
#pragma once

#include "linop/exchange/node_carrier.hpp"

namespace tenon {

// A lane of host memory.
struct HostLane {
  using Address = LaneAddress;
  struct Outgoing {
    std::size_t part;
    StoreChoice stores;
    std::unique_ptr<SendLane> lane;
    // How many postings the action in flight makes, one if the receiver reads the array in place,
    // and how many of them are made.
    Index posts = 0, posted = 0;
    bool readInPlace = false;

    Address address() const noexcept { return lane->address(); }
    Index heldBytes() const noexcept { return lane->bytes(); }
    bool isAwaited() const noexcept {
      return posted < posts || (readInPlace && !lane->isDrained());
    }
  };
  struct Incoming {
    std::size_t part;
    ReceiveLane lane;
    ArrayPlace place{}; // of the posting that is read
  };

  static std::optional<Outgoing> make(const CarrierSetup& setup, std::size_t part, Index allBytes,
                                      std::string& whyNot);
  static bool isMade(const Address& address) noexcept { return address.place >= 0; }
  static Incoming open(const Communicator& comm, std::size_t part, int peer, const Address& address,
                       Index bytes) {
    return {part, {*comm.arena(), peer, address, bytes}};
  }
};

class LaneCarrier final : public NodeCarrier<HostLane> {
public:
  // The communicator must have an arena, unless the rank is alone.
  explicit LaneCarrier(const CarrierSetup& setup);

  std::string describe() const override {
    return messages_.sendBytes() > 0 ? "shared, messages" : "shared";
  }

private:
  void beginLanes(const Action& action) override;
  void receiveByLane(Incoming& in, const Action& action, Interval chunks,
                     const Meeting& meeting) override;
  void endLanes(const Action& action) override;

  void pump(const DTensor& x, Index mostOfEach);
  void post(Outgoing& out, const DTensor& x);
  void awaitPosting(const Incoming& in, const DTensor& x);
  std::string missingSenders(const Incoming& from) const;

  Index packLimit_;
  Index largest_ = 0; // bytes of a lane's part, at most
  // Whether some lane has chunks of the action in flight left to post, and the place of x in the
  // arena, -1 if it lies outside or all parts are packed.
  bool morePosts_ = false;
  Index place_ = -1;
};

} // namespace tenon
