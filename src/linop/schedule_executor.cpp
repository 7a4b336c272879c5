// SPDX-License-Identifier: BSD-2-Clause
#include "linop/schedule_executor.hpp"

#include "kernels/reduce.hpp"

namespace tenon {

namespace {

Index remoteCells(const std::vector<Transfer>& transfers, int rank) {
  Index sum = 0;
  for (const Transfer& t : transfers)
    if (t.peer != rank)
      sum += t.cells;
  return sum;
}

// The array seen through a region: its first cell and its strides.
template <class T, class Region>
T* firstCell(T* array, const Strides& strides, const Region& region, int rank, Index* steps) {
  for (int d = 0; d < rank; ++d) {
    array += region.begin[d] * strides[d];
    steps[d] = region.step[d] * strides[d];
  }
  return array;
}

template <class Region>
void packedStrides(const Region& region, int rank, Index* strides) {
  Index stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= region.extent[d];
  }
}

} // namespace

ScheduleExecutor::ScheduleExecutor(CommPtr comm, const Schedule& schedule, TenonDataType type,
                                   const std::string& owner)
    : comm_(std::move(comm)), size_(dataTypeSize(type)),
      sourceSide_(remoteCells(schedule.sends, comm_->rank()) * size_, owner + " source buffer"),
      targetSide_(remoteCells(schedule.receives, comm_->rank()) * size_, owner + " target buffer") {
  const int tag = comm_->nextTag();
  forward_ = makeDirection(schedule, Sense::Forward, tag);
  transpose_ = makeDirection(schedule, Sense::Transposed, tag);
}

ScheduleExecutor::Part ScheduleExecutor::makePart(const Transfer& transfer, Sense sense) const {
  Part part;
  for (const CellBlock& block : transfer.blocks) {
    Region source, target;
    for (std::size_t d = 0; d < block.extent.size(); ++d) {
      source.extent[d] = target.extent[d] = block.extent[d];
      source.begin[d] = block.sourceBegin[d];
      source.step[d] = block.sourceStep[d];
      target.begin[d] = block.targetBegin[d];
      target.step[d] = block.targetStep[d];
    }
    source.cells = target.cells = cells(block.extent);
    part.from.push_back(sense == Sense::Forward ? source : target);
    part.to.push_back(sense == Sense::Forward ? target : source);
  }
  return part;
}

ScheduleExecutor::Direction ScheduleExecutor::makeDirection(const Schedule& schedule, Sense sense,
                                                            int tag) {
  const bool forward = sense == Sense::Forward;
  Direction direction;
  direction.sums = forward ? schedule.sumsOnReceipt : schedule.sumsOnTranspose;
  direction.sendBuffer = (forward ? sourceSide_ : targetSide_).data<std::byte>();
  direction.receiveBuffer = (forward ? targetSide_ : sourceSide_).data<std::byte>();
  const Index targetCells = cells(forward ? schedule.targetExtent : schedule.sourceExtent);

  std::vector<Message> sends, receives;
  auto addParts = [&](const std::vector<Transfer>& transfers, std::byte* buffer,
                      std::vector<Message>& messages, std::vector<Part>& parts) {
    Index offset = 0, filled = 0;
    for (const Transfer& transfer : transfers) {
      Part part = makePart(transfer, sense);
      part.coversTarget = transfer.blocks.size() == 1 && transfer.cells == targetCells;
      filled += transfer.cells;
      if (transfer.peer != comm_->rank()) {
        part.message = static_cast<int>(messages.size());
        part.offset = offset;
        messages.push_back({transfer.peer, buffer + offset, transfer.cells * size_});
        offset += transfer.cells * size_;
      }
      parts.push_back(std::move(part));
    }
    return filled;
  };
  addParts(forward ? schedule.sends : schedule.receives, direction.sendBuffer, sends,
           direction.packs);
  const Index filled = addParts(forward ? schedule.receives : schedule.sends,
                                direction.receiveBuffer, receives, direction.unpacks);
  direction.fillsAll = !direction.sums && filled == targetCells;
  direction.exchange.emplace(comm_, tag, std::move(sends), std::move(receives));
  return direction;
}

void ScheduleExecutor::run(Direction& direction, const DTensor& x, DTensor& y, Combine combine) {
  visitDataType(x.dataType(), [&]<class T>(T) { runTyped<T>(direction, x, y, combine); });
}

template <class T>
void ScheduleExecutor::runTyped(Direction& direction, const DTensor& x, DTensor& y,
                                Combine combine) {
  const int rank = x.rank();
  const T* source = x.data<T>();
  T* target = y.mutableData<T>();
  std::array<Index, kMaxRank> near{}, far{};
  direction.exchange->startReceives();
  for (const Part& part : direction.packs) {
    if (part.message < 0)
      continue;
    T* buffer = reinterpret_cast<T*>(direction.sendBuffer + part.offset);
    for (const Region& region : part.from) {
      const T* first = firstCell(source, x.strides(), region, rank, near.data());
      packedStrides(region, rank, far.data());
      blockCombine(Combine::Copy, rank, region.extent.data(), first, near.data(), buffer,
                   far.data());
      buffer += region.cells;
    }
    direction.exchange->startSend(part.message);
  }
  // The first part may overwrite if it covers everything; otherwise sums start from zeros.
  const bool firstOverwrites =
      direction.sums && !direction.unpacks.empty() && direction.unpacks.front().coversTarget;
  if (!direction.fillsAll && !firstOverwrites)
    fillBlock(rank, y.extent().data(), T(0), target, y.strides().data());
  bool first = firstOverwrites;
  for (const Part& part : direction.unpacks) {
    const Combine op = direction.sums && !first ? combine : Combine::Copy;
    first = false;
    const T* buffer = reinterpret_cast<const T*>(direction.receiveBuffer + part.offset);
    if (part.message >= 0)
      direction.exchange->waitReceive(part.message);
    for (std::size_t i = 0; i < part.to.size(); ++i) {
      const Region& region = part.to[i];
      T* cell = firstCell(target, y.strides(), region, rank, near.data());
      if (part.message < 0) {
        const T* own = firstCell(source, x.strides(), part.from[i], rank, far.data());
        blockCombine(op, rank, region.extent.data(), own, far.data(), cell, near.data());
      } else {
        packedStrides(region, rank, far.data());
        blockCombine(op, rank, region.extent.data(), buffer, far.data(), cell, near.data());
        buffer += region.cells;
      }
    }
  }
  direction.exchange->waitSends();
}

} // namespace tenon
