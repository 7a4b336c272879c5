// SPDX-License-Identifier: BSD-2-Clause
// Whole pages of memory that share no page with other memory, for tests that change the protection
// of pages or unmap them.
#pragma once

#include "sys/types.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace tenon::test {

class Pages {
public:
  static Index size() { return sysconf(_SC_PAGESIZE); }

  // `kind` is MAP_PRIVATE or MAP_SHARED.
  Pages(Index count, int kind) : bytes_(count * size()) {
    begin_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | kind, -1, 0);
    if (begin_ == MAP_FAILED)
      throw std::bad_alloc();
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin_, bytes_); }

  std::byte* page(Index i) const { return static_cast<std::byte*>(begin_) + i * size(); }
  void protect(Index i, int protection) const { mprotect(page(i), size(), protection); }
  void unmap(Index i) const { munmap(page(i), size()); }
  // Replaces all pages by new ones at the same addresses.
  void replace() const {
    mmap(begin_, bytes_, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, -1, 0);
  }

private:
  Index bytes_;
  void* begin_ = nullptr;
};

} // namespace tenon::test
