// SPDX-License-Identifier: BSD-2-Clause
#include "linop/late_messages.hpp"

namespace tenon {

void LateMessages::open(const CarrierSetup& setup, const std::vector<std::size_t>& parts,
                        const Action& action, Wire::Reach reach) {
  if (parts.empty())
    return;
  messages_.emplace(setup, std::vector<std::size_t>{}, parts);
  const KernelContextPtr context = contextOf(setup.comm, action.x->space());
  sends_.emplace(0, setup.owner, context, reach);
  receives_.emplace(messages_->receiveBytes(), setup.owner + " messages of ranks without a lane",
                    context, reach);
  messages_->useWires(*sends_, *receives_);
  messages_->begin(action);
}

} // namespace tenon
