// SPDX-License-Identifier: BSD-2-Clause
// The adjoint of a convolution in its input, as a layer:
//     y[n,o,S] = sum over i, s, t of x[n,i,s] W[i,o,t] + b[o],  S = s stride - pad + t dilation.
// Its windows are those of a convolution from y to x. What a rank computes beyond its part of y,
// its neighbours add to theirs, and what lies beyond the domain goes where the boundary modes take
// it from: that is the adjoint of the halo exchange.
//
// Labels on a grid axis: n batch, i input channels (y partial), o output channels, g groups, d/h/w
// space, B, R, P.
#pragma once

#include "declaration/core/windowed.hpp"

namespace tenon {

class TransposedConvolution final : public GroupedWindowed {
public:
  TransposedConvolution();
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  Work work(const Form& form, int position) const override;
  Example example(ExampleDraw& draw) const override;
  std::string summary() const override;

  // Where the kernel leaves its contributions: the output with a halo that is added up.
  Layout contributions(const Form& form) const;

private:
  void check() const override;
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .keepsInputs = true,
            .appliesFunction = true,
            .gradients = Gradients::Apart};
  }
  void addParameters(const Layout& plain, Form& form) const override;
};

} // namespace tenon
