// SPDX-License-Identifier: BSD-2-Clause
// A linear kernel without parameters, which is its own tangent.
#pragma once

#include "dtensor/arithmetic.hpp"
#include "layer/local_kernel.hpp"

namespace tenon {

class LinearKernel : public OneInputKernel {
public:
  virtual void map(const DTensor& x, DTensor& y) = 0;
  virtual void mapAdjoint(const DTensor& dy, DTensor& dx) = 0;

private:
  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) final { map(x, y); }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses&, DTensor& dy) final {
    if (dx)
      map(*dx, dy);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) final {
    if (dx)
      mapAdjoint(dy, *dx);
  }
};

} // namespace tenon
