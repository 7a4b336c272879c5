// SPDX-License-Identifier: BSD-2-Clause
// Counts what a program allocates by the global operator new, and the bytes that it holds, and lets
// allocations fail. It replaces that operator, so include it in one source file of a test program
// of its own.
#pragma once

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace tenon::test {

inline std::atomic<long> allocations{0};
// Bytes that malloc has reserved, which can be more than were requested.
inline std::atomic<long> bytesHeld{0}, mostBytesHeld{0};

inline void* held(void* memory) noexcept {
  const long now = bytesHeld += static_cast<long>(malloc_usable_size(memory));
  for (long most = mostBytesHeld; most < now && !mostBytesHeld.compare_exchange_weak(most, now);) {
  }
  return memory;
}

// `next` allocations succeed and the one after them fails; below 0 all succeed. With forGood, all
// allocations after that one fail too. `count` is the number of failures.
struct Failures {
  std::atomic<long> next{-1};
  std::atomic<bool> forGood{false};
  std::atomic<long> count{0};
};
inline Failures failures;

inline void failAllocation(long number, bool forGood) {
  failures.count = 0;
  failures.forGood = forGood;
  failures.next = number;
}
// From now on allocations succeed. Returns the number that failed since failAllocation().
inline long endFailures() {
  failures.next = -1;
  return failures.count;
}

inline bool fails() {
  if (failures.next < 0)
    return false;
  if (failures.next > 0) {
    --failures.next;
    return false;
  }
  ++failures.count;
  if (!failures.forGood)
    failures.next = -1;
  return true;
}

inline void* allocateIfThereIs(std::size_t bytes, std::size_t alignment) noexcept {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return fails() ? nullptr : held(std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment));
}

inline void* allocateCounted(std::size_t bytes, std::size_t alignment) {
  if (void* memory = allocateIfThereIs(bytes, alignment))
    return memory;
  throw std::bad_alloc();
}

// Not inlined: otherwise GCC sees memory of operator new being passed to free(), and warns.
[[gnu::noinline]] inline void release(void* memory) {
  bytesHeld -= static_cast<long>(malloc_usable_size(memory));
  std::free(memory);
}

} // namespace tenon::test

void* operator new(std::size_t bytes) {
  return tenon::test::allocateCounted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return tenon::test::allocateIfThereIs(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tenon::test::allocateCounted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tenon::test::allocateIfThereIs(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  tenon::test::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  tenon::test::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  tenon::test::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  tenon::test::release(memory);
}
