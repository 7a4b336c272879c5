// SPDX-License-Identifier: BSD-2-Clause
#include "comm/device_arena.hpp"

#include "sys/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace tenon {

namespace {

constexpr Index kDeviceAlignment = 256;

constexpr OptionSpec kDeviceArenaOptions[] = {
    {"device_ipc", OptionSpec::Flag, "true",
     "ranks of a node read each other's device memory (CUDA IPC); off: data between them "
     "go through shared host memory, which their devices access"},
};
const OptionRegistration kDeviceArenaRegistration{{"device_arena", kDeviceArenaOptions}};

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

DeviceArena::Made DeviceArena::make(MPI_Comm comm, const std::shared_ptr<SharedArena>& host,
                                    const std::string& whyNoHost) {
  const Node node(comm);
  if (!host)
    return {.reason = whyNoHost};
  Made onDevices = tryWith(node, [] {
    if (!options().getFlag("", "device_ipc"))
      throw Error(TENON_ERR_SUPPORT, "-tenon_device_ipc is off");
    return shownDeviceMemory();
  });
  if (onDevices.arena)
    return onDevices;
  int rank = 0;
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Made onHost = tryWith(node, [&] { return shownHostMemory(host, rank); });
  onHost.reason = onHost.arena ? onDevices.reason : onDevices.reason + "; " + onHost.reason;
  return onHost;
}

DeviceArena::Made DeviceArena::tryWith(const Node& node, const MakeMemory& makeMemory) {
  std::shared_ptr<DeviceArena> arena;
  std::vector<Sample> samples(node.size);
  Sample& own = samples[node.rank];
  Buffer memory;
  std::string reason = node.whyNot([&] {
    arena.reset(new DeviceArena(makeMemory()));
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
                    fmt::format("rank {} of the node, on {}, opened the {} of rank {} and read "
                                "other data there than that rank had written",
                                node.rank, Device::get().name(), arena->describe(), r));
  });
  if (!reason.empty())
    return {.reason = reason};
  return {.arena = std::move(arena)};
}

DeviceArena::DeviceArena(std::unique_ptr<ShownMemory> memory)
    : stream_(Stream::make()), memory_(std::move(memory)) {}

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
    memory_->close(memory);
  for (const Slab& slab : slabs_)
    memory_->giveBack(slab);
}

bool DeviceArena::addSlab(Index leastBytes) {
  const ShownMemory::Piece piece = memory_->take(leastBytes);
  if (piece.memory)
    slabs_.push_back({piece, FirstFit(piece.bytes)});
  return piece.memory != nullptr;
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
  memory_->fill(memory, byte, bytes);
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
    opened = opened_.emplace(place.slab, memory_->open(place.slab)).first;
  return opened->second + place.offset;
}

} // namespace tenon
