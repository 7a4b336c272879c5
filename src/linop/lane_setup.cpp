// SPDX-License-Identifier: BSD-2-Clause
// Lanes of a ScheduleExecutor: made by the sender at set-up, without communication; announced and
// opened at the first use.
#include "linop/schedule_executor.hpp"

namespace tenon {

void ScheduleExecutor::makeLanes(Direction& direction, const std::string& owner) {
  const auto isFree = [&](const Part& part) { return part.isOwn() && part.peer != comm_->rank(); };
  const auto chunksOf = [&](const Part& part) {
    return Chunks(part, rank_, LaneShape(part.cells * size_).dataBytes / size_);
  };
  Index packedBytes = 0;
  for (const Part& part : direction.packs)
    packedBytes += isFree(part) ? part.cells * size_ : 0;
  for (std::size_t i = 0; i < direction.packs.size(); ++i) {
    Part& part = direction.packs[i];
    if (!isFree(part))
      continue;
    const Index bytes = part.cells * size_;
    direction.largest = std::max(direction.largest, bytes);
    const LaneShape shape(bytes);
    const int slots = shape.slotsOf(bytes, packedBytes);
    Outgoing out{.part = i,
                 .chunks = chunksOf(part),
                 .stores = {shape.isTimed() ? storeWay_ : StoreWay::Cached, slots},
                 .lane = nullptr};
    auto lane = std::make_unique<SendLane>(arena_, bytes, slots, owner);
    if (lane->exists()) {
      part.lane = static_cast<int>(direction.outgoing.size());
      out.lane = std::move(lane);
    } else {
      addMessage(part, direction.sends);
    }
    direction.outgoing.push_back(std::move(out));
  }
  for (std::size_t i = 0; i < direction.unpacks.size(); ++i) {
    Part& part = direction.unpacks[i];
    if (!isFree(part))
      continue;
    part.lane = static_cast<int>(direction.incoming.size());
    direction.incoming.push_back(
        {.part = i, .chunks = chunksOf(part), .lane = nullptr, .message = nullptr, .buffer = {}});
  }
  direction.sameTarget =
      direction.sums && !direction.incoming.empty() && haveSameTarget(direction.unpacks);
}

bool ScheduleExecutor::haveSameTarget(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.message < 0 && part.to.size() == 1 && part.to[0] == parts[0].to[0];
  });
}

void ScheduleExecutor::announce(Direction& direction) {
  direction.announced = true;
  for (Outgoing& out : direction.outgoing) {
    out.announced = out.lane ? out.lane->address() : LaneAddress{};
    checkMpi(MPI_Isend(&out.announced, sizeof out.announced, MPI_BYTE,
                       direction.packs[out.part].peer, tag_, comm_->mpi(), &out.request),
             "MPI_Isend");
  }
}

void ScheduleExecutor::open(Direction& direction) {
  if (direction.opened)
    return;
  direction.opened = true;
  for (Incoming& in : direction.incoming) {
    const Part& part = direction.unpacks[in.part];
    const Index bytes = part.cells * size_;
    LaneAddress address;
    MPI_Request request = MPI_REQUEST_NULL;
    checkMpi(MPI_Irecv(&address, sizeof address, MPI_BYTE, part.peer, tag_, comm_->mpi(), &request),
             "MPI_Irecv");
    waitFor(*comm_, &request, 1, [&] { return ranksText({part.peer}); });
    if (address.place >= 0) {
      in.lane = std::make_unique<ReceiveLane>(*arena_, part.peer, address, bytes);
      continue;
    }
    direction.sameTarget = false;
    in.buffer = Buffer(bytes, "message of a rank without a lane");
    in.message = std::make_unique<Exchange>(
        comm_, tag_, std::vector<Message>{},
        std::vector<Message>{{part.peer, in.buffer.data<std::byte>(), bytes}});
    in.message->startReceives();
  }
  for (Outgoing& out : direction.outgoing)
    waitFor(*comm_, &out.request, 1, [&] { return ranksText({direction.packs[out.part].peer}); });
}

} // namespace tenon
