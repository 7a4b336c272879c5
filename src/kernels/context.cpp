// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/context.hpp"

namespace tenon {

void KernelContext::reserve(const ScratchPlan& plan) {
  if (plan.bytes() > scratch_.bytes())
    scratch_ = Buffer(plan.bytes(), "scratch of the kernels");
}

KernelContextPtr contextOrOwn(KernelContextPtr context) {
  return context ? std::move(context) : std::make_shared<KernelContext>();
}

} // namespace tenon
