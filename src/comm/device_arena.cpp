// SPDX-License-Identifier: BSD-2-Clause
#include "comm/device_arena.hpp"

#include "comm/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace tenon {

namespace {

constexpr Index kSharedUnit = Index(2) << 20; // of CUDA
constexpr Index kLeastSlab = Index(8) << 20;
constexpr Index kDeviceAlignment = 256;

// What a rank wrote somewhere, by which the others see that they read there and nowhere else.
struct Sample {
  DevicePlace place{};
  std::array<std::uint64_t, 32> words{};
};

// Never the same twice, as the memory may be what an earlier communicator had.
void draw(Sample& sample, int rank) {
  static std::atomic<std::uint64_t> next{0};
  for (std::uint64_t& word : sample.words)
    word = static_cast<std::uint64_t>(rank) << 32 | ++next;
}

} // namespace

DeviceArena::Made DeviceArena::make(MPI_Comm comm, const std::string& whyNot) {
  const Node node(comm);
  if (!whyNot.empty())
    return {.reason = whyNot};
  std::shared_ptr<DeviceArena> arena;
  std::vector<Sample> samples(node.size);
  Sample& own = samples[node.rank];
  Buffer memory;
  std::string reason = node.whyNot([&] {
    arena.reset(new DeviceArena);
    if (!arena->addSlab(kLeastSlab))
      throw Error(TENON_ERR_MEMORY, "the device has no memory left");
    memory = Buffer(sizeof own.words, "sample of device memory", arena);
    draw(own, node.rank);
    own.place = arena->placeOf(memory.data<void>());
    arena->copy(memory.data<void>(), own.words.data(), sizeof own.words);
  });
  if (!reason.empty())
    return {.reason = reason};
  checkMpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, samples.data(), sizeof(Sample),
                         MPI_BYTE, node.comm),
           "MPI_Allgather");
  reason = node.whyNot([&] {
    for (int r = 0; r < node.size; ++r)
      if (r != node.rank &&
          !arena->finds(samples[r].words.data(), sizeof own.words, samples[r].place))
        throw Error(TENON_ERR_LIBRARY,
                    fmt::format("rank {} of the node, on {}, opened the device memory of rank {} "
                                "and read other data there than that rank had written",
                                node.rank, Device::get().name(), r));
  });
  if (!reason.empty())
    return {.reason = reason};
  return {.arena = std::move(arena)};
}

DeviceArena::DeviceArena() : stream_(Stream::make()), source_(Device::get().unpooled(stream_)) {}

void DeviceArena::copy(void* to, const void* from, Index bytes) const {
  Device::get().copy(to, from, bytes, stream_);
  stream_.synchronise();
}

bool DeviceArena::finds(const void* data, Index bytes, const DevicePlace& place) {
  std::vector<std::byte> found(bytes);
  copy(found.data(), at(place), bytes);
  return std::memcmp(found.data(), data, found.size()) == 0;
}

DeviceArena::~DeviceArena() {
  for (const auto& [key, memory] : opened_)
    Device::get().closeShown(memory);
  const std::lock_guard lock(spare().mutex);
  for (Slab& slab : slabs_)
    spare().slabs.push_back(std::move(slab));
}

// Never destroyed, as slabs are not freed.
DeviceArena::Spare& DeviceArena::spare() {
  static auto* all = new Spare;
  return *all;
}

bool DeviceArena::addSlab(Index leastBytes) {
  {
    const std::lock_guard lock(spare().mutex);
    auto& slabs = spare().slabs;
    const auto fits = std::find_if(slabs.begin(), slabs.end(),
                                   [&](const Slab& slab) { return slab.bytes >= leastBytes; });
    if (fits != slabs.end()) {
      slabs_.push_back(std::move(*fits));
      slabs.erase(fits);
      return true;
    }
  }
  const Index bytes = roundedUp(std::max(leastBytes, kLeastSlab), kSharedUnit);
  void* const memory = source_->take(bytes);
  if (!memory)
    return false;
  try {
    slabs_.push_back({.memory = static_cast<std::byte*>(memory),
                      .bytes = bytes,
                      .key = Device::get().keyOf(memory),
                      .places = FirstFit(bytes)});
  } catch (...) {
    source_->giveBack(memory);
    throw;
  }
  return true;
}

void* DeviceArena::take(Index bytes) {
  const std::lock_guard lock(mutex_);
  const auto takeFrom = [&](Slab& slab) -> void* {
    const auto place = slab.places.take(bytes, kDeviceAlignment);
    return place ? slab.memory + *place : nullptr;
  };
  for (Slab& slab : slabs_)
    if (void* const memory = takeFrom(slab))
      return memory;
  return addSlab(bytes) ? takeFrom(slabs_.back()) : nullptr;
}

void DeviceArena::giveBack(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  for (Slab& slab : slabs_)
    if (slab.contains(memory))
      slab.places.giveBack(static_cast<std::byte*>(memory) - slab.memory);
}

void DeviceArena::fill(void* memory, unsigned char byte, Index bytes) {
  source_->fill(memory, byte, bytes);
}

DevicePlace DeviceArena::placeOf(const void* memory) const {
  const std::lock_guard lock(mutex_);
  const auto slab = std::find_if(slabs_.begin(), slabs_.end(),
                                 [&](const Slab& one) { return one.contains(memory); });
  return {.slab = slab->key, .offset = static_cast<const std::byte*>(memory) - slab->memory};
}

const std::byte* DeviceArena::at(const DevicePlace& place) {
  auto opened = opened_.find(place.slab);
  if (opened == opened_.end())
    opened = opened_.emplace(place.slab, Device::get().openShown(place.slab)).first;
  return static_cast<const std::byte*>(opened->second) + place.offset;
}

} // namespace tenon
