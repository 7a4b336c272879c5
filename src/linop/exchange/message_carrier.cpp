// SPDX-License-Identifier: BSD-2-Clause
// Transfers parts as MPI messages: packs them into one buffer (the send wire) and sends them,
// receives into another (the receive wire) and combines from there. A set of messages is a round:
// the plain round uses the wires; after bind() there is also a round of persistent requests for two
// given arrays, whose messages can be in the arrays themselves. An action with other tensors,
// arrays or strides runs the plain round; the messages of both kinds of rounds match, so the peer
// can use either. From the device, messages are sent in pieces, each when its copy to the wire is
// done (a Departure).
#include "linop/exchange/message_carrier.hpp"

#include "comm/memory/lane.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_queue.hpp"

#include <utility>

namespace tenon {

namespace {

// Sets the message to the array's memory, if it is one region with contiguous elements (a dimension
// of extent 1 is always contiguous). Not for received elements with a sign, which must be
// multiplied.
bool redirect(Message& message, const std::vector<Region>& regions, const DTensor& tensor,
              bool isReceived) {
  if (regions.size() != 1 || regions[0].list || (isReceived && regions[0].sign != 1))
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
    : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction),
      elementBytes_(setup.elementBytes), streams_(setup.policy.stores != StoreWay::Cached),
      packs_(std::move(sends)), unpacks_(std::move(receives)),
      sends_(messagesOf(packs_, direction_.packs)),
      receives_(messagesOf(unpacks_, direction_.unpacks)), next_(unpacks_.size()),
      messageOf_(direction_.unpacks.size(), -1) {
  for (std::size_t i = 0; i < unpacks_.size(); ++i)
    messageOf_[unpacks_[i]] = static_cast<int>(i);
}

std::vector<Message> MessageCarrier::messagesOf(const std::vector<std::size_t>& partIndices,
                                                const std::vector<Part>& parts) const {
  std::vector<Message> messages;
  for (std::size_t i : partIndices)
    messages.push_back({parts[i].peer, nullptr, parts[i].elements * elementBytes_});
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
            .exchange = std::make_unique<Exchange>(
                comm_, tag_, sends_, receives_, Exchange::Requests::EachRound, send.pieceBytes())};
  departures_.clear();
  // On the device each piece is sent when its copy is done; on the host a message is sent at once.
  for (int i = 0; send.isOnDevice() && i < static_cast<int>(sends_.size()); ++i)
    for (int n = 0; n < plain_.exchange->piecesOfSend(i); ++n)
      departures_.push_back({i, n, {}});
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
  // Kernels can still be writing a device array when the action begins. Only the wire has events
  // that say when its bytes are complete, so device arrays are not sent in place.
  for (std::size_t i = 0; i < sends.size() && !sendWire_->isOnDevice(); ++i)
    round.sentInArray[i] = redirect(sends[i], direction_.packs[packs_[i]].from, x, false);
  // A message cannot be received into elements that get several contributions.
  const bool arrivesInArray = !direction_.sums && !receiveWire_->isOnDevice();
  for (std::size_t i = 0; i < receives.size() && arrivesInArray; ++i)
    round.receivedInArray[i] = redirect(receives[i], direction_.unpacks[unpacks_[i]].to, y, true);
  round.exchange =
      std::make_unique<Exchange>(comm_, tag_, std::move(sends), std::move(receives),
                                 Exchange::Requests::Persistent, sendWire_->pieceBytes());
  bound_.emplace(Bound{BoundArray(x), BoundArray(y), std::move(round)});
}

void MessageCarrier::begin(const Action& action) {
  const bool isBoundAction =
      bound_ && action.isPlain() && bound_->x.isThatOf(*action.x) && bound_->y.isThatOf(*action.y);
  round_ = isBoundAction ? &bound_->round : &plain_;
  // Receives are started first, so most messages find their buffer; open() waits until MPI can
  // write it.
  receiveWire_->open();
  round_->exchange->startReceives();
  if (sendWire_->isOnDevice())
    packAll(action);
  for (std::size_t i = 0; !sendWire_->isOnDevice() && i < sends_.size(); ++i) {
    if (!round_->sentInArray[i])
      pack(action, i);
    round_->exchange->startSend(static_cast<int>(i));
  }
  sent_ = 0;
  if (!departures_.empty()) {
    queueCopies();
    comm_->add(*this);
  }
  // Other actions on the communicator can have pieces that are ready too.
  comm_->advance();
}

// A message has the same offset among the elements as among the bytes.
std::byte* MessageCarrier::elementsOf(const Message& message) {
  return sendWire_->elements() + (message.data - sendWire_->bytes());
}

// Packs all messages on the device in one batch of kernels.
void MessageCarrier::packAll(const Action& action) {
  BlockQueue queue(action.x->context());
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    std::byte* elements = elementsOf(sends_[i]);
    for (const Region& region : direction_.packs[packs_[i]].from)
      elements = packRegion(queue, *action.x, region, elements);
  }
  queue.flush();
}

// Packs one message on the host, which is sent at once.
void MessageCarrier::pack(const Action& action, std::size_t message) {
  // MPI reads a small message while it is still in the cache; a large one would only evict other
  // data, so it is stored past the caches.
  const bool streams = streams_ && sends_[message].bytes >= kLargePart;
  std::byte* elements = elementsOf(sends_[message]);
  for (const Region& region : direction_.packs[packs_[message]].from)
    elements =
        packRegion(*action.x, region, elements, streams ? StoreWay::Streaming : StoreWay::Cached);
}

void MessageCarrier::queueCopies() {
  sendWire_->packed();
  for (Departure& departure : departures_) {
    const Message piece = round_->exchange->pieceOfSend(departure.message, departure.piece);
    const Index begin = piece.data - sendWire_->bytes();
    sendWire_->send(begin, sendWire_->elements() + begin, piece.bytes, departure.ready);
  }
}

void MessageCarrier::sendNextPiece() {
  const Departure& next = departures_[sent_++];
  round_->exchange->startSend(next.message, next.piece);
}

// Called by every wait on the communicator. Pieces are sent in their order, so one counter
// describes the progress.
void MessageCarrier::advance() {
  while (sent_ < departures_.size() && departures_[sent_].ready.isDone())
    sendNextPiece();
  if (sent_ == departures_.size())
    comm_->remove(*this);
}

// Sends the remaining pieces at the end of the action, after which no wait on the communicator
// would send them; the host therefore waits for their copies.
void MessageCarrier::sendRest() {
  while (sent_ < departures_.size()) {
    departures_[sent_].ready.synchronise();
    sendNextPiece();
  }
  if (!departures_.empty())
    comm_->remove(*this);
}

// Each piece is copied to the elements while the next is in flight.
void MessageCarrier::fetch(int message) {
  Exchange& exchange = *round_->exchange;
  for (int n = 0; n < exchange.piecesOfReceive(message); ++n) {
    exchange.waitReceive(message, n);
    const Message piece = exchange.pieceOfReceive(message, n);
    receiveWire_->receive(piece.data - receiveWire_->bytes(), piece.bytes);
  }
  receiveWire_->received();
  next_[message] = receiveWire_->elements() + (receives_[message].data - receiveWire_->bytes());
}

void MessageCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                             const Meeting& meeting) {
  const int i = messageOf_[part];
  // A message is received as a whole; chunks only divide its combination with the target.
  if (chunks.begin == 0)
    fetch(i);
  if (round_->receivedInArray[i])
    return;
  next_[i] = combineChunks(action, direction_.unpacks[part], chunks, next_[i], meeting);
}

void MessageCarrier::end(const Action&) {
  sendRest();
  round_->exchange->waitSends();
  // Kernels can read the elements after this call; the next action waits for them.
  receiveWire_->unpacked();
}

std::string MessageCarrier::describe() const {
  if (!sendWire_->isOnDevice())
    return "messages";
  return sendWire_->isStaged() ? "messages from the device, through host memory"
                               : "messages from the device, read and written by MPI";
}

} // namespace tenon
