// SPDX-License-Identifier: BSD-2-Clause
// Kernels on regions of elements (boxes in a rank's array, or lists of positions), and the choice
// of how to store data that another core reads next (StoreChoice in region_run.hpp). A conversion
// uses them to pack the elements for another rank into a buffer, and to combine received elements
// with the target: y <- alpha x + beta y. A view of a region is an address with strides, so arrays,
// packed buffers and the memory of another rank are processed by the same code.
#include "linop/exchange/region_run.hpp"

#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/block_queue.hpp"
#include "kernels/movement/block_stream.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon {

StoreWay parseStoreWay(std::string_view name) {
  if (name == "auto")
    return StoreWay::Auto;
  if (name == "cached")
    return StoreWay::Cached;
  if (name == "streaming")
    return StoreWay::Streaming;
  throw Error(TENON_ERR_ARG,
              fmt::format("unknown store '{}'; use one of {}", name, kStoreWayChoices));
}

// Alternates until both ways have a time; then the faster one, with trials of the slower.
StoreWay StoreChoice::next() noexcept {
  if (cost_[0] == 0 || cost_[1] == 0)
    return last_ = other(last_);
  if (untilTrial_-- > 0)
    return faster();
  untilTrial_ = interval_;
  return other(faster());
}

// A shorter time replaces the recorded one; a longer one moves it by a quarter of the difference,
// limited to four times the recorded time, since most delays have nothing to do with the way of
// storing. 0 means that there is no time yet, so recorded times are at least 1e-15.
void StoreChoice::took(StoreWay way, double secondsPerByte) noexcept {
  // kWeight: share of a longer time; kMax: bound on it; kMin: smallest recorded time in seconds.
  constexpr double kWeight = 0.25, kMax = 4, kMin = 1e-15;
  const double seconds = std::max(secondsPerByte, kMin);
  const StoreWay fasterBefore = faster();
  double& recorded = cost(way);
  recorded = recorded == 0 || seconds < recorded
                 ? seconds
                 : recorded + kWeight * (std::min(seconds, kMax * recorded) - recorded);
  // If the faster way changes, trials become frequent again; a trial that confirms the order makes
  // them rarer.
  if (faster() != fasterBefore)
    interval_ = untilTrial_ = kFirstInterval;
  else if (way != fasterBefore)
    interval_ = std::min(2 * interval_, kLastInterval);
}

namespace {

// A maximum starts from -infinity, or from the lowest number of integer types.
template <class T>
constexpr T lowestOf() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
}

// A view of y for writing. mutableData() marks y as changed, or throws if it is locked.
template <class T>
RegionView targetOf(DTensor& y, const Region& region) {
  return viewOf(y.mutableData<T>(), y.strides(), region, y.ndim(), sizeof(T), y.space());
}

template <class T>
T* elementsOf(const RegionView& view) {
  return const_cast<T*>(reinterpret_cast<const T*>(view.first));
}

} // namespace

RegionView viewOf(const void* array, const Strides& strides, const Region& region, int rank,
                  Index elementBytes, Space space) {
  // Offsets are computed in elements, like strides; a step of -1 runs backwards.
  Index offset = 0;
  RegionView view{.first = nullptr, .steps = {}};
  for (int d = 0; d < rank; ++d) {
    offset += region.begin[d] * strides[d];
    view.steps[d] = region.step[d] * strides[d];
  }
  view.first = static_cast<const std::byte*>(array) + offset * elementBytes;
  if (region.list) {
    const std::vector<int>& dims = region.list->dims;
    view.listDim = dims.front();
    view.places.dims = static_cast<int>(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      view.places.steps[d] = strides[dims[d]];
    view.places.positions =
        (space == Space::Host ? region.list->positions.data() : region.devicePositions) +
        region.first * view.places.dims;
  }
  return view;
}

RegionView viewOf(const DTensor& x, const Region& region) {
  return viewOf(arrayOf(x), x.strides(), region, x.ndim(), dataTypeSize(x.dataType()), x.space());
}

RegionView packedView(const std::byte* elements, const Region& region, int rank) {
  RegionView view{.first = elements, .steps = {}};
  Index stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    view.steps[d] = stride;
    stride *= region.extent[d];
  }
  return view;
}

namespace {

// The weights of a region's list, for kernels of the space; NULL for weights of 1.
const double* weightsOf(const Region& region, Space space) {
  if (!region.list || region.list->weights.empty())
    return nullptr;
  return (space == Space::Host ? region.list->weights.data() : region.deviceWeights) + region.first;
}

// The dimension along which one or both views are at listed positions, and the places of a view.
int listDimOf(const RegionView& from, const RegionView& to) {
  return from.listDim >= 0 ? from.listDim : to.listDim;
}
ListedPlaces placesOf(const RegionView& view, int dim) {
  ListedPlaces places = view.places;
  if (view.listDim < 0)
    places.steps[0] = view.steps[dim];
  return places;
}

// Moves elements between a strided view and a view at listed positions.
template <class T>
void moveListed(KernelContext& context, const Region& region, int rank, T alpha,
                const double* weights, const RegionView& from, T beta, const RegionView& to) {
  const int dim = listDimOf(from, to);
  listedAxpby<T>(context, rank, region.extent.data(), dim, alpha, weights,
                 elementsOf<const T>(from), from.steps.data(), placesOf(from, dim), beta,
                 elementsOf<T>(to), to.steps.data(), placesOf(to, dim));
}
template <class T>
void copyListed(BlockQueue& queue, const Region& region, int rank, const RegionView& from,
                const RegionView& to) {
  const int dim = listDimOf(from, to);
  queue.copyListed(rank, region.extent.data(), dim, elementsOf<const T>(from), from.steps.data(),
                   placesOf(from, dim), elementsOf<T>(to), to.steps.data(), placesOf(to, dim));
}

template <class T>
void addListed(BlockQueue& queue, const Region& region, int rank, const RegionView& from,
               const RegionView& to) {
  const int dim = listDimOf(from, to);
  queue.addListed(rank, region.extent.data(), dim, elementsOf<const T>(from), from.steps.data(),
                  placesOf(from, dim), elementsOf<T>(to), to.steps.data(), placesOf(to, dim),
                  *region.sums, region.numberInSums);
}

// Adds the elements of `from` to a box of y in the queue. The queue needs increasing indices, so
// dimensions with step -1 are reversed in both.
template <class T>
void addBy(BlockQueue& queue, const Region& to, const RegionView& from, DTensor& y) {
  const T* x = elementsOf<const T>(from);
  std::array<Index, kMaxDims> begin = to.begin, steps = from.steps;
  for (int d = 0; d < y.ndim(); ++d)
    if (to.step[d] < 0) {
      begin[d] -= to.extent[d] - 1;
      x += (to.extent[d] - 1) * steps[d];
      steps[d] = -steps[d];
    }
  queue.add(y.ndim(), begin.data(), to.extent.data(), x, steps.data(), y.mutableData<T>(),
            y.strides().data());
}

// Puts the contribution into the queue if possible. Otherwise flushes the queue, which keeps the
// order of contributions, and returns false.
template <class T>
bool queued(const Meeting& meeting, double alpha, const Region& to, const RegionView& from,
            double beta, DTensor& y) {
  if (!meeting.queue)
    return false;
  const bool adds = beta == 1, isPlain = alpha == 1 && (adds || beta == 0);
  const auto isUnit = [](Index step) { return step == 1 || step == -1; };
  const bool isListed = from.listDim >= 0 || to.list;
  // The queue copies and adds without factors or weights. At listed positions it adds lists that
  // are merged with others; elsewhere it adds to boxes without gaps, in either direction.
  const bool fits = isListed
                        ? (!adds || to.sums) && !weightsOf(to, y.space())
                        : !adds || std::all_of(to.step.begin(), to.step.begin() + y.ndim(), isUnit);
  if (!isPlain || !fits || meeting.combine == Combine::Max) {
    meeting.queue->flush();
    return false;
  }
  if (isListed && adds) {
    addListed<T>(*meeting.queue, to, y.ndim(), from, targetOf<T>(y, to));
  } else if (isListed) {
    copyListed<T>(*meeting.queue, to, y.ndim(), from, targetOf<T>(y, to));
  } else if (adds) {
    addBy<T>(*meeting.queue, to, from, y);
  } else {
    const RegionView target = targetOf<T>(y, to);
    meeting.queue->copy(y.ndim(), to.extent.data(), elementsOf<const T>(from), from.steps.data(),
                        elementsOf<T>(target), target.steps.data());
  }
  return true;
}

} // namespace

void combineRegion(const Action& action, const Region& to, const RegionView& from,
                   const Meeting& meeting) {
  DTensor& y = action.target(to.field);
  const double alpha = to.sign * action.alpha, beta = betaOf(action, to, meeting);
  visitDataType(y.dataType(), [&]<class T>(T) {
    if (queued<T>(meeting, alpha, to, from, beta, y))
      return;
    const RegionView target = targetOf<T>(y, to);
    if (from.listDim >= 0 || target.listDim >= 0)
      moveListed(y.context(), to, y.ndim(), static_cast<T>(alpha), weightsOf(to, y.space()), from,
                 static_cast<T>(beta), target);
    else if (meeting.combine == Combine::Max)
      blockCombine(y.context(), Combine::Max, y.ndim(), to.extent.data(), elementsOf<const T>(from),
                   from.steps.data(), elementsOf<T>(target), target.steps.data());
    else
      blockAxpby(y.context(), y.ndim(), to.extent.data(), static_cast<T>(alpha),
                 elementsOf<const T>(from), from.steps.data(), static_cast<T>(beta),
                 elementsOf<T>(target), target.steps.data());
  });
}

void combineRegions(const Action& action, std::span<const Region> regions, const std::byte* from) {
  const DTensor& y = *action.y;
  BlockQueue queue(y.context());
  for (const Region& region : regions) {
    combineRegion(action, region, packedView(from, region, y.ndim()),
                  {.combine = Combine::Add, .queue = &queue});
    from += region.elements * dataTypeSize(y.dataType());
  }
  queue.flush();
}

const std::byte* combineChunks(const Action& action, const Part& part, Interval chunks,
                               const std::byte* elements, const Meeting& meeting) {
  part.visit(chunks, [&](const Region&, const Region& to) {
    const DTensor& y = action.target(to.field);
    combineRegion(action, to, packedView(elements, to, y.ndim()), meeting);
    elements += to.elements * dataTypeSize(y.dataType());
  });
  return elements;
}

std::byte* packRegion(const DTensor& x, const Region& region, std::byte* elements, StoreWay way) {
  const RegionView source = viewOf(x, region), target = packedView(elements, region, x.ndim());
  visitDataType(x.dataType(), [&]<class T>(T) {
    if (source.listDim >= 0)
      moveListed(x.context(), region, x.ndim(), T(1), nullptr, source, T(0), target);
    else if (way == StoreWay::Streaming)
      blockStream(x.context(), x.ndim(), region.extent.data(), elementsOf<const T>(source),
                  source.steps.data(), elementsOf<T>(target));
    else
      blockCombine(x.context(), Combine::Copy, x.ndim(), region.extent.data(),
                   elementsOf<const T>(source), source.steps.data(), elementsOf<T>(target),
                   target.steps.data());
  });
  return elements + region.elements * dataTypeSize(x.dataType());
}

std::byte* packRegion(BlockQueue& queue, const DTensor& x, const Region& region,
                      std::byte* elements) {
  const RegionView source = viewOf(x, region), target = packedView(elements, region, x.ndim());
  visitDataType(x.dataType(), [&]<class T>(T) {
    if (region.list)
      return copyListed<T>(queue, region, x.ndim(), source, target);
    queue.copy(x.ndim(), region.extent.data(), elementsOf<const T>(source), source.steps.data(),
               elementsOf<T>(target), target.steps.data());
  });
  return elements + region.elements * dataTypeSize(x.dataType());
}

void packRegions(const DTensor& x, std::span<const Region> regions, std::byte* elements) {
  BlockQueue queue(x.context());
  for (const Region& region : regions)
    elements = packRegion(queue, x, region, elements);
  queue.flush();
}

void scaleRegion(double factor, const Region& region, DTensor& y, BlockQueue* queue) {
  visitDataType(y.dataType(), [&]<class T>(T) {
    const RegionView target = targetOf<T>(y, region);
    if (queue && factor == 0)
      return queue->clear(y.ndim(), region.extent.data(), elementsOf<T>(target),
                          target.steps.data());
    blockScale(y.context(), y.ndim(), region.extent.data(), static_cast<T>(factor),
               elementsOf<T>(target), target.steps.data());
  });
}

// Clears the rest of y slab by slab: in each dimension the elements below and above the region,
// within the region's bounds in all preceding dimensions. So no element is written twice.
void clearAround(const Region& region, DTensor& y) {
  if (region.elements == y.localElements())
    return;
  Region rest;
  std::copy(y.extent().begin(), y.extent().end(), rest.extent.begin());
  rest.step.fill(1);
  for (int d = 0; d < y.ndim(); ++d) {
    const Index regionEnd = region.begin[d] + region.extent[d];
    Region below = rest, above = rest;
    below.extent[d] = region.begin[d];
    above.begin[d] = regionEnd;
    above.extent[d] = y.extent()[d] - regionEnd;
    for (const Region* side : {&below, &above})
      if (side->extent[d] > 0)
        scaleRegion(0, *side, y);
    rest.begin[d] = region.begin[d];
    rest.extent[d] = region.extent[d];
  }
}

void fillWithLowest(DTensor& y) {
  visitDataType(y.dataType(), [&]<class T>(T) {
    fillBlock(y.context(), y.ndim(), y.extent().data(), lowestOf<T>(), y.mutableData<T>(),
              y.strides().data());
  });
}

} // namespace tenon
