// SPDX-License-Identifier: BSD-2-Clause
#include "comm/shown_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {

class DeviceMemory final : public ShownMemory {
public:
  DeviceMemory() : source_(Device::get().unpooled(Stream::make())) {}

  Piece take(Index leastBytes) override {
    if (const Piece kept = spare().take(leastBytes); kept.memory)
      return kept;
    const Index bytes = roundedUp(std::max(leastBytes, kLeast), kSharedUnit);
    void* const memory = source_->take(bytes);
    if (!memory)
      return {};
    try {
      return {static_cast<std::byte*>(memory), bytes, Device::get().keyOf(memory)};
    } catch (...) {
      source_->giveBack(memory);
      throw;
    }
  }
  void giveBack(const Piece& piece) noexcept override { spare().keep(piece); }
  std::byte* open(const MemoryKey& key) override {
    return static_cast<std::byte*>(Device::get().openShown(key));
  }
  void close(std::byte* memory) noexcept override { Device::get().closeShown(memory); }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    source_->fill(memory, byte, bytes);
  }
  const char* describe() const noexcept override { return "device memory"; }

private:
  // What CUDA shares as a whole, so that nothing else is shown.
  static constexpr Index kSharedUnit = Index(2) << 20, kLeast = Index(8) << 20;

  class Spare {
  public:
    Piece take(Index leastBytes) {
      const std::lock_guard lock(mutex_);
      const auto fits = std::find_if(pieces_.begin(), pieces_.end(),
                                     [&](const Piece& piece) { return piece.bytes >= leastBytes; });
      if (fits == pieces_.end())
        return {};
      const Piece piece = *fits;
      pieces_.erase(fits);
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
  static Spare& spare() {
    static auto* all = new Spare; // never destroyed, as pieces are not freed
    return *all;
  }

  std::shared_ptr<MemorySource> source_;
};

class HostMemory final : public ShownMemory {
public:
  HostMemory(std::shared_ptr<SharedArena> arena, int rank)
      : arena_(std::move(arena)), rank_(rank) {}

  Piece take(Index leastBytes) override {
    const Index bytes = roundedUp(leastBytes, kUnit);
    auto* const memory = static_cast<std::byte*>(arena_->take(bytes));
    if (!memory)
      throw Error(TENON_ERR_MEMORY,
                  fmt::format("the memory that the ranks of the node share has no room for {} "
                              "bytes; see -tenon_shared_memory and the size of /dev/shm",
                              bytes));
    try {
      Device::get().registerHost(memory, bytes);
    } catch (...) {
      arena_->giveBack(memory);
      throw;
    }
    Piece piece{.memory = memory, .bytes = bytes};
    const Place place{.rank = rank_, .offset = arena_->offsetOf(memory), .bytes = bytes};
    std::memcpy(piece.key.data(), &place, sizeof place);
    return piece;
  }
  void giveBack(const Piece& piece) noexcept override {
    Device::get().unregisterHost(piece.memory);
    arena_->giveBack(piece.memory);
  }
  std::byte* open(const MemoryKey& key) override {
    Place place;
    std::memcpy(&place, key.data(), sizeof place);
    std::byte* const memory = arena_->at(place.rank, place.offset);
    Device::get().registerHost(memory, place.bytes);
    return memory;
  }
  void close(std::byte* memory) noexcept override { Device::get().unregisterHost(memory); }
  void fill(void* memory, unsigned char byte, Index bytes) override {
    std::memset(memory, byte, static_cast<std::size_t>(bytes));
  }
  const char* describe() const noexcept override { return "host memory"; }

private:
  static constexpr Index kUnit = Index(1) << 20; // from here on the arena gives whole pages

  struct Place {
    int rank;
    Index offset, bytes;
  };
  static_assert(sizeof(Place) <= sizeof(MemoryKey));

  std::shared_ptr<SharedArena> arena_;
  int rank_;
};

} // namespace

std::unique_ptr<ShownMemory> shownDeviceMemory() {
  return std::make_unique<DeviceMemory>();
}

std::unique_ptr<ShownMemory> shownHostMemory(std::shared_ptr<SharedArena> arena, int rank) {
  return std::make_unique<HostMemory>(std::move(arena), rank);
}

} // namespace tenon
