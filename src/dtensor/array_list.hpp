// SPDX-License-Identifier: BSD-2-Clause
// Fields that the user stores in one array per index of a dimension, such as species or velocity
// components. Kernels need one strided block, so such a tensor works on an array of the library:
// gather copies the user's arrays into the block, scatter copies the block back. The user's arrays
// are not accessed otherwise. For example, the tensor x[cell, component] with the components u, v
// and w in three arrays has dim = 1: gather() copies u to x[:, 0], v to x[:, 1] and w to x[:, 2].
#pragma once

#include "geometry/layout/layout.hpp"
#include "kernels/base/context.hpp"
#include "sys/data_type.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace tenon {

// One of the arrays, as described by the user: its strides, and the ghost cells around the owned
// elements (the entries of the enumerated dimension are ignored). `length` is the number of
// allocated elements, 0 if unknown.
struct Component {
  void* firstOwned = nullptr;
  std::vector<Index> strides, ghostsLow, ghostsHigh;
  Index length = 0;
};

// The user's arrays of one tensor on this rank.
struct ArrayList {
  int dim = 0;
  std::vector<std::byte*> first; // The first element of each array in the tensor's box.
  std::vector<Strides> strides;  // The strides of each array; the entry of `dim` is not used.
};

// Copies between the arrays and the block at `block` with this extent.
void gather(KernelContext& context, const ArrayList& arrays, TenonDataType type,
            const Shape& extent, void* block, const Strides& strides);
void scatter(KernelContext& context, const ArrayList& arrays, TenonDataType type,
             const Shape& extent, const void* block, const Strides& strides);

} // namespace tenon
