// SPDX-License-Identifier: BSD-2-Clause
// Messages of the ranks of the node that found no room for a lane, of which the receiver hears in the first action.
#pragma once

#include "linop/message_carrier.hpp"

namespace tenon {

class LateMessages {
public:
  // Of these parts, in the action that has begun; if there are none, nothing.
  void open(const CarrierSetup& setup, const std::vector<std::size_t>& parts, const Action& action,
            Wire::Reach reach = Wire::Reach::Host);
  void begin(const Action& action) {
    if (messages_)
      messages_->begin(action);
  }
  void receive(const Action& action, std::size_t part, Interval chunks, const Meeting& meeting) {
    messages_->receive(action, part, chunks, meeting);
  }
  void end(const Action& action) {
    if (messages_)
      messages_->end(action);
  }
  Index heldBytes() const noexcept { return receives_ ? receives_->heldBytes() : 0; }

private:
  std::optional<Wire> sends_, receives_; // none are sent
  std::optional<MessageCarrier> messages_;
};

} // namespace tenon
