// SPDX-License-Identifier: BSD-2-Clause
// Regions of elements packed, scaled, or combined with a target: y <- alpha x + beta y. Elements
// are those of the arrays' data type.
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

// How elements that another core reads next are stored: through the caches of this core or past
// them.
//
// Cores that share a cache hand lines to each other in it, which is several times as fast as by way
// of memory; between cores that share none it is several times as slow. Where a rank's core is, and
// where the reader's, nothing tells for certain, and it changes. So the time that storing and
// reading take chooses: the slower way is tried again now and then, more seldom the longer it stays
// slower.

enum class StoreWay { Auto, Cached, Streaming };

// "auto", "cached", "streaming": the choices of the option.
inline constexpr const char* kStoreWayChoices = "auto|cached|streaming";
StoreWay parseStoreWay(std::string_view name);

// The choice for the slots of one lane.
class StoreChoice {
public:
  // With Auto the way is chosen by time, else it is always the one that was requested.
  StoreChoice(StoreWay requested, int slots) : requested_(requested), stored_(slots) {}

  // Calls store(way), which stores elements one way into a slot and returns how many bytes.
  // readSeconds is how long reading took what was stored there before.
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
  // Says that what is in the slot now was stored by other means, so that its reading is not timed.
  void forget(int slot) noexcept { stored_[slot].bytes = 0; }

  // The way of the next elements with Auto, and how long earlier ones took.
  StoreWay next() noexcept;
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

  static constexpr int kFirstInterval = 8, kLastInterval = 128;

  StoreWay requested_;
  std::vector<Stored> stored_; // by slot
  StoreWay last_ = StoreWay::Cached;
  std::array<double, 2> cost_{}; // seconds per byte, 0 before the first time
  int interval_ = kFirstInterval, untilTrial_ = kFirstInterval;
};

// Elements seen through a region: where the first lies, and their distances in elements.
struct RegionView {
  const std::byte* first;
  std::array<Index, kMaxRank> steps;
  int listDim = -1; // along which the elements lie at the listed places
  ListedPlaces places = {};
};
// Kernels of the space will use the view.
RegionView viewOf(const void* array, const Strides& strides, const Region& region, int rank,
                  Index elementBytes, Space space = Space::Host);
// The view of a region in the array of x.
RegionView viewOf(const DTensor& x, const Region& region);
// The view of a region whose elements lie one after the other.
RegionView packedView(const std::byte* elements, const Region& region, int rank);

// How contributions meet the target: the first to an element brings beta, the others are combined.
// The region's sign and the weights of its list multiply what comes; neither is combined by
// maximum. With a queue, which is of the context of the target, all are combined once it is
// flushed.
struct Meeting {
  Combine combine = Combine::Add;
  double beta = 0;
  BlockQueue* queue = nullptr; // where contributions may wait for those that follow
};
void combineRegion(const Action& action, const Region& to, const RegionView& from,
                   const Meeting& meeting);

// Combines regions of the target, which do not overlap, with elements that lie one after the other.
void combineRegions(const Action& action, std::span<const Region> regions, const std::byte* from);

// Combines these chunks of a part, whose elements lie one after the other; returns their end.
const std::byte* combineChunks(const Action& action, const Part& part, Interval chunks,
                               const std::byte* elements, const Meeting& meeting);

// Copies the region's elements to one place, one after the other; returns their end.
std::byte* packRegion(const DTensor& x, const Region& region, std::byte* elements, StoreWay way);
// The same through the caches, with what else is in the queue, which is of the context of x.
std::byte* packRegion(BlockQueue& queue, const DTensor& x, const Region& region,
                      std::byte* elements);
// The same for all of them.
void packRegions(const DTensor& x, std::span<const Region> regions, std::byte* elements);

// y <- factor y in the region; a factor of 0 never reads y, and may wait in a queue.
void scaleRegion(double factor, const Region& region, DTensor& y, BlockQueue* queue = nullptr);
// Sets all of y but one region to 0.
void clearAround(const Region& kept, DTensor& y);
// Fills y with the least value of its type, from which a maximum starts.
void fillWithLowest(DTensor& y);

} // namespace tenon
