// SPDX-License-Identifier: BSD-2-Clause
// The context in which tests call kernels.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon::test {

inline KernelContext& here() {
  static KernelContext context;
  return context;
}

} // namespace tenon::test
