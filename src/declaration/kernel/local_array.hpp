// SPDX-License-Identifier: BSD-2-Clause
// A tensor on one rank, as the kernels of layer types see it: the address of the first element, the
// data type, extents and strides, and the context whose kernels can use the memory. A LocalArray
// refers to these and owns nothing, like a pointer, and it can be absent: a tangent that is zero, a
// cotangent that nobody needs, a bias that this rank does not have. It knows neither layouts nor
// processes.
#pragma once

#include "geometry/layout/box.hpp"
#include "kernels/base/context.hpp"
#include "sys/data_type.hpp"

#include <span>

namespace tenon {

class LocalArray {
public:
  LocalArray() = default; // absent
  // `strides` has as many numbers as `extent`, in elements; both must outlive the array.
  LocalArray(void* first, TenonDataType type, std::span<const Index> extent, const Index* strides,
             KernelContext& context)
      : first_(first), type_(type), extent_(extent), strides_(strides), context_(&context) {}

  explicit operator bool() const noexcept { return context_ != nullptr; }
  int rank() const noexcept { return static_cast<int>(extent_.size()); }
  std::span<const Index> extent() const noexcept { return extent_; }
  const Index* strides() const noexcept { return strides_; }
  Index elements() const noexcept {
    Index count = 1;
    for (const Index extent : extent_)
      count *= extent;
    return count;
  }
  TenonDataType dataType() const noexcept { return type_; }
  KernelContext& context() const noexcept { return *context_; }
  // The first element; null if the array is absent. Throws TENON_ERR_INTERNAL for another type.
  template <class T>
  const T* data() const {
    return static_cast<const T*>(checked(dataTypeOf<T>()));
  }
  template <class T>
  T* mutableData() {
    return static_cast<T*>(checked(dataTypeOf<T>()));
  }

private:
  void* checked(TenonDataType requested) const {
    if (requested != type_ && context_)
      refuse(requested);
    return first_;
  }
  [[noreturn]] void refuse(TenonDataType requested) const;

  void* first_ = nullptr;
  TenonDataType type_ = TENON_FLOAT32;
  std::span<const Index> extent_;
  const Index* strides_ = nullptr;
  KernelContext* context_ = nullptr;
};

// y = 0
void setZero(LocalArray& y);
// y = x, or y += x if `adds`; arrays of equal extents.
void copyArray(const LocalArray& x, LocalArray& y, bool adds = false);

} // namespace tenon
