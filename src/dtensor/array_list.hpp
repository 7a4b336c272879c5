// SPDX-License-Identifier: BSD-2-Clause
// A field that the user keeps in one array for each index of a dimension, as solvers do with
// species or velocity components. Kernels need one strided block, so such a tensor works on an
// array of the library's, and the user says when values pass: gather copies the user's arrays into
// the block, scatter copies the block back. Nothing else touches the user's arrays.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/base/context.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace tenon {

using Strides = std::array<Index, kMaxRank>;

// One of the arrays, as the user describes it: its strides, and the ghost cells around the owned
// elements, whose entries for the dimension that the arrays enumerate are not looked at. `length`
// elements were allocated, 0 if that is not known.
struct Component {
  void* firstOwned = nullptr;
  std::vector<Index> strides, ghostsLow, ghostsHigh;
  Index length = 0;
};

struct ArrayList {
  int dim = 0;
  std::vector<std::byte*> first; // the first element of each array in the tensor's box
  std::vector<Strides> strides;  // of each array; the entry of dim is not used
};

// Copies between the arrays and the block of the extent, which begins at `block`.
void gather(KernelContext& context, const ArrayList& arrays, TenonDataType type,
            const Shape& extent, void* block, const Strides& strides);
void scatter(KernelContext& context, const ArrayList& arrays, TenonDataType type,
             const Shape& extent, const void* block, const Strides& strides);

} // namespace tenon
