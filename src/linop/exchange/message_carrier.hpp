// SPDX-License-Identifier: BSD-2-Clause
// Parts as messages of MPI, point to point: packed into one buffer, and combined from another.
//
// Bound to two arrays, messages use persistent requests, and what lies contiguous in an array is
// sent from it, or, where each target element gets one value, received into it, without a copy.
//
// Messages of arrays on the device (wire.hpp) leave piece by piece when they have been packed and
// copied, for which nobody waits before the action's end.
#pragma once

#include "comm/exchange.hpp"
#include "linop/exchange/carrier.hpp"

#include <optional>

namespace tenon {

class MessageCarrier final : public Carrier, private Pending {
public:
  // The carrier takes the pack and unpack parts of these numbers.
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
  // One way to make the round of messages. An entry of sentInArray or receivedInArray says that
  // this message lies in the array and not in the buffer.
  struct Round {
    std::vector<bool> sentInArray, receivedInArray;
    std::unique_ptr<Exchange> exchange;
  };
  // The array that a tensor had when it was bound.
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
  // A piece of a message from the device.
  struct Departure {
    int message, piece;
    Event ready;
  };

  std::byte* elementsOf(const Message& message);
  void packAll(const Action& action);
  void pack(const Action& action, std::size_t message);
  void queueCopies();
  void depart();
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
  bool streams_;
  std::vector<std::size_t> packs_, unpacks_; // of the messages, as numbers of parts
  std::vector<Message> sends_, receives_;    // in the buffers
  Wire *sendWire_ = nullptr, *receiveWire_ = nullptr;
  std::vector<Departure> departures_;
  std::size_t sent_ = 0;               // how many of them have left in the action in flight
  std::vector<const std::byte*> next_; // by message: the elements not combined yet
  std::vector<int> messageOf_;         // by unpack part: its message, -1 if it comes otherwise
  Round plain_;
  std::optional<Bound> bound_;
  Round* round_ = &plain_; // of the action in flight
};

} // namespace tenon
