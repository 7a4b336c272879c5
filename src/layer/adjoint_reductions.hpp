// SPDX-License-Identifier: BSD-2-Clause
// Who reduces gradients while an adjoint runs, each as soon as its last addend is there. Told of the steps of the
// adjoint, which are the same on all ranks.
#pragma once

#include "declaration/pass.hpp"

#include <cstddef>

namespace tenon {

class BoundMaps;

class AdjointReductions {
public:
  virtual ~AdjointReductions() = default;
  virtual void begins(const BoundMaps& maps, const Pass& pass) = 0;
  // The steps up to this one; told of at least those that a reduction waits for.
  virtual void ran(std::size_t step) = 0;
  virtual bool waitsFor(std::size_t step) const = 0;
  // After the last step, or after one that threw: nothing is under way then.
  virtual void ends() = 0;
};

} // namespace tenon
