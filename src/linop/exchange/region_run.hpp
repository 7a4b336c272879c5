// SPDX-License-Identifier: BSD-2-Clause
// The operations on regions (boxes of elements of a local array, part.hpp) of which the carriers
// and the executor of conversions consist: packRegion() copies a region to contiguous memory,
// combineRegion() adds contributions to a region, y <- alpha x + beta y, and scaleRegion()
// multiplies one. Elements have the data type of the arrays. StoreChoice chooses the store
// instructions of packing.
#pragma once

#include "kernels/movement/block_copy.hpp"
#include "kernels/movement/listed_block.hpp"
#include "linop/exchange/part.hpp"
#include "linop/linear_op.hpp"
#include "sys/log/stopwatch.hpp"
#include "sys/types.hpp"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace tenon {

class BlockQueue; // kernels/movement/block_queue.hpp

// How elements that another core reads next are stored: with ordinary stores into the caches of
// this core, or with streaming stores to memory.
//
// If the two cores share a cache, cached stores are several times as fast as streaming stores; if
// they share none, cached stores are several times slower. The placement of the two cores is not
// known reliably and can change. Auto therefore measures the time of storing and reading for both
// ways and uses the faster one. The slower way is tried again after 8 stores, then after 16, 32 and
// so on up to 128, as long as it stays slower.

// The values of the option -tenon_conversion_stores.
enum class StoreWay { Auto, Cached, Streaming };

// The choices of the option.
inline constexpr const char* kStoreWayChoices = "auto|cached|streaming";
StoreWay parseStoreWay(std::string_view name);

// Chooses between cached and streaming stores for one lane, a ring of slots in shared memory that
// one rank fills and another reads.
class StoreChoice {
public:
  // With Auto the way is chosen by measured time; otherwise it is the requested one.
  StoreChoice(StoreWay requested, int slots) : requested_(requested), stored_(slots) {}

  // Calls store(way), which stores elements into a slot and returns their size in bytes.
  // readSeconds is the time that the receiver needed to read the slot's previous content.
  template <class Store>
  void run(int slot, double readSeconds, Store store) {
    if (requested_ != StoreWay::Auto) {
      store(requested_);
      return;
    }
    Stored& stored = stored_[slot];
    if (stored.bytes > 0)
      took(stored.way, (stored.seconds + readSeconds) / static_cast<double>(stored.bytes));
    stored.way = next();
    const Stopwatch watch;
    stored.bytes = store(stored.way);
    stored.seconds = watch.seconds();
  }
  // Excludes the present content of the slot from timing, because run() has not stored it.
  void forget(int slot) noexcept { stored_[slot].bytes = 0; }

  // The way of the next store with Auto.
  StoreWay next() noexcept;
  // Records the time of an earlier store and its reading.
  void took(StoreWay way, double secondsPerByte) noexcept;

private:
  struct Stored {
    StoreWay way = StoreWay::Auto;
    Index bytes = 0;
    double seconds = 0;
  };
  double& cost(StoreWay way) noexcept { return cost_[way == StoreWay::Streaming]; }
  StoreWay faster() const noexcept {
    return cost_[1] <= cost_[0] ? StoreWay::Streaming : StoreWay::Cached;
  }
  static StoreWay other(StoreWay way) noexcept {
    return way == StoreWay::Cached ? StoreWay::Streaming : StoreWay::Cached;
  }

  // Number of stores between two trials of the slower way; doubled while it stays slower.
  static constexpr int kFirstInterval = 8, kLastInterval = 128;

  StoreWay requested_;
  std::vector<Stored> stored_; // by slot
  StoreWay last_ = StoreWay::Cached;
  std::array<double, 2> cost_{}; // Seconds per byte of each way; 0 before the first measurement.
  int interval_ = kFirstInterval, untilTrial_ = kFirstInterval;
};

// The elements of a region in an array: address of the first, and strides in elements.
struct RegionView {
  const std::byte* first;
  std::array<Index, kMaxDims> steps;
  int listDim = -1; // The dimension along which elements are at listed positions, or -1.
  ListedPlaces places = {};
};
// `space` is the space of the kernels that use the view.
RegionView viewOf(const void* array, const Strides& strides, const Region& region, int rank,
                  Index elementBytes, Space space = Space::Host);
// The view of a region in the array of x.
RegionView viewOf(const DTensor& x, const Region& region);
// The view of a region whose elements are contiguous.
RegionView packedView(const std::byte* elements, const Region& region, int rank);

// How a contribution is combined with the target: y <- alpha x + beta y. For the first contribution
// to an element beta is that of the action, for later ones 1 (Region::Role). The region's sign and
// the weights of its list multiply the contribution. Combine::Max computes y <- max(x, y) instead,
// only for regions without signs and lists.
struct Meeting {
  Combine combine = Combine::Add;
  // Queue of the target's kernel context that collects small contributions into one kernel, or
  // NULL; a queued contribution is combined when the queue is flushed.
  BlockQueue* queue = nullptr;
  // By field: the region of the target that already has its values, or NULL; empty if there is none
  // in any field.
  std::span<const Region* const> inPlace = {};

  const Region* inPlaceOf(int field) const {
    return inPlace.empty() ? nullptr : inPlace[static_cast<std::size_t>(field)];
  }
};
// The beta of a contribution to this region.
inline double betaOf(const Action& action, const Region& to, const Meeting& meeting) {
  const bool appliesBeta = to.role == Region::Role::Only ||
                           (to.role == Region::Role::First && !meeting.inPlaceOf(to.field));
  return appliesBeta ? action.beta : 1;
}
void combineRegion(const Action& action, const Region& to, const RegionView& from,
                   const Meeting& meeting);

// Combines non-overlapping regions of the target with contiguous elements at `from`.
void combineRegions(const Action& action, std::span<const Region> regions, const std::byte* from);

// Combines these chunks of a part with contiguous elements; returns the end of the elements.
const std::byte* combineChunks(const Action& action, const Part& part, Interval chunks,
                               const std::byte* elements, const Meeting& meeting);

// Copies the elements of the region to contiguous memory; returns the end of the copy.
std::byte* packRegion(const DTensor& x, const Region& region, std::byte* elements, StoreWay way);
// The same through the caches, batched in a queue, which must have the context of x.
std::byte* packRegion(BlockQueue& queue, const DTensor& x, const Region& region,
                      std::byte* elements);
// The same for several regions.
void packRegions(const DTensor& x, std::span<const Region> regions, std::byte* elements);

// y <- factor y in the region. With factor 0, y is not read and the operation can be queued.
void scaleRegion(double factor, const Region& region, DTensor& y, BlockQueue* queue = nullptr);
// Sets y to 0 outside one region.
void clearAround(const Region& region, DTensor& y);
// Fills y with the lowest value of its type, the neutral element of the maximum.
void fillWithLowest(DTensor& y);

} // namespace tenon
