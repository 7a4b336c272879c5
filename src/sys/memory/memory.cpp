// SPDX-License-Identifier: BSD-2-Clause
// Buffers, the counters of allocated bytes, and the first-fit allocator. The counters are relaxed
// atomics, since only reports read them. FirstFit::deallocate() must not allocate memory, because
// destructors call it when memory can have run out; it therefore moves nodes between its two maps,
// of allocations (allocations_) and of gaps.
#include "sys/memory/memory.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace tenon {

namespace {

// Bytes in use, the maximum of this number so far, and the number of allocations so far.
struct Count {
  std::atomic<Index> alive{0}, highest{0}, taken{0};
};

constexpr const char* kDeviceAdvice =
    " by Tenon in this process; use more processes on more devices or a smaller batch, save "
    "activations in bfloat16 (saved_type), or end other programs on the device";

Count& countOf(Space space) {
  static Count counts[2];
  return counts[static_cast<int>(space)];
}

void countUp(Count& count, Index bytes) {
  count.taken.fetch_add(1, std::memory_order_relaxed);
  const Index now = count.alive.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  Index seen = count.highest.load(std::memory_order_relaxed);
  // Another thread can have raised the high-water mark meanwhile, to a larger value.
  while (seen < now && !count.highest.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

} // namespace

Index machineMemory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? Index(pages) * bytes : std::numeric_limits<Index>::max();
}

void MemorySource::fill(void* memory, unsigned char byte, Index bytes) {
  std::memset(memory, byte, static_cast<std::size_t>(bytes));
}

Buffer::Buffer(Index bytes, std::string label, std::source_location where)
    : Buffer(bytes, std::move(label), nullptr, where) {}

Buffer::Buffer(Index bytes, std::string label, std::shared_ptr<MemorySource> source,
               std::source_location where)
    : bytes_(bytes), label_(std::move(label)), source_(std::move(source)) {
  if (bytes < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("{}: the buffer size is {} bytes; it must be >= 0", label_, bytes),
                where);
  if (bytes == 0)
    return;
  allocate(where);
  countUp(countOf(space()), bytes);
}

void Buffer::allocate(const std::source_location& where) {
  const auto size = static_cast<std::size_t>(bytes_);
  // Linux can overcommit memory, and kill the process when the memory is written.
  if (space() == Space::Host && bytes_ > machineMemory())
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{}: cannot allocate {} bytes; this machine has {}", label_, bytes_,
                            machineMemory()),
                where);
  data_ = source_ ? source_->allocate(bytes_) : nullptr;
  if (!data_ && space() == Space::Host) {
    // Exhausted shared memory is not an error: the heap is used, and conversions then pack their
    // data.
    source_.reset();
    data_ = ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
  }
  if (data_)
    return;
  const bool isOnDevice = space() == Space::Device;
  throw Error(TENON_ERR_MEMORY,
              fmt::format("{}: cannot allocate {} bytes ({:.1f} MiB){}; {} bytes are in use{}",
                          label_, bytes_, static_cast<double>(bytes_) / 1048576.0,
                          isOnDevice ? " on the device" : "", bytesAlive(space()),
                          isOnDevice ? kDeviceAdvice : ""),
              where);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      label_(std::move(other.label_)), source_(std::move(other.source_)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  // The old memory is freed with the temporary.
  Buffer taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  std::swap(label_, taken.label_);
  std::swap(source_, taken.source_);
  return *this;
}

Buffer::~Buffer() {
  if (!data_)
    return;
  countOf(space()).alive.fetch_sub(bytes_, std::memory_order_relaxed);
  if (source_)
    source_->deallocate(data_);
  else
    ::operator delete (data_, std::align_val_t{kAlignment});
}

void Buffer::fill(unsigned char byte) {
  if (data_ && source_)
    source_->fill(data_, byte, bytes_);
  else if (data_)
    std::memset(data_, byte, static_cast<std::size_t>(bytes_));
}

Index Buffer::bytesOf(Index count, std::size_t size, const std::string& label,
                      const std::source_location& where) {
  // By division, since the product could overflow.
  const auto each = static_cast<Index>(size);
  if (count < 0 || count > std::numeric_limits<Index>::max() / each)
    throw Error(
        TENON_ERR_ARG,
        fmt::format("{}: the buffer has {} elements of {} bytes; it must have 0 to {} elements",
                    label, count, each, std::numeric_limits<Index>::max() / each),
        where);
  return count * each;
}

Index bytesAlive(Space space) noexcept {
  return countOf(space).alive.load(std::memory_order_relaxed);
}
Index memoryHighWater(Space space) noexcept {
  return countOf(space).highest.load(std::memory_order_relaxed);
}
Index buffersTaken(Space space) noexcept {
  return countOf(space).taken.load(std::memory_order_relaxed);
}

FirstFit::FirstFit(Index bytes) {
  if (bytes > 0)
    gaps_.emplace(0, bytes);
}

std::optional<Index> FirstFit::allocate(Index bytes, Index alignment) {
  for (const auto& [begin, end] : gaps_) {
    // The gap is divided into: rest before the allocation, the allocation, rest behind it.
    const Index offset = roundedUp(begin, alignment);
    if (offset > end || end - offset < bytes)
      continue;
    Ranges newNodes; // Allocated first: if that fails, nothing has changed.
    newNodes.emplace(offset, offset + bytes);
    if (begin < offset)
      newNodes.emplace(begin, offset);
    auto remainder = gaps_.extract(begin);
    remainder.key() = offset + bytes;
    if (remainder.key() < remainder.mapped())
      gaps_.insert(std::move(remainder));
    allocations_.insert(newNodes.extract(offset));
    gaps_.merge(newNodes);
    taken_ += bytes;
    return offset;
  }
  return std::nullopt;
}

Index FirstFit::deallocate(Index offset) {
  const auto allocation = allocations_.find(offset);
  if (allocation == allocations_.end())
    throw Error(TENON_ERR_INTERNAL, fmt::format("place {} was given back, but not taken", offset));
  Index begin = offset, end = allocation->second;
  const Index bytes = end - begin;
  // The node of the allocation becomes that of the gap, merged with the adjacent gaps.
  auto gap = allocations_.extract(allocation);
  taken_ -= bytes;
  auto nextGap = gaps_.lower_bound(begin);
  if (nextGap != gaps_.begin() && std::prev(nextGap)->second == begin) {
    begin = std::prev(nextGap)->first;
    gaps_.erase(std::prev(nextGap));
  }
  if (nextGap != gaps_.end() && nextGap->first == end) {
    end = nextGap->second;
    gaps_.erase(nextGap);
  }
  gap.key() = begin;
  gap.mapped() = end;
  gaps_.insert(std::move(gap));
  return bytes;
}

} // namespace tenon
