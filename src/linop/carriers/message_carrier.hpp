// SPDX-License-Identifier: BSD-2-Clause
// MessageCarrier: sends the parts of a conversion (a part is the data of one rank for another,
// part.hpp) as point-to-point MPI messages. A part whose elements are contiguous is sent from the
// array of x; others are packed into a send buffer. If each element of y gets one value, which is
// neither scaled nor added, a part whose elements are contiguous in y is received there; others are
// combined with y from a receive buffer.
//
// bind() replaces the requests of each action by persistent ones, for actions between two arrays.
//
// Messages of device arrays (wire.hpp) are packed on the device, copied to the host and sent piece
// by piece: begin() queues the copies, every wait on the communicator calls advance(), which sends
// the pieces that have been copied, and end() waits for the remaining copies.
#pragma once

#include "comm/exchange.hpp"
#include "linop/carriers/carrier.hpp"
#include "linop/carriers/packed_runs.hpp"

#include <optional>

namespace tenon {

class MessageCarrier final : public Carrier, private Pending {
public:
  // `sends` and `receives` are the indices of the pack and unpack parts that this carrier
  // transports.
  MessageCarrier(const CarrierSetup& setup, std::vector<std::size_t> sends,
                 std::vector<std::size_t> receives);
  ~MessageCarrier() override { abandon(); }
  MessageCarrier(const MessageCarrier&) = delete;
  MessageCarrier& operator=(const MessageCarrier&) = delete;

  void begin(const Action& action) override;
  void receive(const Action& action, std::size_t part, Interval chunks,
               const Meeting& meeting) override;
  void receiveAll(const Action& action, const Meeting& meeting) override;
  void end(const Action& action) override;
  void abandon() noexcept override { comm_->remove(*this); }
  void bind(DTensor& x, DTensor& y) override;
  void unbind() override { bound_.reset(); }
  Index sendBytes() const override { return bytesOf(sends_); }
  Index receiveBytes() const override { return bytesOf(receives_); }
  void useWires(Wire& send, Wire& receive) override;
  Index ownBytes() const override { return 0; }
  std::string describe() const override;

  bool receives(std::size_t part) const noexcept { return messageOf_[part] >= 0; }

private:
  // The arrays and strides in which the messages of a round are sent and received where possible;
  // no array (NULL) if all are in the buffer.
  struct Places {
    const void *x = nullptr, *y = nullptr;
    Strides xStrides{}, yStrides{};
    bool operator==(const Places&) const = default;
  };
  // The messages and MPI requests of an action. sentInArray[i] is true if message i is sent from
  // the array of x, receivedInArray[i] if it is received in the array of y.
  struct Round {
    Places places;
    // The last action of the round; another one of these tensors has the same places.
    std::uint64_t x = 0, y = 0; // DTensor::placement()
    bool isPlain = false;
    std::vector<bool> sentInArray, receivedInArray;
    bool packs = false; // True if some message is sent from the buffer.
    std::unique_ptr<Exchange> exchange;

    bool isFor(const Action& action) const noexcept {
      return x == action.x->placement() && y == action.y->placement() &&
             isPlain == action.isPlain();
    }
  };
  struct Bound {
    Ref<DTensor> x, y;
    Round round;
  };
  // A piece of a message from the device, with the event of its copy to the host.
  struct Departure {
    int message, piece;
    Event ready;
  };

  Round newRound() const;
  Places placesFor(const Action& action) const;
  void place(Round& round, const Places& places, const Action& action) const;
  Round& roundFor(const Action& action);
  std::byte* elementsOf(const Message& message);
  void packAll(const Action& action);
  void sendAll(const Action& action);
  void pack(const Action& action, std::size_t message);
  void queueCopies();
  void sendNextPiece();
  void advance() override;
  void sendRest();
  void fetchPiece(int message, int piece);
  void fetched(int message);
  void combine(const Action& action, int message, Interval chunks, const Meeting& meeting);
  std::vector<Message> messagesOf(const std::vector<std::size_t>& numbers,
                                  const std::vector<Part>& parts) const;
  Index bytesOf(const std::vector<Message>& messages) const;

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  bool streams_; // True if large messages are packed with stores that bypass the caches.
  std::vector<std::size_t> packs_, unpacks_; // The part of each message.
  std::vector<Message> sends_, receives_;    // The messages, in the buffers.
  std::vector<PartRuns> sentRuns_, receivedRuns_;
  Wire *sendWire_ = nullptr, *receiveWire_ = nullptr;
  std::vector<Departure> departures_;
  std::size_t sent_ = 0;               // Number of departures sent by the action in flight.
  std::vector<const std::byte*> next_; // By message: the received elements to combine next.
  // By unpack part: its message, or -1 if another transport brings it.
  std::vector<int> messageOf_;
  Round plain_; // Of actions between any arrays; placed again for each other array.
  std::optional<Bound> bound_;
  Round* round_ = &plain_; // The round of the action in flight.
};

} // namespace tenon
