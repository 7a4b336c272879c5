// SPDX-License-Identifier: BSD-2-Clause
// Finds the runs of contiguous bytes of regions in an array (packed_runs.hpp), in the order of
// packed elements: each index of the dimensions before the contiguous ones is a run, which
// continues the last one if it begins where that ends. For the rows {4, 5, 6, 9} of an array of
// rows of 8 numbers, the runs are the bytes of rows 4 to 6 and those of row 9.
#include "linop/carriers/packed_runs.hpp"

#include "comm/memory/lane.hpp"
#include "dtensor/arithmetic.hpp"

#include <algorithm>
#include <cstring>

namespace tenon {

PackedRuns::PackedRuns(Index bytes, int fields)
    : maxRuns_(bytes < kLargePart ? static_cast<std::size_t>(bytes / fields / kMinRun) : 0),
      found_(static_cast<std::size_t>(maxRuns_ > 0 ? fields : 0)) {
  if (!found_.empty())
    found_.front().runs.reserve(maxRuns_);
}

bool PackedRuns::add(std::vector<Run>& runs, const Run& run) const {
  if (!runs.empty() && runs.back().offset + runs.back().bytes == run.offset) {
    runs.back().bytes += run.bytes;
    return true;
  }
  if (runs.size() == maxRuns_)
    return false;
  runs.push_back(run);
  return true;
}

// Adds the runs of all indices of `dim` and of the dimensions after it, where `offset` is that of
// the indices before `dim`. Returns false if there are too many.
bool PackedRuns::addRegion(Found& found, const Region& region, int dim, Index offset) const {
  if (dim == inner_)
    return add(found.runs, {.offset = offset * elementBytes_, .bytes = innerBytes_});
  const bool isListed = region.list && region.list->dims.front() == dim;
  for (Index i = 0; i < region.extent[dim]; ++i) {
    Index place = offset;
    if (isListed) {
      // An entry of a list has one index for each of the dimensions that are listed (part.hpp).
      const std::vector<int>& dims = region.list->dims;
      const Index* at =
          region.list->positions.data() + (region.first + i) * static_cast<Index>(dims.size());
      for (std::size_t d = 0; d < dims.size(); ++d)
        place += at[d] * found.strides[dims[d]];
    } else {
      place += (region.begin[dim] + i * region.step[dim]) * found.strides[dim];
    }
    if (!addRegion(found, region, dim + 1, place))
      return false;
  }
  return true;
}

void PackedRuns::findRuns(Found& found, const DTensor& x, std::span<const Region> regions) {
  found.strides = x.strides();
  found.runs.clear();
  found.runs.reserve(maxRuns_);
  elementBytes_ = dataTypeSize(x.dataType());
  found.hasRuns = std::ranges::all_of(regions, [&](const Region& region) {
    // From the last dimension on, dimensions whose stride is the number of elements of those after
    // them are one run together.
    Index contiguous = 1;
    Index begin = 0; // Of the innermost dimensions.
    inner_ = x.ndim();
    const auto isInner = [&](int d) {
      const bool isListed =
          region.list && std::ranges::find(region.list->dims, d) != region.list->dims.end();
      return !isListed &&
             (region.extent[d] == 1 || region.step[d] * found.strides[d] == contiguous);
    };
    for (int d = inner_ - 1; d >= 0 && isInner(d); --d) {
      begin += region.begin[d] * found.strides[d];
      contiguous *= region.extent[d];
      inner_ = d;
    }
    innerBytes_ = contiguous * elementBytes_;
    return addRegion(found, region, 0, begin);
  });
}

bool PackedRuns::find(const DTensor& x, std::span<const Region> regions) {
  if (maxRuns_ == 0)
    return false;
  // Most arrays have the strides of the last one.
  for (std::size_t i = 0; i < used_; ++i) {
    const std::size_t at = (at_ + i) % used_;
    if (found_[at].strides == x.strides()) {
      at_ = at;
      return found_[at].hasRuns;
    }
  }
  // Once there are as many as fields, the one after the last used one is replaced.
  at_ = used_ < found_.size() ? used_++ : (at_ + 1) % found_.size();
  findRuns(found_[at_], x, regions);
  return found_[at_].hasRuns;
}

std::byte* PackedRuns::pack(const DTensor& x, std::byte* elements) const {
  const auto* array = static_cast<const std::byte*>(arrayOf(x));
  for (const Run& run : found_[at_].runs) {
    std::memcpy(elements, array + run.offset, static_cast<std::size_t>(run.bytes));
    elements += run.bytes;
  }
  return elements;
}

const std::byte* PackedRuns::unpack(DTensor& y, const std::byte* elements, bool adds) const {
  visitDataType(y.dataType(), [&]<class T>(T) {
    auto* const array = reinterpret_cast<std::byte*>(y.mutableData<T>());
    for (const Run& run : found_[at_].runs) {
      if (adds) {
        auto* const sums = reinterpret_cast<T*>(array + run.offset);
        const auto* const values = reinterpret_cast<const T*>(elements);
        // A vector instruction adds as few as two numbers; the loop around it doubles the work.
#pragma GCC unroll 8
        for (Index i = 0; i < run.bytes / Index(sizeof(T)); ++i)
          sums[i] += values[i];
      } else {
        std::memcpy(array + run.offset, elements, static_cast<std::size_t>(run.bytes));
      }
      elements += run.bytes;
    }
  });
  return elements;
}

namespace {

// The regions of a field, which are the same in each field.
std::span<const Region> regionsOf(const std::vector<Region>& regions, const Action& action,
                                  int field) {
  const std::size_t count = regions.size() / static_cast<std::size_t>(action.fields());
  return std::span(regions).subspan(count * static_cast<std::size_t>(field), count);
}

} // namespace

std::byte* packPart(const Action& action, const Part& part, PackedRuns& runs, std::byte* elements,
                    StoreWay way) {
  for (int field = 0; field < action.fields(); ++field) {
    const DTensor& x = action.source(field);
    const std::span<const Region> regions = regionsOf(part.from, action, field);
    if (runs.find(x, regions)) {
      elements = runs.pack(x, elements);
      continue;
    }
    for (const Region& region : regions)
      elements = packRegion(x, region, elements, way);
  }
  return elements;
}

const std::byte* combinePart(const Action& action, const Part& part, Interval chunks,
                             PackedRuns& runs, const std::byte* elements, const Meeting& meeting) {
  // Runs can only be copied or added; anything else, such as factors and maxima, needs a kernel.
  const bool isPlain = action.alpha == 1 && (meeting.beta == 0 || meeting.beta == 1) &&
                       meeting.combine != Combine::Max && !part.isScaled;
  if (!isPlain || chunks != part.chunks.all() || action.y->space() != Space::Host)
    return combineChunks(action, part, chunks, elements, meeting);
  for (int field = 0; field < action.fields(); ++field) {
    DTensor& y = action.target(field);
    const std::span<const Region> regions = regionsOf(part.to, action, field);
    if (runs.find(y, regions)) {
      elements = runs.unpack(y, elements, /*adds=*/meeting.beta == 1);
      continue;
    }
    for (const Region& region : regions) {
      combineRegion(action, region, packedView(elements, region, y.ndim()), meeting);
      elements += region.elements * dataTypeSize(y.dataType());
    }
  }
  return elements;
}

} // namespace tenon
