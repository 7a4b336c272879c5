// SPDX-License-Identifier: BSD-2-Clause
// The end of a batched agreement (batched.hpp): the ranks agree on success and on all texts that
// the body has added; then either the requested communicators are made, or all actions are undone.
// Communicators are made in the order in which they were requested. This order is the same on all
// ranks, since the ranks have created the same objects: their texts are equal. Communicators are
// entered in the cache only now, so the cache is the same on all ranks also if one rank has failed.
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
