// SPDX-License-Identifier: BSD-2-Clause
// Checks of what a caller says about his array: that it is long enough for the cells that strides and
// extents reach, and that no two of the tensor's cells are one element of it.
#pragma once

#include "dtensor/array_list.hpp"

namespace tenon {

// `extent` counts the owned cells with the ghosts. Throws TENON_ERR_SHAPE if the elements from the
// lowest to the highest of them are more than `length`, which is 0 where it is not known, or more
// than memory can have; TENON_ERR_ARG if the length is negative.
void checkSpan(const Shape& extent, const Strides& strides, Index length, Index elementSize);

// `extent` counts the tensor's cells. Throws TENON_ERR_ARG if two of them are one element; only an
// array that is never written may have strides of 0.
void checkDistinct(const Shape& extent, const Strides& strides, bool readOnly);

} // namespace tenon
