// SPDX-License-Identifier: BSD-2-Clause
// MessageCarrier: sends the parts of a conversion (a part is the data of one rank for another,
// part.hpp) as point-to-point MPI messages. Elements are packed into a send buffer, and combined
// with the target from a receive buffer.
//
// bind() prepares repeated actions between the same two arrays: the messages become persistent
// requests, and a part whose elements are contiguous is sent from the array without a copy. If each
// target element gets one value, such a part is also received directly into the array.
//
// Messages of device arrays (wire.hpp) are packed on the device, copied to the host and sent piece
// by piece: begin() queues the copies, every wait on the communicator calls advance(), which sends
// the pieces that have been copied, and end() waits for the remaining copies.
#pragma once

#include "comm/exchange.hpp"
#include "linop/exchange/carrier.hpp"

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
  // The MPI requests of one action. sentInArray[i] is true if message i is sent from the array of x
  // without packing, receivedInArray[i] if it is received into the array of y.
  struct Round {
    std::vector<bool> sentInArray, receivedInArray;
    std::unique_ptr<Exchange> exchange;
  };
  // The array and strides of a tensor at the time of bind().
  struct BoundArray {
    Ref<DTensor> tensor;
    const void* array;
    Strides strides;

    explicit BoundArray(DTensor& x);
    bool isThatOf(const DTensor& x) const;
  };
  struct Bound {
    BoundArray x, y;
    Round round;
  };
  // A piece of a message from the device, with the event of its copy to the host.
  struct Departure {
    int message, piece;
    Event ready;
  };

  std::byte* elementsOf(const Message& message);
  void packAll(const Action& action);
  void pack(const Action& action, std::size_t message);
  void queueCopies();
  void sendNextPiece();
  void advance() override;
  void sendRest();
  void fetch(int message);
  std::vector<Message> messagesOf(const std::vector<std::size_t>& numbers,
                                  const std::vector<Part>& parts) const;
  static Index bytesOf(const std::vector<Message>& messages);

  CommPtr comm_;
  int tag_;
  const Direction& direction_;
  Index elementBytes_;
  bool streams_; // True if large messages are packed with stores that bypass the caches.
  std::vector<std::size_t> packs_, unpacks_; // The part of each message.
  std::vector<Message> sends_, receives_;    // The messages in the buffers.
  Wire *sendWire_ = nullptr, *receiveWire_ = nullptr;
  std::vector<Departure> departures_;
  std::size_t sent_ = 0;               // Number of departures sent by the action in flight.
  std::vector<const std::byte*> next_; // By message: the received elements to combine next.
  // By unpack part: its message, or -1 if another transport brings it.
  std::vector<int> messageOf_;
  Round plain_; // For tensors that are not bound.
  std::optional<Bound> bound_;
  Round* round_ = &plain_; // The round of the action in flight.
};

} // namespace tenon
