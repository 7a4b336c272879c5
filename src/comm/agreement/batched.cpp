// SPDX-License-Identifier: BSD-2-Clause
// Ends a batched agreement. Communicators are made in the order in which they were requested, which
// is that of all ranks, since the texts by which objects were made are the same; they enter the
// list of known ones only now, so that it stays the same on all ranks where one has failed.
#include "comm/agreement/batched.hpp"

#include <algorithm>
#include <utility>

namespace tenon {

SubCommPtr BatchedAgreement::split(const Communicator::SplitName& name, int color, int key) {
  const auto known = std::find_if(splits_.begin(), splits_.end(),
                                  [&](const Split& split) { return split.place.name() == name; });
  if (known != splits_.end())
    return known->place.communicator();
  splits_.push_back({Communicator::Splits::Place(name), color, key});
  return splits_.back().place.communicator();
}

void BatchedAgreement::undo() noexcept {
  while (!undos_.empty()) {
    undos_.back()();
    undos_.pop_back();
  }
}

void BatchedAgreement::conclude(const std::optional<Error>& mine) {
  try {
    agree(comm_, mine, said_);
  } catch (...) {
    undo();
    throw;
  }
  for (Split& split : splits_)
    comm_.make(std::move(split.place), split.color, split.key);
}

} // namespace tenon
