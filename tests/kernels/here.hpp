// SPDX-License-Identifier: BSD-2-Clause
// here(): the context (scratch memory and threads of the host) in which tests call kernels, one for
// the whole test program.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon::test {

inline KernelContext& here() {
  static KernelContext context;
  return context;
}

} // namespace tenon::test
