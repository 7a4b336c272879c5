// SPDX-License-Identifier: BSD-2-Clause
// Transfers parts as MPI messages. A set of messages is a round; each message is in the array of x
// or y, if its elements are contiguous there, or in a buffer (the send wire and the receive wire),
// for example:
//
//   ghosts behind the owned rows of a mesh     received in the array; they leave from it in the
//                                              adjoint, where they are added from a buffer
//   owned rows that are ghosts of others       packed into the buffer, unless they are consecutive
//
// There are two rounds. The plain one is for all arrays: if an action has other arrays than the
// last one, the places of the messages are found again. bind() makes a second one, with persistent
// requests, for the bound arrays, and for others whose messages have the same addresses. Messages
// have the same peers, sizes and order in both rounds, so the peer can use either. From the device,
// messages are sent in pieces, each when its copy to the wire is done (a Departure).
#include "linop/carriers/message_carrier.hpp"

#include "comm/memory/lane.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/movement/block_queue.hpp"

#include <utility>

namespace tenon {

namespace {

// The address of the elements of these regions in the array, if they are one region whose elements
// are contiguous (a dimension of extent 1 is always contiguous), or NULL.
std::byte* contiguousIn(const DTensor& tensor, const std::vector<Region>& regions) {
  if (regions.size() != 1 || regions[0].list)
    return nullptr;
  const RegionView view = viewOf(tensor, regions[0]);
  Index stride = 1;
  for (int d = tensor.ndim() - 1; d >= 0; --d) {
    if (regions[0].extent[d] > 1 && view.steps[d] != stride)
      return nullptr;
    stride *= regions[0].extent[d];
  }
  return const_cast<std::byte*>(view.first);
}

} // namespace

MessageCarrier::MessageCarrier(const CarrierSetup& setup, std::vector<std::size_t> sends,
                               std::vector<std::size_t> receives)
    : comm_(setup.comm), tag_(setup.tag), direction_(setup.direction),
      streams_(setup.policy.stores != StoreWay::Cached), packs_(std::move(sends)),
      unpacks_(std::move(receives)), sends_(messagesOf(packs_, direction_.packs)),
      receives_(messagesOf(unpacks_, direction_.unpacks)), next_(unpacks_.size()),
      messageOf_(direction_.unpacks.size(), -1) {
  for (std::size_t i = 0; i < unpacks_.size(); ++i)
    messageOf_[unpacks_[i]] = static_cast<int>(i);
  for (std::size_t i = 0; i < sends_.size(); ++i)
    sentRuns_.push_back(runsOf(direction_.packs[packs_[i]]));
  for (std::size_t i = 0; i < receives_.size(); ++i)
    receivedRuns_.push_back(runsOf(direction_.unpacks[unpacks_[i]]));
}

std::vector<Message> MessageCarrier::messagesOf(const std::vector<std::size_t>& partIndices,
                                                const std::vector<Part>& parts) const {
  std::vector<Message> messages;
  for (std::size_t i : partIndices)
    messages.push_back({.peer = parts[i].peer,
                        .data = nullptr, // Set by useWires().
                        .bytes = parts[i].bytes});
  return messages;
}

Index MessageCarrier::bytesOf(const std::vector<Message>& messages) const {
  Index bytes = 0;
  for (const Message& message : messages)
    bytes = checkedSum(bytes, direction_.paddedBytes(message.bytes), "bytes of a rank's messages");
  return bytes;
}

void MessageCarrier::useWires(Wire& send, Wire& receive) {
  sendWire_ = &send;
  receiveWire_ = &receive;
  std::byte *sent = send.bytes(), *received = receive.bytes();
  for (Message& message : sends_)
    message.data = std::exchange(sent, sent + direction_.paddedBytes(message.bytes));
  for (Message& message : receives_)
    message.data = std::exchange(received, received + direction_.paddedBytes(message.bytes));
  plain_ = newRound();
  departures_.clear();
  // On the device each piece is sent when its copy is done; on the host a message is sent at once.
  for (int i = 0; send.isOnDevice() && i < static_cast<int>(sends_.size()); ++i)
    for (int n = 0; n < plain_.exchange->piecesOfSend(i); ++n)
      departures_.push_back({.message = i, .piece = n, .ready = {}});
}

// A round whose messages are in the buffers.
MessageCarrier::Round MessageCarrier::newRound() const {
  return {.places = {},
          .sentInArray = std::vector<bool>(sends_.size()),
          .receivedInArray = std::vector<bool>(receives_.size()),
          .packs = !sends_.empty(),
          .exchange =
              std::make_unique<Exchange>(comm_, tag_, sends_, receives_, sendWire_->pieceBytes())};
}

// Kernels can still be writing a device array when the action begins. Only the wire has events that
// say when its bytes are complete, so device arrays are not sent in place. A message cannot be
// received in elements that are read (beta), scaled (alpha), or get several contributions.
MessageCarrier::Places MessageCarrier::placesFor(const Action& action) const {
  Places places;
  // A message of several fields is in several arrays.
  if (sendWire_->isOnDevice() || action.fields() > 1)
    return places;
  places.x = arrayOf(*action.x);
  places.xStrides = action.x->strides();
  if (!direction_.sums && action.isPlain()) {
    places.y = action.y->writeAddress();
    places.yStrides = action.y->strides();
  }
  return places;
}

void MessageCarrier::place(Round& round, const Places& places, const Action& action) const {
  round.places = places;
  round.packs = false;
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    std::byte* const inArray =
        places.x ? contiguousIn(*action.x, direction_.packs[packs_[i]].from) : nullptr;
    round.sentInArray[i] = inArray != nullptr;
    round.packs = round.packs || !inArray;
    round.exchange->placeSend(static_cast<int>(i), inArray ? inArray : sends_[i].data);
  }
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    const std::vector<Region>& regions = direction_.unpacks[unpacks_[i]].to;
    std::byte* inArray = places.y ? contiguousIn(*action.y, regions) : nullptr;
    // Elements beyond an odd wall are received with the other sign, so they pass through the
    // buffer.
    if (inArray && regions[0].sign != 1)
      inArray = nullptr;
    round.receivedInArray[i] = inArray != nullptr;
    round.exchange->placeReceive(static_cast<int>(i), inArray ? inArray : receives_[i].data);
  }
}

void MessageCarrier::bind(DTensor& x, DTensor& y) {
  const Action action{.x = &x, .y = &y};
  Round round = newRound();
  place(round, placesFor(action), action);
  round.exchange->makePersistent();
  bound_.emplace(Bound{Ref<DTensor>::share(&x), Ref<DTensor>::share(&y), std::move(round)});
  // If the last action was between the arrays that are now bound, the plain round would still be
  // found for them. 0 is the placement of no tensor.
  plain_.x = plain_.y = 0;
}

// The round of an action, with its messages placed. For the tensors of the last action this takes
// one comparison; otherwise the places are found, and a round that has these places is used.
MessageCarrier::Round& MessageCarrier::roundFor(const Action& action) {
  if (bound_ && bound_->round.isFor(action))
    return bound_->round;
  if (plain_.isFor(action))
    return plain_;
  const Places places = placesFor(action);
  Round& round = bound_ && bound_->round.places == places ? bound_->round : plain_;
  if (round.places != places)
    place(round, places, action);
  round.x = action.x->placement();
  round.y = action.y->placement();
  round.isPlain = action.isPlain();
  return round;
}

void MessageCarrier::begin(const Action& action) {
  round_ = &roundFor(action);
  // Receives are started first, so most messages find their buffer; open() waits until MPI can
  // write it.
  receiveWire_->open();
  round_->exchange->startReceives();
  if (sendWire_->isOnDevice())
    packAll(action);
  else
    sendAll(action);
  sent_ = 0;
  if (!departures_.empty()) {
    queueCopies();
    comm_->add(*this);
  }
  // Other actions on the communicator can have pieces that are ready too.
  comm_->advance();
}

// On the host. A message is sent as soon as it is packed.
void MessageCarrier::sendAll(const Action& action) {
  if (!round_->packs)
    return round_->exchange->startSends();
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (!round_->sentInArray[i])
      pack(action, i);
    round_->exchange->startSend(static_cast<int>(i));
  }
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
      elements = packRegion(queue, action.source(region.field), region, elements);
  }
  queue.flush();
}

// Packs one message on the host, which is sent at once.
void MessageCarrier::pack(const Action& action, std::size_t message) {
  // MPI reads a small message while it is still in the cache; a large one would only evict other
  // data, so it is stored past the caches.
  const bool streams = streams_ && sends_[message].bytes >= kLargePart;
  packPart(action, direction_.packs[packs_[message]], sentRuns_[message],
           elementsOf(sends_[message]), streams ? StoreWay::Streaming : StoreWay::Cached);
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
void MessageCarrier::fetchPiece(int message, int piece) {
  if (!receiveWire_->isStaged())
    return;
  const Message bytes = round_->exchange->pieceOfReceive(message, piece);
  receiveWire_->receive(bytes.data - receiveWire_->bytes(), bytes.bytes);
}

// Called when all pieces of the message have been fetched.
void MessageCarrier::fetched(int message) {
  receiveWire_->received();
  next_[message] = receiveWire_->elements() + (receives_[message].data - receiveWire_->bytes());
}

void MessageCarrier::combine(const Action& action, int message, Interval chunks,
                             const Meeting& meeting) {
  if (!round_->receivedInArray[message])
    next_[message] = combinePart(action, direction_.unpacks[unpacks_[message]], chunks,
                                 receivedRuns_[message], next_[message], meeting);
}

// A message is received as a whole; chunks only divide its combination with the target.
void MessageCarrier::receive(const Action& action, std::size_t part, Interval chunks,
                             const Meeting& meeting) {
  const int message = messageOf_[part];
  if (chunks.begin == 0) {
    for (int n = 0; n < round_->exchange->piecesOfReceive(message); ++n) {
      round_->exchange->waitReceive(message, n);
      fetchPiece(message, n);
    }
    fetched(message);
  }
  combine(action, message, chunks, meeting);
}

void MessageCarrier::receiveAll(const Action& action, const Meeting& meeting) {
  Exchange& exchange = *round_->exchange;
  for (int pieces = exchange.piecesOfReceives(); pieces > 0; --pieces) {
    const Exchange::Arrival arrival = exchange.nextReceive();
    fetchPiece(arrival.index, arrival.piece);
    if (!arrival.isLast)
      continue;
    fetched(arrival.index);
    combine(action, arrival.index, direction_.unpacks[unpacks_[arrival.index]].chunks.all(),
            meeting);
  }
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
