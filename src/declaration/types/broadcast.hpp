// SPDX-License-Identifier: BSD-2-Clause
// Broadcasting: inputs have the same number of dimensions, and an extent of 1 is repeated along a
// dimension in which another input has more, such as a mask [n,1,y,x] or a gate [n,c,1,1]. If a
// grid axis splits such a dimension, the input of extent 1 is replicated along it (B), and its
// cotangent is a partial sum (P).
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

// The shape of the output. Throws TENON_ERR_SHAPE, naming `who`, if the inputs do not match.
Shape broadcastShape(const std::vector<Shape>& inputs, const std::string& who);
// Whether an input is repeated along a dimension of the output.
inline bool isBroadcast(const Shape& input, const Shape& output, int dim) {
  return input[dim] == 1 && output[dim] != 1;
}
// The index of the first input that has the output's shape, or 0 if there is none.
std::size_t widestInput(const std::vector<Shape>& inputs, const Shape& output);
// The rows of elementwiseTable() with a property for each input.
SignatureTable broadcastTable(const std::vector<Shape>& inputs, const Shape& output, bool linear);
// A form whose output has the layout of the first input of its shape, and in which the other inputs
// are used in matching layouts. The rows of the table have a property for each input.
Form broadcastForm(const Layouts& inputs, const Choice& choice, const SignatureTable& table,
                   const Shape& output, const std::string& who);
// The layout in which an input of this shape is used for the output.
Layout broadcastUse(const Layout& output, const Shape& input);
// Inputs of the same random shape, except for some extents of 1.
Example broadcastExample(ExampleDraw& draw, int count);

} // namespace tenon
