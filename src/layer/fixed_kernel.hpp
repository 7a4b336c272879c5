// SPDX-License-Identifier: BSD-2-Clause
// A kernel that nothing differentiates: a maximum, a statistic.
#pragma once

#include "layer/local_kernel.hpp"

namespace tenon {

class FixedKernel : public LocalKernel {
public:
  void tangentMany(const KernelPoint&, Inputs, ParameterUses&, DTensor&) final {}
  void adjointMany(const KernelPoint&, const DTensor&, ParameterUses&, InputCotangents) final {}
};

} // namespace tenon
