// SPDX-License-Identifier: BSD-2-Clause
// A kernel object in the one data type that its layer has.
#pragma once

#include "dtensor/data_type.hpp"

#include <memory>

namespace tenon {

template <template <class> class Kernel>
class TypedKernel {
public:
  // make.template operator()<T>() gives the kernel of the type.
  template <class Make>
  TypedKernel(TenonDataType type, Make&& make) {
    visitFloating(type, [&]<class T>(T) { slot<T>() = make.template operator()<T>(); });
  }

  template <class T>
  Kernel<T>& get() {
    return *slot<T>();
  }
  // Calls f(kernel) with the kernel that there is.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return single_ ? f(*single_) : f(*double_);
  }

private:
  template <class T>
  std::unique_ptr<Kernel<T>>& slot() {
    if constexpr (std::is_same_v<T, float>)
      return single_;
    else
      return double_;
  }

  std::unique_ptr<Kernel<float>> single_;
  std::unique_ptr<Kernel<double>> double_;
};

} // namespace tenon
