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

PackedRuns::PackedRuns(Index bytes)
    : maxRuns_(bytes < kLargePart ? static_cast<std::size_t>(bytes / kMinRun) : 0) {
  runs_.reserve(maxRuns_);
}

bool PackedRuns::add(const Run& run) {
  if (!runs_.empty() && runs_.back().offset + runs_.back().bytes == run.offset) {
    runs_.back().bytes += run.bytes;
    return true;
  }
  if (runs_.size() == maxRuns_)
    return false;
  runs_.push_back(run);
  return true;
}

// Adds the runs of all indices of `dim` and of the dimensions after it, where `offset` is that of
// the indices before `dim`. Returns false if there are too many.
bool PackedRuns::addRegion(const Region& region, int dim, Index offset) {
  if (dim == inner_)
    return add({.offset = offset * elementBytes_, .bytes = innerBytes_});
  const bool isListed = region.list && region.list->dims.front() == dim;
  for (Index i = 0; i < region.extent[dim]; ++i) {
    Index place = offset;
    if (isListed) {
      // An entry of a list has one index for each of the dimensions that are listed (part.hpp).
      const std::vector<int>& dims = region.list->dims;
      const Index* at =
          region.list->positions.data() + (region.first + i) * static_cast<Index>(dims.size());
      for (std::size_t d = 0; d < dims.size(); ++d)
        place += at[d] * strides_[dims[d]];
    } else {
      place += (region.begin[dim] + i * region.step[dim]) * strides_[dim];
    }
    if (!addRegion(region, dim + 1, place))
      return false;
  }
  return true;
}

bool PackedRuns::findRuns(const DTensor& x, std::span<const Region> regions) {
  strides_ = x.strides();
  runs_.clear();
  elementBytes_ = dataTypeSize(x.dataType());
  return std::ranges::all_of(regions, [&](const Region& region) {
    // From the last dimension on, dimensions whose stride is the number of elements of those after
    // them are one run together.
    Index contiguous = 1;
    Index begin = 0; // Of the innermost dimensions.
    inner_ = x.ndim();
    const auto isInner = [&](int d) {
      const bool isListed =
          region.list && std::ranges::find(region.list->dims, d) != region.list->dims.end();
      return !isListed && (region.extent[d] == 1 || region.step[d] * strides_[d] == contiguous);
    };
    for (int d = inner_ - 1; d >= 0 && isInner(d); --d) {
      begin += region.begin[d] * strides_[d];
      contiguous *= region.extent[d];
      inner_ = d;
    }
    innerBytes_ = contiguous * elementBytes_;
    return addRegion(region, 0, begin);
  });
}

bool PackedRuns::find(const DTensor& x, std::span<const Region> regions) {
  if (maxRuns_ == 0)
    return false;
  if (!isFound_ || strides_ != x.strides()) {
    hasRuns_ = findRuns(x, regions);
    isFound_ = true;
  }
  return hasRuns_;
}

std::byte* PackedRuns::pack(const DTensor& x, std::byte* elements) const {
  const auto* array = static_cast<const std::byte*>(arrayOf(x));
  for (const Run& run : runs_) {
    std::memcpy(elements, array + run.offset, static_cast<std::size_t>(run.bytes));
    elements += run.bytes;
  }
  return elements;
}

const std::byte* PackedRuns::unpack(DTensor& y, const std::byte* elements, bool adds) const {
  visitDataType(y.dataType(), [&]<class T>(T) {
    auto* const array = reinterpret_cast<std::byte*>(y.mutableData<T>());
    for (const Run& run : runs_) {
      if (adds) {
        auto* const __restrict sums = reinterpret_cast<T*>(array + run.offset);
        const auto* const __restrict values = reinterpret_cast<const T*>(elements);
        const Index count = run.bytes / Index(sizeof(T));
        // A vector instruction adds as few as two numbers; the loop around it doubles the work.
#pragma GCC unroll 8
        for (Index i = 0; i < count; ++i)
          sums[i] += values[i];
      } else {
        std::memcpy(array + run.offset, elements, static_cast<std::size_t>(run.bytes));
      }
      elements += run.bytes;
    }
  });
  return elements;
}

PartRuns runsOf(const Part& part) {
  PartRuns runs;
  for (const FieldRegions& field : part.fields)
    runs.emplace_back(part.bytes < kLargePart ? field.elements * field.elementBytes : 0);
  return runs;
}

std::byte* packPart(const Action& action, const Part& part, PartRuns& runs, std::byte* elements,
                    StoreWay way) {
  for (std::size_t i = 0; i < part.fields.size(); ++i) {
    const DTensor& x = action.source(part.fields[i].field);
    const std::span<const Region> regions = part.fields[i].of(part.from);
    if (runs[i].find(x, regions)) {
      elements = runs[i].pack(x, elements);
      continue;
    }
    for (const Region& region : regions)
      elements = packRegion(x, region, elements, way);
  }
  return elements;
}

const std::byte* combinePart(const Action& action, const Part& part, Interval chunks,
                             PartRuns& runs, const std::byte* elements, const Meeting& meeting) {
  // Runs can only be copied or added; anything else, such as factors and maxima, needs a kernel.
  const bool isPlain = action.alpha == 1 && meeting.combine != Combine::Max && !part.isScaled;
  if (!isPlain || chunks != part.chunks.all() || action.y->space() != Space::Host)
    return combineChunks(action, part, chunks, elements, meeting);
  for (std::size_t i = 0; i < part.fields.size(); ++i) {
    DTensor& y = action.target(part.fields[i].field);
    const std::span<const Region> regions = part.fields[i].of(part.to);
    if (runs[i].find(y, regions)) {
      // The regions of a field in a part have the same role.
      const double beta = betaOf(action, regions.front(), meeting);
      if (beta == 0 || beta == 1) {
        elements = runs[i].unpack(y, elements, /*adds=*/beta == 1);
        continue;
      }
    }
    for (const Region& region : regions) {
      combineRegion(action, region, packedView(elements, region, y.ndim()), meeting);
      elements += region.elements * dataTypeSize(y.dataType());
    }
  }
  return elements;
}

} // namespace tenon
