// SPDX-License-Identifier: BSD-2-Clause
// Conclusion of a batched agreement. Communicators are made in the order in which they were
// requested, which is the same on all ranks, since the texts of all objects are. They are entered
// in the cache only now, so the cache stays the same on all ranks if one rank has failed.
#include "comm/agreement/batched.hpp"

#include <algorithm>
#include <utility>

namespace tenon {

SubCommPtr BatchedAgreement::split(const Communicator::SplitName& name, int color, int key) {
  const auto requested = std::find_if(splits_.begin(), splits_.end(), [&](const Split& split) {
    return split.place.name() == name;
  });
  if (requested != splits_.end())
    return requested->place.communicator();
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
    agree(comm_, mine, texts_);
  } catch (...) {
    undo();
    throw;
  }
  for (Split& split : splits_)
    comm_.make(std::move(split.place), split.color, split.key);
}

} // namespace tenon
