// SPDX-License-Identifier: BSD-2-Clause
#include "linop/schedule_executor.hpp"

#include "dtensor/arithmetic.hpp"
#include "sys/error.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"conversion_pack_limit", OptionSpec::Int, "8192",
     "bytes up to which a part for a rank of the same node is packed; a larger one is read where "
     "it lies, if that is shared memory",
     nullptr, atLeast(0)},
    {"conversion_stores", OptionSpec::Choice, "auto",
     "stores used to pack messages of 16 KiB or more: through the caches, past them, or auto (the "
     "faster one with shared memory, past them otherwise)",
     kStoreWayChoices},
};
const OptionRegistration kRegistration{{"transport", kOptions}};

// Waiting until a small part is read would cost more than the copy.
Index packLimit() {
  return options().getInt("", "conversion_pack_limit");
}

Index totalBytes(const std::vector<Message>& messages) {
  Index bytes = 0;
  for (const Message& message : messages)
    bytes = checkedSum(bytes, message.bytes, "bytes of a rank's messages");
  return bytes;
}

// The bytes of a region in an array, if its cells lie there one after the other; else NULL.
template <class Region>
std::byte* contiguousBytes(const Region& region, const void* array, const DTensor& tensor) {
  const Index size = dataTypeSize(tensor.dataType());
  Index offset = 0, stride = 1;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    offset += region.begin[d] * tensor.strides()[d];
    if (region.extent[d] > 1 && region.step[d] * tensor.strides()[d] != stride)
      return nullptr;
    stride *= region.extent[d];
  }
  return static_cast<std::byte*>(const_cast<void*>(array)) + offset * size;
}

// Redirects the messages whose only region is contiguous in the array.
template <class Part, class RegionsOf>
std::vector<bool> redirect(std::vector<Message>& messages, const std::vector<Part>& parts,
                           const void* array, const DTensor& tensor, RegionsOf regionsOf) {
  std::vector<bool> direct(messages.size(), false);
  for (const Part& part : parts) {
    const auto& regions = regionsOf(part);
    if (part.message < 0 || regions.size() != 1)
      continue;
    if (std::byte* bytes = contiguousBytes(regions.front(), array, tensor)) {
      messages[part.message].data = bytes;
      direct[part.message] = true;
    }
  }
  return direct;
}

} // namespace

ScheduleExecutor::ScheduleExecutor(CommPtr comm, const Schedule& schedule, TenonDataType type,
                                   const std::string& owner, Transport transport)
    : comm_(std::move(comm)), asked_(transport), transport_(resolveTransport(transport, *comm_)),
      storeWay_(parseStoreWay(options().getChoice("", "conversion_stores"))),
      packLimit_(packLimit()), rank_(static_cast<int>(schedule.sourceExtent.size())),
      size_(dataTypeSize(type)), tag_(comm_->nextTag()) {
  if (transport_ == Transport::Shared)
    arena_ = comm_->arena();
  makeDirection(forward_, schedule, true);
  makeDirection(transpose_, schedule, false);
  makeLanes(forward_, owner);
  makeLanes(transpose_, owner);
  sourceSide_ = Buffer(std::max(totalBytes(forward_.sends), totalBytes(transpose_.receives)),
                       owner + " source buffer");
  targetSide_ = Buffer(std::max(totalBytes(forward_.receives), totalBytes(transpose_.sends)),
                       owner + " target buffer");
  makeTransport(forward_, sourceSide_.data<std::byte>(), targetSide_.data<std::byte>());
  makeTransport(transpose_, targetSide_.data<std::byte>(), sourceSide_.data<std::byte>());
}

ScheduleExecutor::~ScheduleExecutor() = default;

bool ScheduleExecutor::goesByLane(int peer) const {
  return arena_ && arena_->isOnNode(peer);
}

// The buffers are made when all messages are known.
void ScheduleExecutor::addMessage(Part& part, std::vector<Message>& messages) const {
  part.message = static_cast<int>(messages.size());
  part.offset = totalBytes(messages);
  messages.push_back({part.peer, nullptr, part.cells * size_});
}

void ScheduleExecutor::addParts(const std::vector<Transfer>& transfers, bool transposed,
                                Index targetCells, std::vector<Part>& parts,
                                std::vector<Message>& messages) {
  for (const Transfer& transfer : transfers) {
    Part part = makePart(transfer, transposed);
    part.coversTarget = transfer.blocks.size() == 1 && transfer.cells == targetCells;
    if (transfer.peer != comm_->rank() && !goesByLane(transfer.peer))
      addMessage(part, messages);
    parts.push_back(std::move(part));
  }
}

void ScheduleExecutor::makeDirection(Direction& direction, const Schedule& schedule, bool forward) {
  direction.sums = forward ? schedule.sumsOnReceipt : schedule.sumsOnTranspose;
  const Index targetCells = cells(forward ? schedule.targetExtent : schedule.sourceExtent);
  addParts(forward ? schedule.sends : schedule.receives, !forward, targetCells, direction.packs,
           direction.sends);
  addParts(forward ? schedule.receives : schedule.sends, !forward, targetCells, direction.unpacks,
           direction.receives);
  for (std::size_t i = 0; i < direction.unpacks.size(); ++i)
    if (direction.unpacks[i].peer == comm_->rank())
      direction.own = static_cast<int>(i);
  const Gaps& gaps = forward ? schedule.targetGaps : schedule.sourceGaps;
  direction.zeros = regionsOf(gaps.zeros);
  direction.callers = regionsOf(gaps.callers);
}

void ScheduleExecutor::makeTransport(Direction& direction, std::byte* sendBuffer,
                                     std::byte* receiveBuffer) {
  direction.sendBuffer = sendBuffer;
  direction.receiveBuffer = receiveBuffer;
  for (const Part& part : direction.packs)
    if (part.message >= 0)
      direction.sends[part.message].data = sendBuffer + part.offset;
  for (const Part& part : direction.unpacks)
    if (part.message >= 0)
      direction.receives[part.message].data = receiveBuffer + part.offset;
  direction.exchange = std::make_unique<Exchange>(comm_, tag_, direction.sends, direction.receives);
}

Index ScheduleExecutor::bufferBytes() const noexcept {
  Index bytes = sourceSide_.bytes() + targetSide_.bytes();
  for (const Direction* direction : {&forward_, &transpose_}) {
    for (const Outgoing& out : direction->outgoing)
      bytes += out.lane ? out.lane->bytes() : 0;
    for (const Incoming& in : direction->incoming)
      bytes += in.buffer.bytes();
  }
  return bytes;
}

std::string ScheduleExecutor::describeTransport() const {
  std::string text = transportName(transport_);
  if (!forward_.sends.empty() && transport_ == Transport::Shared)
    text += ", messages";
  if (asked_ == Transport::Auto && transport_ == Transport::Messages && comm_->size() > 1)
    text += fmt::format(" (no shared memory: {})", comm_->whyNoArena());
  if (arena_ && !comm_->whySmallArena().empty())
    text += fmt::format(" (little shared memory: {})", comm_->whySmallArena());
  return text;
}

void ScheduleExecutor::bind(Sense sense, DTensor& x, DTensor& y) {
  Direction& direction = directionOf(sense);
  std::vector<Message> sends = direction.sends, receives = direction.receives;
  Binding binding;
  binding.x = Ref<DTensor>::share(&x);
  binding.y = Ref<DTensor>::share(&y);
  binding.xArray = arrayOf(x);
  binding.yArray = arrayOf(y);
  binding.xStrides = x.strides();
  binding.yStrides = y.strides();
  binding.sendsDirect =
      redirect(sends, direction.packs, binding.xArray, x,
               [](const Part& part) -> const std::vector<Region>& { return part.from; });
  binding.receivesDirect.assign(receives.size(), false);
  if (!direction.sums)
    binding.receivesDirect =
        redirect(receives, direction.unpacks, binding.yArray, y,
                 [](const Part& part) -> const std::vector<Region>& { return part.to; });
  binding.exchange = std::make_unique<Exchange>(comm_, tag_, std::move(sends), std::move(receives),
                                                Exchange::Requests::Persistent);
  direction.binding = std::move(binding);
}

void ScheduleExecutor::unbind() {
  forward_.binding.reset();
  transpose_.binding.reset();
}

} // namespace tenon
