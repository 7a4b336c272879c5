// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the layer `constant`, whose output is a parameter: y = p. The input of the layer
// only determines the distribution of y, and its values are never read
// (declaration/types/constant.cpp). Parameter and output have the same layout, so each rank copies
// its own block:
//
//   Apply   y = p          tangent   dy = dp          adjoint   gradient of p += dy
//
// The input needs no cotangent, because y does not depend on it.
#include "dtensor/arithmetic.hpp"
#include "layer/core/layer_types.hpp"

namespace tenon {

namespace {

class LocalConstant final : public OneInputKernel {
public:
  void forward(const DTensor&, ParameterUses& p, DTensor& y, Buffer*) override {
    copyLocal(p[0]->value(), y);
  }
  void tangent(const KernelPoint&, const DTensor*, ParameterUses& p, DTensor& dy) override {
    if (const DTensor* tangent = p[0]->tangent())
      copyLocal(*tangent, dy);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor*) override {
    if (!p[0]->isFrozen())
      axpby(1, dy, 1, p[0]->gradientContributions());
  }
  bool runsOnDevice() const override { return true; }
  std::string describe() const override { return "local copy"; }
};

} // namespace

std::unique_ptr<LocalKernel> makeConstantKernel(const KernelSite&) {
  return std::make_unique<LocalConstant>();
}

} // namespace tenon
