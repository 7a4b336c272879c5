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

namespace {

// Copies bytes of elements of type T from one place to another, or adds them there.
template <class T>
inline void moveElements(const std::byte* from, std::byte* to, Index bytes, bool adds) {
  if (!adds) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  auto* const __restrict sums = reinterpret_cast<T*>(to);
  const auto* const __restrict values = reinterpret_cast<const T*>(from);
  const Index count = bytes / Index(sizeof(T));
  // A vector instruction adds as few as two numbers; the loop around it doubles the work.
#pragma GCC unroll 8
  for (Index i = 0; i < count; ++i)
    sums[i] += values[i];
}

} // namespace

const std::byte* PackedRuns::unpack(DTensor& y, const std::byte* elements, bool adds) const {
  visitDataType(y.dataType(), [&]<class T>(T) {
    auto* const array = reinterpret_cast<std::byte*>(y.mutableData<T>());
    for (const Run& run : runs_) {
      moveElements<T>(elements, array + run.offset, run.bytes, adds);
      elements += run.bytes;
    }
  });
  return elements;
}

// The runs of both arrays have the same bytes in all, but can be divided differently.
void PackedRuns::move(const DTensor& x, const PackedRuns& from, DTensor& y, bool adds) const {
  const auto* const source = static_cast<const std::byte*>(arrayOf(x));
  visitDataType(y.dataType(), [&]<class T>(T) {
    auto* const target = reinterpret_cast<std::byte*>(y.mutableData<T>());
    auto run = from.runs_.begin();
    Index moved = 0; // of this run of the source
    for (const Run& to : runs_)
      for (Index begin = 0; begin < to.bytes;) {
        const Index bytes = std::min(run->bytes - moved, to.bytes - begin);
        moveElements<T>(source + run->offset + moved, target + to.offset + begin, bytes, adds);
        begin += bytes;
        moved += bytes;
        if (moved == run->bytes) {
          ++run;
          moved = 0;
        }
      }
  });
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

namespace {

// Whether the chunks are the whole part on the host. Runs can only be copied or added; anything
// else, such as factors and maxima, needs a kernel.
bool canHaveRuns(const Action& action, const Part& part, Interval chunks, const Meeting& meeting) {
  return action.alpha == 1 && meeting.combine != Combine::Max && !part.isScaled &&
         chunks == part.chunks.all() && action.y->space() == Space::Host;
}

// Whether the regions of the field are copied (0), added (1), or neither (another number). In a
// part they have the same role.
double betaOf(const Action& action, const Part& part, const FieldRegions& field,
              const Meeting& meeting) {
  return betaOf(action, field.of(part.to).front(), meeting);
}

} // namespace

const std::byte* combinePart(const Action& action, const Part& part, Interval chunks,
                             PartRuns& runs, const std::byte* elements, const Meeting& meeting) {
  if (!canHaveRuns(action, part, chunks, meeting))
    return combineChunks(action, part, chunks, elements, meeting);
  for (std::size_t i = 0; i < part.fields.size(); ++i) {
    DTensor& y = action.target(part.fields[i].field);
    const std::span<const Region> regions = part.fields[i].of(part.to);
    if (runs[i].find(y, regions)) {
      const double beta = betaOf(action, part, part.fields[i], meeting);
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

namespace {

// Combines a field of the part by runs. Returns false if it has none, or can be neither copied nor
// added.
bool combineByRuns(const Action& action, const Part& part, std::size_t index, OwnRuns& runs,
                   const Meeting& meeting) {
  const FieldRegions& field = part.fields[index];
  const DTensor& x = action.source(field.field);
  DTensor& y = action.target(field.field);
  if (meeting.inPlaceOf(field.field) || !runs.from[index].find(x, field.of(part.from)) ||
      !runs.to[index].find(y, field.of(part.to)))
    return false;
  const double beta = betaOf(action, part, field, meeting);
  if (beta != 0 && beta != 1)
    return false;
  runs.to[index].move(x, runs.from[index], y, /*adds=*/beta == 1);
  return true;
}

} // namespace

void combineOwnPart(const Action& action, const Part& part, OwnRuns& runs, const Meeting& meeting) {
  const bool canHave = canHaveRuns(action, part, part.chunks.all(), meeting);
  for (std::size_t i = 0; i < part.fields.size(); ++i)
    if (!canHave || !combineByRuns(action, part, i, runs, meeting))
      for (std::size_t n = part.fields[i].begin; n < part.fields[i].end; ++n)
        combineOwnRegion(action, part.from[n], part.to[n], meeting);
}

} // namespace tenon
