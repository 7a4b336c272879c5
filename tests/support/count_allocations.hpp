// SPDX-License-Identifier: BSD-2-Clause
// Counts what a program allocates by the global operator new. It replaces that operator, so include
// it in one source file of a test program of its own.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace tenon::test {

inline std::atomic<long> allocations{0};

inline void* allocateCounted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment))
    return memory;
  throw std::bad_alloc();
}

// Inlined, it would look to GCC as if memory of another operator new were given to free.
[[gnu::noinline]] inline void release(void* memory) {
  std::free(memory);
}

} // namespace tenon::test

void* operator new(std::size_t bytes) {
  return tenon::test::allocateCounted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return tenon::test::allocateCounted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tenon::test::allocateCounted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return tenon::test::allocateCounted(bytes, static_cast<std::size_t>(alignment));
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
