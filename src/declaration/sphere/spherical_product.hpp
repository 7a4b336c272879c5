// SPDX-License-Identifier: BSD-2-Clause
// The product of a spherical convolution on one rank: spherical harmonic coefficients times weights
// of each degree, of each mode, or shared by all, and a bias that is added to the coefficient of
// degree and order 0, since it is constant on the sphere.
#pragma once

#include "declaration/kernel/kernel_place.hpp"
#include "kernels/sphere/products.hpp"

namespace tenon {

// What a rank's product of coefficients with weights consists of.
struct SphericalProduct {
  DegreeProductShape shape;
  bool isByMode = false, isShared = false;
  double constant = 1;      // the coefficient of a field of ones
  bool hasConstant = false; // the block has the coefficient of degree and order 0

  Index modes() const { return shape.places * shape.degrees; }
  Index inputs() const { return shape.groups * shape.inputs; }
  Index outputs() const { return shape.groups * shape.outputs; }
};

// The kernel of the product; its parameters are the weights, and the bias if there is one.
std::unique_ptr<ArrayKernel> makeSphericalProduct(const KernelPlace& at,
                                                  const SphericalProduct& product);

} // namespace tenon
