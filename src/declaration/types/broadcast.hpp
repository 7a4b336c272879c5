// SPDX-License-Identifier: BSD-2-Clause
// Inputs with the same number of dimensions, of which one of extent 1 stands for all elements of a
// dimension in which another input has more: a mask [n,1,y,x], a gate [n,c,1,1]. Where a grid axis
// splits such a dimension the input of extent 1 is on all ranks (B), and its cotangent a sum of
// contributions (P).
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

// Throws TENON_ERR_SHAPE, naming `who`, where the inputs do not fit each other.
Shape broadcastShape(const std::vector<Shape>& inputs, const std::string& who);
// Whether each element of an input along a dimension stands for several of the output.
inline bool isBroadcast(const Shape& input, const Shape& output, int dim) {
  return input[dim] == 1 && output[dim] != 1;
}
// The first input of the output's shape, or else the first.
std::size_t widestInput(const std::vector<Shape>& inputs, const Shape& output);
// The rows of elementwiseTable() with a property for each input.
SignatureTable broadcastTable(const std::vector<Shape>& inputs, const Shape& output, bool linear);
// A form whose output lies as the first input of its shape does, and whose inputs are used
// likewise. The rows of the table have a property for each input.
Form broadcastForm(const Layouts& inputs, const Choice& choice, const SignatureTable& table,
                   const Shape& output, const std::string& who);
// The layout in which an input of this shape is used for the output.
Layout broadcastUse(const Layout& output, const Shape& input);

} // namespace tenon
