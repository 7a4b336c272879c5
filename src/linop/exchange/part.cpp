// SPDX-License-Identifier: BSD-2-Clause
// Converts the transfers of a schedule into parts (the data of one rank for another, part.hpp), and
// divides parts into chunks, which are sent one by one. For example, a region of 100 x 1000
// elements with at most 4096 elements per chunk is divided along dimension 0 into 25 chunks of 4
// rows. The transfers of several fields to or from a peer become one part.
//
// Sender and receiver divide a part independently, so the division depends only on the extents of
// its regions, which both know, and never on the strides of an array.
#include "linop/exchange/part.hpp"

#include "comm/memory/lane.hpp"
#include "sys/errors/error.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace tenon {

namespace {

std::vector<Region> regionsOf(const std::vector<ElementBox>& boxes, int field) {
  std::vector<Region> regions;
  for (const ElementBox& box : boxes) {
    Region& region = regions.emplace_back();
    region.field = field;
    std::copy(box.begin.begin(), box.begin.end(), region.begin.begin());
    std::copy(box.extent.begin(), box.extent.end(), region.extent.begin());
    region.step.fill(1);
    region.elements = elements(box.extent);
  }
  return regions;
}

// List entries at consecutive positions of one dimension, such as the ghosts of a mesh, become a
// box: the message can then be sent from the array, or received into it.
void makeBoxOfRun(Region& region) {
  if (!region.list || region.list->dims.size() != 1 || !region.list->weights.empty())
    return;
  const std::vector<Index>& positions = region.list->positions;
  const auto isGap = [](Index a, Index b) { return b != a + 1; };
  if (positions.empty() || std::ranges::adjacent_find(positions, isGap) != positions.end())
    return;
  const int dim = region.list->dims.front();
  region.begin[dim] = positions.front();
  region.step[dim] = 1;
  region.list = nullptr;
}

bool isScaled(const Region& region) {
  return region.sign != 1 || (region.list && !region.list->weights.empty());
}

// The transfers of a field in one direction: those that a rank sends, or those that it receives.
struct FieldTransfers {
  const std::vector<Transfer>* transfers;
  bool isReversed; // True if sources and targets of the schedule are exchanged.
  int field, dims;
  Index elementBytes;
  bool sums;
};

// Fields with larger elements come first in a part.
std::vector<FieldTransfers> transfersOf(std::span<const FieldSchedule> fields, bool forward,
                                        bool areSent) {
  std::vector<FieldTransfers> all;
  for (const FieldSchedule& one : fields) {
    const Schedule& schedule = one.schedule;
    const bool isReversed = forward == one.isTransposed;
    all.push_back({.transfers = areSent != isReversed ? &schedule.sends : &schedule.receives,
                   .isReversed = isReversed,
                   .field = static_cast<int>(all.size()),
                   .dims = static_cast<int>(schedule.sourceExtent.size()),
                   .elementBytes = dataTypeSize(one.type),
                   .sums = isReversed ? schedule.sumsOnTranspose : schedule.sumsOnReceipt});
  }
  std::ranges::stable_sort(all, std::greater(), &FieldTransfers::elementBytes);
  return all;
}

// Whether no other of these peers has to come before this one.
bool canBeNext(int peer, const std::vector<std::vector<int>>& orders) {
  return std::ranges::all_of(orders, [&](const std::vector<int>& order) {
    return order.empty() || order.front() == peer || std::ranges::find(order, peer) == order.end();
  });
}

// The peers of all fields: in the order of each field that sums, since contributions are added in
// this order, and otherwise in that of their first occurrence.
std::vector<int> jointOrder(const std::vector<FieldTransfers>& fields, bool areSent) {
  std::vector<int> left, order;
  std::vector<std::vector<int>> orders; // of the fields that sum, of the peers that are left
  for (const FieldTransfers& field : fields) {
    std::vector<int> peers;
    for (const Transfer& transfer : *field.transfers) {
      peers.push_back(transfer.peer);
      if (fields.size() == 1 || std::ranges::find(left, transfer.peer) == left.end())
        left.push_back(transfer.peer);
    }
    if (field.sums && !areSent)
      orders.push_back(std::move(peers));
  }
  if (fields.size() == 1)
    return left;
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, [&](int peer) { return canBeNext(peer, orders); });
    if (next == left.end())
      throw Error(
          TENON_ERR_SUPPORT,
          "the fields of an exchange, or of its adjoint, are sums in contrary orders of the "
          "ranks, so one message for all of them would change the sums; make their process grids "
          "from the ranks in the same order, or exchange them in separate calls");
    for (std::vector<int>& peers : orders)
      std::erase(peers, *next);
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

// Appends the regions of a transfer of a field to the part.
void addTransfer(const FieldTransfers& field, const Transfer& transfer, Part& part) {
  const std::size_t begin = part.from.size();
  for (const ElementBlock& block : transfer.blocks) {
    Region source, target;
    for (std::size_t d = 0; d < block.extent.size(); ++d) {
      source.extent[d] = target.extent[d] = block.extent[d];
      source.begin[d] = block.sourceBegin[d];
      source.step[d] = block.sourceStep[d];
      target.begin[d] = block.targetBegin[d];
      target.step[d] = block.targetStep[d];
    }
    source.elements = target.elements = elements(block.extent);
    source.list = block.sourceList;
    target.list = block.targetList;
    source.sign = target.sign = block.sign;
    source.field = target.field = field.field;
    if (field.isReversed)
      std::swap(source, target);
    part.from.push_back(std::move(source));
    part.to.push_back(std::move(target));
    makeBoxOfRun(part.from.back());
    makeBoxOfRun(part.to.back());
  }
  part.bytes += transfer.elements * field.elementBytes;
  part.fields.push_back({.field = field.field,
                         .dims = field.dims,
                         .elementBytes = field.elementBytes,
                         .elements = transfer.elements,
                         .begin = begin,
                         .end = part.from.size()});
}

std::vector<Part> partsOf(const std::vector<FieldTransfers>& fields, bool areSent) {
  std::map<int, Part> byPeer;
  for (const FieldTransfers& field : fields)
    for (const Transfer& transfer : *field.transfers)
      addTransfer(field, transfer, byPeer[transfer.peer]);
  std::vector<Part> parts;
  for (const int peer : jointOrder(fields, areSent)) {
    Part& part = parts.emplace_back(std::move(byPeer[peer]));
    part.peer = peer;
    // A chunk is the content of one slot of a lane, also for messages, so sums proceed in the same
    // steps with every carrier.
    part.chunks = Chunks(part.from, part.fields, LaneShape(part.bytes).dataBytes);
    part.isScaled = std::ranges::any_of(part.to, isScaled);
  }
  return parts;
}

// Whether all parts are added to one and the same box.
bool haveSameTarget(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.to.size() == 1 && part.to[0] == parts[0].to[0];
  });
}

// The first part with data of a field, or NULL.
const FieldRegions* firstOf(const std::vector<Part>& parts, int field) {
  for (const Part& part : parts)
    for (const FieldRegions& regions : part.fields)
      if (regions.field == field)
        return &regions;
  return nullptr;
}

// The adjoint's target elements without a contribution are those of the source.
Direction::Target targetOf(const FieldSchedule& one, bool forward, int field,
                           const std::vector<Part>& parts) {
  const Schedule& schedule = one.schedule;
  const bool isReversed = forward == one.isTransposed;
  const Gaps& gaps = isReversed ? schedule.sourceGaps : schedule.targetGaps;
  const Shape& extent = isReversed ? schedule.sourceExtent : schedule.targetExtent;
  const FieldRegions* first = firstOf(parts, field);
  return {.zeros = regionsOf(gaps.zeros, field),
          .userValues = regionsOf(gaps.userValues, field),
          .sums = isReversed ? schedule.sumsOnTranspose : schedule.sumsOnReceipt,
          // A first part that fills the target can apply beta, which saves a pass over the target.
          .isCovered =
              first && first->end - first->begin == 1 && first->elements == elements(extent)};
}

// The roles of the regions of targets that sum.
void setRoles(Direction& direction) {
  std::vector<bool> hasFirst(direction.targets.size());
  for (Part& part : direction.unpacks)
    for (const FieldRegions& regions : part.fields) {
      const Direction::Target& target = direction.targets[regions.field];
      const bool isFirst = target.isCovered && !hasFirst[regions.field];
      hasFirst[regions.field] = true;
      for (std::size_t i = regions.begin; target.sums && i < regions.end; ++i)
        part.to[i].role = isFirst ? Region::Role::First : Region::Role::Added;
    }
}

} // namespace

// The adjoint packs the elements that the forward direction receives.
Direction makeDirection(std::span<const FieldSchedule> fields, bool forward, int rank) {
  Direction direction{.packs = partsOf(transfersOf(fields, forward, /*areSent=*/true), true),
                      .unpacks = partsOf(transfersOf(fields, forward, /*areSent=*/false), false),
                      .targets = {},
                      .rank = rank};
  for (const FieldSchedule& one : fields) {
    const int field = static_cast<int>(direction.targets.size());
    direction.targets.push_back(targetOf(one, forward, field, direction.unpacks));
    direction.sums = direction.sums || direction.targets.back().sums;
    direction.alignment = std::max(direction.alignment, dataTypeSize(one.type));
  }
  const std::vector<Part>& parts = direction.unpacks;
  direction.sameTarget = direction.sums && parts.size() > 1 && haveSameTarget(parts);
  setRoles(direction);
  return direction;
}

Chunks::Chunks(const std::vector<Region>& regions, std::span<const FieldRegions> fields,
               Index maxBytes) {
  Index bytes = 0;
  for (const FieldRegions& field : fields)
    bytes += field.elements * field.elementBytes;
  // A small part is one chunk, however many regions it has.
  if (bytes <= maxBytes)
    return;
  first_ = {0};
  for (const FieldRegions& field : fields)
    for (const Region& region : field.of(regions)) {
      cuts_.push_back(cutOf(region, field.dims, maxBytes / field.elementBytes));
      first_.push_back(first_.back() + pieces(region, cuts_.back()));
    }
}

Chunks::Cut Chunks::cutOf(const Region& region, int dims, Index maxElements) {
  // Dimensions are included whole from the innermost outwards while they fit into a piece, whose
  // elements are then in long contiguous runs.
  Index inner = 1; // Elements per index of dimension d.
  int d = dims - 1;
  while (d > 0 && inner * region.extent[d] <= maxElements)
    inner *= region.extent[d--];
  return {.dim = d, .rows = std::clamp(maxElements / inner, Index(1), region.extent[d])};
}

// Each index combination of the dimensions before the divided one begins new pieces.
Index Chunks::pieces(const Region& region, const Cut& cut) {
  Index count = (region.extent[cut.dim] + cut.rows - 1) / cut.rows;
  for (int d = 0; d < cut.dim; ++d)
    count *= region.extent[d];
  return count;
}

// Pieces are numbered in row-major order; the last piece of a row can be smaller.
Region Chunks::pieceOf(const Region& region, const Cut& cut, Index piece) {
  Region result = region;
  result.sums = nullptr; // which has all entries of the region
  const auto narrow = [&](int d, Index at, Index extent) {
    if (region.list && d == region.list->dims.front())
      result.first = region.first + at;
    else
      result.begin[d] = region.begin[d] + at * region.step[d];
    result.elements = result.elements / region.extent[d] * extent;
    result.extent[d] = extent;
  };
  const Index perRow = (region.extent[cut.dim] + cut.rows - 1) / cut.rows;
  const Index at = piece % perRow * cut.rows;
  narrow(cut.dim, at, std::min(cut.rows, region.extent[cut.dim] - at));
  Index rest = piece / perRow;
  for (int d = cut.dim - 1; d >= 0; --d) {
    narrow(d, rest % region.extent[d], 1);
    rest /= region.extent[d];
  }
  return result;
}

} // namespace tenon
