// SPDX-License-Identifier: BSD-2-Clause
// One use of an operator F: y <- alpha F x + beta y, or the same with its adjoint F*. With beta = 0
// y is never read.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

enum class Sense { Forward, Adjoint };

inline Sense reversed(Sense sense) {
  return sense == Sense::Forward ? Sense::Adjoint : Sense::Forward;
}

struct Action {
  Sense sense = Sense::Forward;
  double alpha = 1;
  const DTensor* x = nullptr;
  double beta = 0;
  DTensor* y = nullptr;

  bool isPlain() const noexcept { return alpha == 1 && beta == 0; }
};

} // namespace tenon
