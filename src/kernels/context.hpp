// SPDX-License-Identifier: BSD-2-Clause
// What the kernels of a rank share: one piece of scratch memory, as large as the greediest of them
// needs, since only one of them runs at a time. What a kernel leaves there is lost with the next
// call of another. A kernel plans its scratch when it is made, and looks the memory up at each call,
// because it moves when a later kernel needs more. (A device's queue will have its place here.)
#pragma once

#include "sys/memory.hpp"

#include <memory>

namespace tenon {

// Offsets of the pieces of one kernel's scratch.
class ScratchPlan {
public:
  // Room for count elements of T; gives its offset in bytes, aligned as a Buffer is.
  template <class T>
  Index add(Index count) {
    const Index offset = bytes_;
    const Index alignment = static_cast<Index>(kAlignment);
    bytes_ += (count * static_cast<Index>(sizeof(T)) + alignment - 1) / alignment * alignment;
    return offset;
  }
  Index bytes() const noexcept { return bytes_; }

private:
  Index bytes_ = 0;
};

// To be used by one thread at a time.
class KernelContext {
public:
  // Makes the scratch large enough for the plan.
  void reserve(const ScratchPlan& plan);
  template <class T>
  T* scratch(Index offset) noexcept {
    return reinterpret_cast<T*>(scratch_.data<std::byte>() + offset);
  }
  Index scratchBytes() const noexcept { return scratch_.bytes(); }

private:
  Buffer scratch_;
};

using KernelContextPtr = std::shared_ptr<KernelContext>;

// The context itself, or a new one where there is none.
KernelContextPtr contextOrOwn(KernelContextPtr context);

} // namespace tenon
