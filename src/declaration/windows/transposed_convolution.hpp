// SPDX-License-Identifier: BSD-2-Clause
// Transposed convolution: the adjoint of a convolution with respect to its input, as a layer:
//     y[n,o,S] = sum over i, s, t of x[n,i,s] W[i,o,t] + b[o],  S = s stride - pad + t dilation.
// Its windows are those of a convolution from y to x. Contributions that a rank computes to
// elements of its neighbours are sent and added there, and those to elements outside the domain are
// added to the elements that the boundary mode copies: this is the adjoint of the halo exchange.
//
// Labels per grid axis: n batch, i input channels (y is a partial sum), o output channels, g
// groups, d/h/w space, B (replicated), R (on the root of the axis only), P (partial sums).
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

  // The layout of the kernel's result: the output's, with a halo of contributions to be summed.
  Layout contributions(const Form& form) const;

private:
  void check() const override;
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .appliesFunction = true,
            .gradients = Gradients::Separate};
  }
  void addParameters(const Layout& plain, Form& form) const override;
};

} // namespace tenon
