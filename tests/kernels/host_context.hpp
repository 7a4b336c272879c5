// SPDX-License-Identifier: BSD-2-Clause
// hostContext(): the context in which tests call kernels, with scratch memory and threads of the
// host. There is one for the whole test program.
#pragma once

#include "kernels/base/context.hpp"

namespace tenon::test {

inline KernelContext& hostContext() {
  static KernelContext context;
  return context;
}

} // namespace tenon::test
