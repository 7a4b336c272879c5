// SPDX-License-Identifier: BSD-2-Clause
// A field that the caller keeps in one array for each index of a dimension, as solvers do with
// species or velocity components. Kernels want one strided block, so such a tensor works on an
// array of the library's, and the caller says when values pass: gather copies his arrays into the
// block, scatter copies the block back. Nothing else touches his arrays.
#pragma once

#include "dtensor/data_type.hpp"
#include "geometry/layout.hpp"
#include "kernels/base/context.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace tenon {

using Strides = std::array<Index, kMaxRank>;

struct ArrayList {
  int dim = 0;
  std::vector<std::byte*> first; // of each array, its first element in the tensor's box
  Strides strides{};             // of the arrays; that of dim is not used
};

// Copies between the arrays and the block of the extent, which begins at `block`.
void gather(KernelContext& context, const ArrayList& arrays, TenonDataType type,
            const Shape& extent, void* block, const Strides& strides);
void scatter(KernelContext& context, const ArrayList& arrays, TenonDataType type,
             const Shape& extent, const void* block, const Strides& strides);

} // namespace tenon
