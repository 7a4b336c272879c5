// SPDX-License-Identifier: BSD-2-Clause
// What the caller supplies at the boundary of a layer's input x, as a second input v: the kernel
// sees
//
//     xUse = E x + M v        (linop/boundary_op.hpp)
//
// with x converted to its use layout G by the halo exchange E, and v a tensor in G or one number.
// The adjoint leaves dv = M dxUse in G*, or in the number's dual.
#pragma once

#include "layer/layer.hpp"
#include "linop/conversion.hpp"

namespace tenon {

class BoundaryInput {
public:
  // v lies in `given`: the use layout itself, or [1] in any way without margins. Throws
  // TENON_ERR_LAYOUT for another.
  BoundaryInput(const Layer& layer, const Layout& use, const Layout& given);

  // use <- use + M v
  void add(const DTensor& v, DTensor& use);
  // dv <- M dUse
  void adjoint(const DTensor& dUse, DTensor& dv);

  std::string describe() const;
  Index bytes() const;

private:
  Layout given_;
  LinearOpRef mask_;                 // null where the use layout has no cell of the caller's
  Ref<Conversion> toUse_;            // of one number; null where its memory serves as it is
  Ref<DTensor> number_, numberDual_; // null likewise
};

} // namespace tenon
