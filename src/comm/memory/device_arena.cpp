// SPDX-License-Identifier: BSD-2-Clause
// Two kinds of memory that the devices of a node share: device memory (CUDA IPC) and host memory.
// make() tries device memory first, then host memory, and uses the first kind that passes this test
// on all ranks of the node: each rank writes a sample of unique numbers into its memory, sends the
// address and the numbers to all other ranks, opens their memory and compares. The comparison is
// needed because opening can succeed and still map other memory.
#include "comm/memory/device_arena.hpp"

#include "sys/device_addresses.hpp"
#include "sys/options/options.hpp"
#include "sys/text/output.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

namespace tenon {

namespace {

// Device memory, shared by CUDA IPC. A piece is never freed, but reused by this process: CUDA
// leaves undefined what happens to a rank that still has a freed piece open, and the owner cannot
// know whether one has.
class DeviceMemory final : public ShownMemory {
public:
  DeviceMemory() : source_(Device::get().unpooled(Stream::make())) {}

  Piece allocate(Index minBytes) override {
    if (const Piece freed = freedPieces().take(minBytes); freed.memory)
      return freed;
    const Index bytes = roundedUp(std::max(minBytes, kMinPieceBytes), kSharedUnit);
    void* const memory = source_->allocate(bytes);
    if (!memory)
      return {};
    try {
      return {static_cast<std::byte*>(memory), bytes, Device::get().keyOf(memory)};
    } catch (...) {
      source_->deallocate(memory);
      throw;
    }
  }
  void deallocate(const Piece& piece) noexcept override { freedPieces().keep(piece); }
  std::byte* open(const MemoryKey& key) override {
    return static_cast<std::byte*>(Device::get().openShown(key));
  }
  void close(std::byte* memory) noexcept override { Device::get().closeShown(memory); }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    source_->fill(memory, byte, bytes);
  }
  const char* describe() const noexcept override { return "device memory"; }

private:
  // The unit that CUDA shares as a whole, 2 MiB (smaller pieces would expose other memory), and the
  // minimum size, 8 MiB.
  static constexpr Index kSharedUnit = Index(2) << 20, kMinPieceBytes = Index(8) << 20;

  // The pieces that this process has freed, of all its communicators.
  class FreedPieces {
  public:
    // Returns the smallest piece of at least that size, since others may need the large ones, or an
    // empty one.
    Piece take(Index minBytes) {
      const std::lock_guard lock(mutex_);
      auto best = pieces_.end();
      for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece)
        if (piece->bytes >= minBytes && (best == pieces_.end() || piece->bytes < best->bytes))
          best = piece;
      if (best == pieces_.end())
        return {};
      const Piece piece = *best;
      pieces_.erase(best);
      return piece;
    }
    void keep(const Piece& piece) {
      const std::lock_guard lock(mutex_);
      pieces_.push_back(piece);
    }

  private:
    std::mutex mutex_;
    std::vector<Piece> pieces_;
  };
  static FreedPieces& freedPieces() {
    static auto* instance = new FreedPieces; // Never destroyed, since pieces are not freed.
    return *instance;
  }

  std::shared_ptr<MemorySource> source_;
};

// Memory in this rank's segment of the arena, which every rank registers with its device. `rank` is
// the rank in the arena's communicator.
class HostMemory final : public ShownMemory {
public:
  HostMemory(std::shared_ptr<SharedArena> arena, int rank)
      : arena_(std::move(arena)), rank_(rank) {}

  Piece allocate(Index minBytes) override {
    const Index bytes = roundedUp(minBytes, kUnit);
    auto* const memory = static_cast<std::byte*>(arena_->allocate(bytes));
    if (!memory)
      throw Error(TENON_ERR_MEMORY,
                  fmt::format("the memory that the ranks of the node share has no room for {} "
                              "bytes; see -tenon_shared_memory and the size of /dev/shm",
                              bytes));
    try {
      Device::get().registerHost(memory, bytes);
    } catch (...) {
      arena_->deallocate(memory);
      throw;
    }
    Piece piece{.memory = memory, .bytes = bytes};
    const Place place{.rank = rank_, .offset = arena_->offsetOf(memory), .bytes = bytes};
    std::memcpy(piece.key.data(), &place, sizeof place);
    return piece;
  }
  void deallocate(const Piece& piece) noexcept override {
    Device::get().unregisterHost(piece.memory);
    arena_->deallocate(piece.memory);
  }
  std::byte* open(const MemoryKey& key) override {
    Place place;
    std::memcpy(&place, key.data(), sizeof place);
    std::byte* const memory = arena_->at(place.rank, place.offset);
    // Each process registers the pages with its own device.
    Device::get().registerHost(memory, place.bytes);
    return memory;
  }
  void close(std::byte* memory) noexcept override { Device::get().unregisterHost(memory); }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    std::memset(memory, byte, static_cast<std::size_t>(bytes));
  }
  const char* describe() const noexcept override { return "host memory"; }

private:
  // Allocations of the arena from this size on are whole pages.
  static constexpr Index kUnit = Index(1) << 20;

  struct Place {
    int rank;
    Index offset, bytes;
  };
  static_assert(sizeof(Place) <= sizeof(MemoryKey));

  std::shared_ptr<SharedArena> arena_;
  int rank_;
};

constexpr Index kDeviceAlignment = 256; // The alignment of cudaMalloc().

constexpr OptionSpec kDeviceArenaOptions[] = {
    {"device_ipc", OptionSpec::Flag, "true",
     "ranks of a node read each other's device memory (CUDA IPC); off: data between them "
     "go through shared host memory, which their devices access"},
};
const OptionRegistration kDeviceArenaRegistration{{"device_arena", kDeviceArenaOptions}};

// Data that a rank wrote at an address, by which other ranks verify that they read that address.
struct Sample {
  DevicePlace place{};
  std::array<std::uint64_t, 32> words{};
};

// Fills a sample with numbers that no rank has used before, since the memory can still contain an
// earlier sample.
void fillWithNewNumbers(Sample& sample, int rank) {
  static std::atomic<std::uint64_t> next{0};
  for (std::uint64_t& word : sample.words)
    word = static_cast<std::uint64_t>(rank) << 32 | ++next;
}

// Whether one of the ranks uses the device with this address.
bool isUsed(Index address, std::span<const Index> used) {
  return std::ranges::find(used, address) != used.end();
}

// Prints a note, once in a process, if two ranks of the node use one device, and a device that the
// second one sees is used by none. Collective over the node. Only the ranks of a communicator of
// all processes know which devices are used, and those of a part say nothing.
void noteSharedDevice(const Node& node) {
  std::vector<Index> visible, used(static_cast<std::size_t>(node.size), -1); // by rank
  try {
    visible = deviceAddresses();
    used[node.rank] = visible.at(Device::get().number());
  } catch (...) { // Without a device or memory: the trials below report the reason.
  }
  checkMpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, used.data(), sizeof(Index), MPI_BYTE,
                         node.comm),
           "MPI_Allgather");
  const std::span<const Index> all(used);
  int first = 0; // The first rank whose device a rank before it has too.
  while (first < node.size && (used[first] < 0 || !isUsed(used[first], all.first(first))))
    ++first;
  const auto free =
      std::ranges::find_if(visible, [&](Index device) { return !isUsed(device, all); });
  static std::atomic<bool> isNoted = false;
  if (node.size >= Device::processesOnNode() && node.rank == first && free != visible.end() &&
      !isNoted.exchange(true))
    printError(
        fmt::format("Tenon: two of the {} on a node use CUDA device {}, and none of them uses "
                    "device {}; let the launcher bind ranks to devices, or set -tenon_device\n",
                    counted(node.size, "rank"), Device::get().number(), free - visible.begin()));
}

} // namespace

DeviceArena::Made DeviceArena::make(MPI_Comm comm, const std::shared_ptr<SharedArena>& host,
                                    const std::string& whyNoHost) {
  const Node node(comm);
  noteSharedDevice(node);
  // Device memory also needs shared host memory, where the counters of its lanes are.
  if (!host)
    return {.reason = whyNoHost};
  Trial onDevices = tryWith(node, [] {
    if (!options().getFlag("", "device_ipc"))
      throw Error(TENON_ERR_SUPPORT, "-tenon_device_ipc is off");
    return std::make_unique<DeviceMemory>();
  });
  if (onDevices.arena)
    return {.arena = std::move(onDevices.arena)};
  int rank = 0;
  checkMpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Trial onHost = tryWith(node, [&] { return std::make_unique<HostMemory>(host, rank); });
  std::string reason(onDevices.reason.text());
  if (!onHost.arena)
    reason += fmt::format("; {}", onHost.reason.text());
  return {.arena = std::move(onHost.arena), .reason = std::move(reason)};
}

DeviceArena::Trial DeviceArena::tryWith(const Node& node, const MakeMemory& makeMemory) {
  std::shared_ptr<DeviceArena> arena;
  std::vector<Sample> samples;
  Buffer memory;
  Reason reason = node.whyNot([&] {
    samples.resize(node.size);
    Sample& own = samples[node.rank];
    arena.reset(new DeviceArena(makeMemory()));
    memory = Buffer(sizeof own.words, "sample of device memory", arena);
    fillWithNewNumbers(own, node.rank);
    own.place = arena->placeOf(memory.data<void>());
    arena->copy(memory.data<void>(), own.words.data(), sizeof own.words);
  });
  if (!reason.isEmpty())
    // All ranks of the node return together, so none waits in the gather below.
    return {.arena = {}, .reason = reason};
  checkMpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, samples.data(), sizeof(Sample),
                         MPI_BYTE, node.comm),
           "MPI_Allgather");
  reason = node.whyNot([&] {
    for (int r = 0; r < node.size; ++r)
      if (r != node.rank &&
          !arena->hasContent(samples[r].words.data(), sizeof samples[r].words, samples[r].place))
        throw Error(TENON_ERR_LIBRARY,
                    fmt::format("rank {} of the node, on {}, opened the {} of rank {} and read "
                                "other data there than that rank had written",
                                node.rank, Device::get().name(), arena->describe(), r));
  });
  if (!reason.isEmpty())
    return {.arena = {}, .reason = reason};
  return {.arena = std::move(arena), .reason = {}};
}

DeviceArena::DeviceArena(std::unique_ptr<ShownMemory> memory)
    : stream_(Stream::make()), memory_(std::move(memory)) {}

void DeviceArena::copy(void* to, const void* from, Index bytes) const {
  Device::get().copy(to, from, bytes, stream_);
  stream_.synchronise();
}

bool DeviceArena::hasContent(const void* data, Index bytes, const DevicePlace& place) {
  std::vector<std::byte> content(bytes);
  copy(content.data(), at(place), bytes);
  return std::memcmp(content.data(), data, content.size()) == 0;
}

DeviceArena::~DeviceArena() {
  for (const auto& [key, memory] : opened_)
    memory_->close(memory);
  for (const Slab& slab : slabs_)
    memory_->deallocate(slab);
}

bool DeviceArena::addSlab(Index minBytes) {
  const ShownMemory::Piece piece = memory_->allocate(minBytes);
  if (piece.memory)
    slabs_.push_back({piece, FirstFit(piece.bytes)});
  return piece.memory != nullptr;
}

void* DeviceArena::allocate(Index bytes) {
  const std::lock_guard lock(mutex_);
  const auto takeFrom = [&](Slab& slab) -> void* {
    const auto place = slab.places.allocate(bytes, kDeviceAlignment);
    return place ? slab.memory + *place : nullptr;
  };
  for (Slab& slab : slabs_)
    if (void* const memory = takeFrom(slab))
      return memory;
  return addSlab(bytes) ? takeFrom(slabs_.back()) : nullptr;
}

void DeviceArena::deallocate(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  for (Slab& slab : slabs_)
    if (slab.contains(memory))
      slab.places.deallocate(static_cast<std::byte*>(memory) - slab.memory);
}

void DeviceArena::fill(void* memory, unsigned char byte, Index bytes) {
  memory_->fill(memory, byte, bytes);
}

DevicePlace DeviceArena::placeOf(const void* memory) const {
  const std::lock_guard lock(mutex_);
  const auto slab = std::find_if(slabs_.begin(), slabs_.end(),
                                 [&](const Slab& candidate) { return candidate.contains(memory); });
  return {.slab = slab->key, .offset = static_cast<const std::byte*>(memory) - slab->memory};
}

const std::byte* DeviceArena::at(const DevicePlace& place) {
  auto opened = opened_.find(place.slab);
  // A slab is opened once, however many lanes are in it.
  if (opened == opened_.end())
    opened = opened_.emplace(place.slab, memory_->open(place.slab)).first;
  return opened->second + place.offset;
}

} // namespace tenon
