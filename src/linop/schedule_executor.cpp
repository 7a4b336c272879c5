// SPDX-License-Identifier: BSD-2-Clause
#include "linop/schedule_executor.hpp"

#include "dtensor/arithmetic.hpp"

namespace tenon {

namespace {

Index remoteCells(const std::vector<Transfer>& transfers, int rank) {
  Index sum = 0;
  for (const Transfer& t : transfers)
    if (t.peer != rank)
      sum += t.cells;
  return sum;
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
                                   const std::string& owner)
    : comm_(std::move(comm)), size_(dataTypeSize(type)), tag_(comm_->nextTag()),
      sourceSide_(remoteCells(schedule.sends, comm_->rank()) * size_, owner + " source buffer"),
      targetSide_(remoteCells(schedule.receives, comm_->rank()) * size_, owner + " target buffer") {
  makeDirection(forward_, schedule, Sense::Forward, tag_);
  makeDirection(transpose_, schedule, Sense::Adjoint, tag_);
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

std::vector<ScheduleExecutor::Region>
ScheduleExecutor::regionsOf(const std::vector<CellBox>& boxes) {
  std::vector<Region> regions;
  for (const CellBox& box : boxes) {
    Region& region = regions.emplace_back();
    std::copy(box.begin.begin(), box.begin.end(), region.begin.begin());
    std::copy(box.extent.begin(), box.extent.end(), region.extent.begin());
    region.step.fill(1);
    region.cells = cells(box.extent);
  }
  return regions;
}

void ScheduleExecutor::makeDirection(Direction& direction, const Schedule& schedule, Sense sense,
                                     int tag) {
  const bool forward = sense == Sense::Forward;
  direction.sums = forward ? schedule.sumsOnReceipt : schedule.sumsOnTranspose;
  direction.sendBuffer = (forward ? sourceSide_ : targetSide_).data<std::byte>();
  direction.receiveBuffer = (forward ? targetSide_ : sourceSide_).data<std::byte>();
  const Index targetCells = cells(forward ? schedule.targetExtent : schedule.sourceExtent);

  auto addParts = [&](const std::vector<Transfer>& transfers, std::byte* buffer,
                      std::vector<Message>& messages, std::vector<Part>& parts) {
    Index offset = 0;
    for (const Transfer& transfer : transfers) {
      Part part = makePart(transfer, sense);
      part.coversTarget = transfer.blocks.size() == 1 && transfer.cells == targetCells;
      if (transfer.peer != comm_->rank()) {
        part.message = static_cast<int>(messages.size());
        part.offset = offset;
        messages.push_back({transfer.peer, buffer + offset, transfer.cells * size_});
        offset += transfer.cells * size_;
      }
      parts.push_back(std::move(part));
    }
  };
  addParts(forward ? schedule.sends : schedule.receives, direction.sendBuffer, direction.sends,
           direction.packs);
  addParts(forward ? schedule.receives : schedule.sends, direction.receiveBuffer,
           direction.receives, direction.unpacks);
  for (std::size_t i = 0; i < direction.unpacks.size(); ++i)
    if (direction.unpacks[i].message < 0)
      direction.own = static_cast<int>(i);
  const Gaps& gaps = forward ? schedule.targetGaps : schedule.sourceGaps;
  direction.zeros = regionsOf(gaps.zeros);
  direction.callers = regionsOf(gaps.callers);
  direction.exchange = std::make_unique<Exchange>(comm_, tag, direction.sends, direction.receives);
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
