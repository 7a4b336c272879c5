// SPDX-License-Identifier: BSD-2-Clause
// The strips of a kernel layer: kernels K_s for parts of the output, each with its own conversion
// C_s of the input, which travels while the layer's kernel computes the rest:
//
//     Apply         begin all C_s x;  rest;  y = K_s (C_s x), strip by strip
//     ApplyAdjoint  begin all C_s* (K_s* dy);  rest;  dx <- dx + C_s* (K_s* dy)
//
// Strips begin and end in the same order on all ranks, those with nothing to compute too.
#pragma once

#include "layer/kernel_setup.hpp"

namespace tenon {

class KernelStrips {
public:
  using Tensors = std::vector<Ref<DTensor>>;

  KernelStrips(const Layer& layer, const Layout& input, std::vector<KernelStrip> strips);

  // Where Apply leaves what the adjoint needs of the input, allocated.
  Tensors makeTensors() const;

  void begin(const DTensor& x, Tensors& use);
  void forward(Tensors& use, ParameterUses& parameters, DTensor& y);
  // dx may be null.
  void beginTangent(const DTensor* dx);
  void tangent(const Tensors& use, const DTensor* dx, ParameterUses& parameters, DTensor& dy);
  // What arrives is added to dx, which must hold the rest by endAdjoint().
  void beginAdjoint(const Tensors& use, const DTensor& dy, ParameterUses& parameters, DTensor& dx);
  void adjointParameters(const Tensors& use, const DTensor& dy, ParameterUses& parameters);
  void endAdjoint();

  std::string describe() const;
  Index bytes() const;

private:
  Tensors tensors(bool dual) const;

  const Layer& layer_;
  std::vector<KernelStrip> strips_;
  std::vector<Ref<Conversion>> conversions_;
  Tensors tangents_, cotangents_;
};

} // namespace tenon
