// SPDX-License-Identifier: BSD-2-Clause
// A tensor on one rank, as the kernels of layer types see it: the address of the first element, the
// data type, extents and strides, and the context whose kernels can use the memory. A LocalArray is
// a reference to such a description, which a tensor or a test owns. Like a pointer it can be
// absent: for a tangent that is zero, a cotangent that is not needed, or a bias that this rank does
// not have. It contains neither layouts nor processes.
#pragma once

#include "kernels/base/context.hpp"
#include "sys/data_type.hpp"

#include <span>

namespace tenon {

class LocalArray {
public:
  // Strides are in elements, as many as extents.
  struct Memory {
    void* first = nullptr;
    TenonDataType type = TENON_FLOAT32;
    std::span<const Index> extent = {};
    const Index* strides = nullptr;
    KernelContext* context = nullptr;
  };

  LocalArray() = default; // absent
  explicit LocalArray(const Memory& memory) : memory_(&memory) {}

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  // The next functions require that the array is not absent. ndim(): number of dimensions.
  int ndim() const noexcept { return static_cast<int>(memory_->extent.size()); }
  std::span<const Index> extent() const noexcept { return memory_->extent; }
  Index elements() const noexcept {
    Index count = 1;
    for (const Index extent : memory_->extent)
      count *= extent;
    return count;
  }
  TenonDataType dataType() const noexcept { return memory_->type; }
  KernelContext& context() const noexcept { return *memory_->context; }
  // Null if the array is absent.
  const Index* strides() const noexcept { return memory_ ? memory_->strides : nullptr; }
  // The address of the first element; null if the array is absent. Throws TENON_ERR_INTERNAL if T
  // is not the array's type.
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
    if (!memory_)
      return nullptr;
    if (requested != memory_->type)
      throwTypesDiffer(memory_->type, requested);
    return memory_->first;
  }

  const Memory* memory_ = nullptr;
};

} // namespace tenon
