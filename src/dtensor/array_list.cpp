// SPDX-License-Identifier: BSD-2-Clause
// Copies a list of arrays into one block and back, slice by slice along the dimension of the list.
// A slice is the block with an extent of 1 in that dimension, so the usual strided copy is used,
// with any strides.
#include "dtensor/array_list.hpp"

#include "kernels/movement/block_copy.hpp"

namespace tenon {

namespace {

// Calls copy(array, array strides, slice of the block, extent of the slice) for each array.
template <class T, class Copy>
void forEachSlice(const ArrayList& arrays, Shape extent, T* block, const Strides& strides,
                  Copy copy) {
  extent[arrays.dim] = 1;
  for (std::size_t i = 0; i < arrays.first.size(); ++i)
    copy(reinterpret_cast<T*>(arrays.first[i]), arrays.strides[i].data(),
         block + static_cast<Index>(i) * strides[arrays.dim], extent);
}

} // namespace

void gather(KernelContext& context, const ArrayList& arrays, TenonDataType type,
            const Shape& extent, void* block, const Strides& strides) {
  visitDataType(type, [&]<class T>(T) {
    forEachSlice(
        arrays, extent, static_cast<T*>(block), strides,
        [&](const T* array, const Index* arrayStrides, T* slice, const Shape& sliceExtent) {
          blockCombine(context, Combine::Copy, static_cast<int>(sliceExtent.size()),
                       sliceExtent.data(), array, arrayStrides, slice, strides.data());
        });
  });
}

void scatter(KernelContext& context, const ArrayList& arrays, TenonDataType type,
             const Shape& extent, const void* block, const Strides& strides) {
  visitDataType(type, [&]<class T>(T) {
    forEachSlice(
        arrays, extent, static_cast<T*>(const_cast<void*>(block)), strides,
        [&](T* array, const Index* arrayStrides, const T* slice, const Shape& sliceExtent) {
          blockCombine(context, Combine::Copy, static_cast<int>(sliceExtent.size()),
                       sliceExtent.data(), slice, strides.data(), array, arrayStrides);
        });
  });
}

} // namespace tenon
