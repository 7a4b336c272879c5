// SPDX-License-Identifier: BSD-2-Clause
// The context of the device in which tests call kernels, and arrays there.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon::test {

// An array of the device with the values of one of the host.
template <class T>
class DeviceCopy {
public:
  DeviceCopy(KernelContext& context, const T* host, Index n)
      : context_(context), n_(host ? n : 0),
        memory_(n_ * Index(sizeof(T)), "a test's array", context.memory()) {
    context_.fetch(memory_.data<T>(), host, memory_.bytes());
  }
  T* data() { return memory_.data<T>(); }
  void fetch(T* host) const { context_.fetch(host, memory_.data<T>(), memory_.bytes()); }

private:
  KernelContext& context_;
  Index n_;
  Buffer memory_;
};

// Never destroyed: its handles would go at exit, after what their libraries need of their own.
inline KernelContextPtr deviceContext() {
  static const auto* context = new KernelContextPtr(std::make_shared<KernelContext>(Space::Device));
  return *context;
}

} // namespace tenon::test
