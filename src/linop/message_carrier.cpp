// SPDX-License-Identifier: BSD-2-Clause
#include "linop/message_carrier.hpp"

#include "comm/lane.hpp"
#include "dtensor/arithmetic.hpp"

#include <utility>

namespace tenon {

namespace {

// Lets the message lie in the array, if it is one region whose cells lie there one after the other.
bool redirect(Message& message, const std::vector<Region>& regions, const DTensor& tensor) {
  if (regions.size() != 1)
    return false;
  const RegionView view = viewOf(tensor, regions[0]);
  Index stride = 1;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    if (regions[0].extent[d] > 1 && view.steps[d] != stride)
      return false;
    stride *= regions[0].extent[d];
  }
  message.data = const_cast<std::byte*>(view.first);
  return true;
}

} // namespace

MessageCarrier::MessageCarrier(const CarrierSetup& setup, std::vector<std::size_t> sends,
                               std::vector<std::size_t> receives)
    : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction), cellBytes_(setup.cellBytes),
      streams_(setup.policy.stores != StoreWay::Cached), packs_(std::move(sends)),
      unpacks_(std::move(receives)), sends_(messagesOf(packs_, direction_.packs)),
      receives_(messagesOf(unpacks_, direction_.unpacks)), ready_(packs_.size()),
      next_(unpacks_.size()), messageOf_(direction_.unpacks.size(), -1) {
  for (std::size_t i = 0; i < unpacks_.size(); ++i)
    messageOf_[unpacks_[i]] = static_cast<int>(i);
}

std::vector<Message> MessageCarrier::messagesOf(const std::vector<std::size_t>& numbers,
                                                const std::vector<Part>& parts) const {
  std::vector<Message> messages;
  for (std::size_t i : numbers)
    messages.push_back({parts[i].peer, nullptr, parts[i].cells * cellBytes_});
  return messages;
}

Index MessageCarrier::bytesOf(const std::vector<Message>& messages) {
  Index bytes = 0;
  for (const Message& message : messages)
    bytes = checkedSum(bytes, message.bytes, "bytes of a rank's messages");
  return bytes;
}

void MessageCarrier::useWires(Wire& send, Wire& receive) {
  sendWire_ = &send;
  receiveWire_ = &receive;
  std::byte *sent = send.bytes(), *received = receive.bytes();
  for (Message& message : sends_)
    message.data = std::exchange(sent, sent + message.bytes);
  for (Message& message : receives_)
    message.data = std::exchange(received, received + message.bytes);
  plain_ = {.sentInArray = std::vector<bool>(sends_.size()),
            .receivedInArray = std::vector<bool>(receives_.size()),
            .exchange = std::make_unique<Exchange>(comm_, tag_, sends_, receives_)};
}

MessageCarrier::BoundArray::BoundArray(DTensor& x)
    : tensor(Ref<DTensor>::share(&x)), array(arrayOf(x)), strides(x.strides()) {}

bool MessageCarrier::BoundArray::isThatOf(const DTensor& x) const {
  return &x == tensor.get() && arrayOf(x) == array && x.strides() == strides;
}

void MessageCarrier::bind(DTensor& x, DTensor& y) {
  std::vector<Message> sends = sends_, receives = receives_;
  Round round = {.sentInArray = plain_.sentInArray,
                 .receivedInArray = plain_.receivedInArray,
                 .exchange = nullptr};
  for (std::size_t i = 0; i < sends.size() && !sendWire_->isStaged(); ++i)
    round.sentInArray[i] = redirect(sends[i], direction_.packs[packs_[i]].from, x);
  const bool arrivesInArray = !direction_.sums && !receiveWire_->isStaged();
  for (std::size_t i = 0; i < receives.size() && arrivesInArray; ++i)
    round.receivedInArray[i] = redirect(receives[i], direction_.unpacks[unpacks_[i]].to, y);
  round.exchange = std::make_unique<Exchange>(comm_, tag_, std::move(sends), std::move(receives),
                                              Exchange::Requests::Persistent);
  bound_.emplace(Bound{BoundArray(x), BoundArray(y), std::move(round)});
}

void MessageCarrier::begin(const Action& action) {
  const bool fits =
      bound_ && action.isPlain() && bound_->x.isThatOf(*action.x) && bound_->y.isThatOf(*action.y);
  round_ = fits ? &bound_->round : &plain_;
  receiveWire_->awaitReceived();
  round_->exchange->startReceives();
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (!round_->sentInArray[i])
      pack(action, i);
    if (!sendWire_->isStaged())
      round_->exchange->startSend(static_cast<int>(i));
  }
  if (sendWire_->isStaged() && !sends_.empty()) {
    sent_ = 0;
    comm_->add(*this);
  }
  comm_->advance();
}

void MessageCarrier::pack(const Action& action, std::size_t message) {
  const auto& [peer, data, bytes] = sends_[message];
  const bool streams = streams_ && bytes >= kLargePart && !sendWire_->isStaged();
  const Index begin = data - sendWire_->bytes();
  std::byte* cells = sendWire_->cells() + begin;
  for (const Region& region : direction_.packs[packs_[message]].from)
    cells = packRegion(*action.x, region, cells, streams ? StoreWay::Streaming : StoreWay::Cached);
  if (sendWire_->isStaged())
    sendWire_->send(begin, sendWire_->cells() + begin, bytes, ready_[message]);
}

void MessageCarrier::advance() {
  while (sent_ < sends_.size() && ready_[sent_].isDone())
    round_->exchange->startSend(static_cast<int>(sent_++));
  if (sent_ == sends_.size())
    comm_->remove(*this);
}

void MessageCarrier::sendRest() {
  if (!sendWire_->isStaged())
    return;
  while (sent_ < sends_.size()) {
    ready_[sent_].synchronise();
    round_->exchange->startSend(static_cast<int>(sent_++));
  }
  comm_->remove(*this);
}

void MessageCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                             const Meeting& meeting) {
  const int i = messageOf_[part];
  if (chunks.begin == 0) {
    sendRest();
    round_->exchange->waitReceive(i);
    const Index begin = receives_[i].data - receiveWire_->bytes();
    std::byte* cells = receiveWire_->cells() + begin;
    if (receiveWire_->isStaged())
      receiveWire_->receive(begin, cells, receives_[i].bytes);
    next_[i] = cells;
  }
  if (round_->receivedInArray[i])
    return;
  direction_.unpacks[part].visit(chunks, [&](const Region&, const Region& to) {
    combineRegion(action, to, packedView(next_[i], to, action.y->rank()), meeting);
    next_[i] += to.cells * cellBytes_;
  });
}

void MessageCarrier::end(const Action&) {
  sendRest();
  round_->exchange->waitSends();
}

std::string MessageCarrier::describe() const {
  return sendWire_->isStaged() ? "messages from the device, through host memory" : "messages";
}

} // namespace tenon
