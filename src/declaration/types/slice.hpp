// SPDX-License-Identifier: BSD-2-Clause
// Base of the types that select a range of each dimension: slice, along one dimension, and crop, a
// box in space. See slice.cpp for an example.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

class RangeSelection : public Declaration {
public:
  using Declaration::Declaration;
  // The selected elements of a dimension: output i is input begin + i step, for i < count.
  struct Range {
    Index begin, step, count;
  };
  // The kernel y[i] = x[begin + i step] if x has that element, else 0.
  static std::unique_ptr<ArrayKernel> makeExcerpt(const KernelPlace& at,
                                                  const std::vector<Range>& ranges);
  // Throws TENON_ERR_SHAPE if the input does not have these elements.
  virtual std::vector<Range> rangesOf(const Shape& x) const = 0;

  Shape outputShape(const std::vector<Shape>& inputs) const override;
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;

  bool joinsPatches(const std::vector<Shape>& inputs) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;

protected:
  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
};

} // namespace tenon
