// SPDX-License-Identifier: BSD-2-Clause
// deviceContext(): the context of the device in which tests call kernels. DeviceCopy: an array in
// device memory with the values of a host array, which fetch() copies back.
#pragma once

#include "kernels/base/context.hpp"
#include "kernels/walks/element_offsets.hpp"

#include <cstdlib>

namespace tenon::test {

// n values of the host array, in device memory; no values if `host` is null.
template <class T>
class DeviceCopy {
public:
  DeviceCopy(KernelContext& context, const T* host, Index n)
      : context_(context), n_(host ? n : 0),
        memory_(n_ * Index(sizeof(T)), "a test's array", context.memory()) {
    context_.copyAndWait(memory_.data<T>(), host, memory_.bytes());
  }
  T* data() { return memory_.data<T>(); }
  void fetch(T* host) const { context_.copyAndWait(host, memory_.data<T>(), memory_.bytes()); }

private:
  KernelContext& context_;
  Index n_;
  Buffer memory_;
};

// TENON_TEST_SLICES=N divides work into kernels of at most N elements, as that on arrays of more
// than 2^31 elements is divided, for which tests lack the memory.
inline void readSlices() {
  if (const char* elements = std::getenv("TENON_TEST_SLICES"))
    sliceElements = std::atoll(elements);
}

// Never destroyed: at exit its handles of cuBLAS and cuDNN would be destroyed after the libraries
// have released their own state.
inline KernelContextPtr deviceContext() {
  static const auto* context = [] {
    readSlices();
    return new KernelContextPtr(std::make_shared<KernelContext>(Space::Device));
  }();
  return *context;
}

} // namespace tenon::test
