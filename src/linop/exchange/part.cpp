// SPDX-License-Identifier: BSD-2-Clause
// Converts the transfers of a schedule into parts (the data of one rank for another, part.hpp), and
// divides parts into chunks, which are sent one by one. For example, a region of 100 x 1000
// elements with at most 4096 elements per chunk is divided along dimension 0 into 25 chunks of 4
// rows.
//
// Sender and receiver divide a part independently, so the division depends only on the extents of
// its regions, which both know, and never on the strides of an array.
#include "linop/exchange/part.hpp"

#include "comm/memory/lane.hpp"

#include <algorithm>

namespace tenon {

namespace {

std::vector<Region> regionsOf(const std::vector<ElementBox>& boxes) {
  std::vector<Region> regions;
  for (const ElementBox& box : boxes) {
    Region& region = regions.emplace_back();
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

// Adds the same regions of the fields from 1 on.
void addFields(std::vector<Region>& regions, int fields) {
  const std::vector<Region> one = regions;
  for (int field = 1; field < fields; ++field)
    for (Region region : one) {
      region.field = field;
      regions.push_back(std::move(region));
    }
}

// If `transposed`, source and target are exchanged, for the adjoint.
std::vector<Part> partsOf(const std::vector<Transfer>& transfers, bool transposed, int rank,
                          Index elementBytes, int fields) {
  std::vector<Part> parts;
  for (const Transfer& transfer : transfers) {
    std::vector<Region> sources, targets;
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
      sources.push_back(source);
      targets.push_back(target);
    }
    if (transposed)
      sources.swap(targets);
    for (std::vector<Region>* regions : {&sources, &targets}) {
      std::ranges::for_each(*regions, makeBoxOfRun);
      addFields(*regions, fields);
    }
    // A chunk is the content of one slot of a lane, also for messages, so sums proceed in the same
    // steps with every carrier.
    const Index all = fields * transfer.elements;
    const Index chunkElements = LaneShape(all * elementBytes).dataBytes / elementBytes;
    Chunks chunks(sources, rank, chunkElements);
    const bool scaled = std::ranges::any_of(targets, isScaled);
    parts.push_back(
        {transfer.peer, all, std::move(sources), std::move(targets), std::move(chunks), scaled});
  }
  return parts;
}

// Whether all parts are added to one and the same box.
bool haveSameTarget(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.to.size() == 1 && part.to[0] == parts[0].to[0];
  });
}

} // namespace

// The adjoint packs the elements that the forward direction receives; its target elements without a
// contribution are those of the source.
Direction makeDirection(const Schedule& schedule, bool forward, int rank, Index elementBytes,
                        int fields) {
  const int dims = static_cast<int>(schedule.sourceExtent.size());
  const Gaps& gaps = forward ? schedule.targetGaps : schedule.sourceGaps;
  Direction direction{.packs = partsOf(forward ? schedule.sends : schedule.receives, !forward, dims,
                                       elementBytes, fields),
                      .unpacks = partsOf(forward ? schedule.receives : schedule.sends, !forward,
                                         dims, elementBytes, fields),
                      .zeros = regionsOf(gaps.zeros),
                      .userValues = regionsOf(gaps.userValues),
                      .rank = rank,
                      .sums = forward ? schedule.sumsOnReceipt : schedule.sumsOnTranspose};
  const std::vector<Part>& parts = direction.unpacks;
  direction.sameTarget = direction.sums && parts.size() > 1 && haveSameTarget(parts);
  // A first part that fills the target can apply beta, which saves a pass over the target.
  direction.coversTarget = !parts.empty() && std::ssize(parts[0].to) == fields &&
                           parts[0].elements == fields * elements(forward ? schedule.targetExtent
                                                                          : schedule.sourceExtent);
  return direction;
}

Chunks::Chunks(const std::vector<Region>& regions, int rank, Index maxElements) : first_{0} {
  Index elements = 0;
  for (const Region& region : regions)
    elements += region.elements;
  // A small part is one chunk, however many regions it has.
  if (elements <= maxElements) {
    first_.push_back(1);
    return;
  }
  for (const Region& region : regions) {
    cuts_.push_back(cutOf(region, rank, maxElements));
    first_.push_back(first_.back() + pieces(region, cuts_.back()));
  }
}

Chunks::Cut Chunks::cutOf(const Region& region, int rank, Index maxElements) {
  // Dimensions are included whole from the innermost outwards while they fit into a piece, whose
  // elements are then in long contiguous runs.
  Index inner = 1; // Elements per index of dimension d.
  int d = rank - 1;
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
