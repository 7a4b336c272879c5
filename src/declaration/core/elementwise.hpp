// SPDX-License-Identifier: BSD-2-Clause
// Base of the types whose output has the layout in which the input is used, for any shape: y[i]
// depends on x[i], on a line of x, or on parameters, and a split of a dimension of x is the same
// split of y. Labels, which state what a grid axis does to x and y: S0, S1, ... (splits dimension
// 0, 1, ...), B (replicates them), R (holds them on its root only), and P (both are partial sums)
// if the map is linear.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

class Elementwise : public Declaration {
public:
  using Declaration::Declaration;
  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), isLinear());
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    return formLikeInput(inputs, choice);
  }
  Example example(ExampleDraw& draw) const override { return {{}, {draw.shape(1, 3)}}; }

protected:
  virtual bool isLinear() const = 0;
};

} // namespace tenon
