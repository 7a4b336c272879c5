// SPDX-License-Identifier: BSD-2-Clause
// States of devices during a reduction, and what each collective requires of the states of a group
// and does to them (collective_rule.hpp). A state is a matrix of bits, [chunk][contributor]. It is
// stored in words of 64 bits: first a mask of the chunks that are held, then the rows of the
// matrix. So a comparison or union of chunks or contributions processes one range of words:
//
//     words_   | mask of rows | row 0 | row 1 | ...        mask_ words, then stride_ words per row
#include "reduction/collective_rule.hpp"

#include <algorithm>
#include <bit>

namespace tenon {

namespace {

constexpr int kWordBits = 64;

// Number of words for so many bits.
int wordsOf(int bits) {
  return (bits + kWordBits - 1) / kWordBits;
}

bool hasBit(const std::uint64_t* words, int bit) {
  return words[bit / kWordBits] >> (bit % kWordBits) & 1;
}

void setBit(std::uint64_t* words, int bit) {
  words[bit / kWordBits] |= std::uint64_t(1) << (bit % kWordBits);
}

bool haveCommonBit(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i)
    if (a[i] & b[i])
      return true;
  return false;
}

} // namespace

DeviceState::DeviceState(int rows, int columns)
    : rows_(rows), columns_(columns), mask_(wordsOf(rows)), stride_(wordsOf(columns)),
      words_(mask_ + std::size_t(rows) * stride_, 0) {}

DeviceState::DeviceState(int rows, int columns, const std::vector<int>& contributors)
    : DeviceState(rows, columns) {
  for (int r = 0; r < rows; ++r)
    for (int column : contributors)
      add(r, column);
}

bool DeviceState::has(int index, int column) const {
  return hasBit(row(index), column);
}

void DeviceState::add(int index, int column) {
  setBit(words_.data(), index);
  setBit(row(index), column);
}

bool DeviceState::holds(int index) const {
  return hasBit(words_.data(), index);
}

int DeviceState::heldRows() const {
  int count = 0;
  for (int i = 0; i < mask_; ++i)
    count += std::popcount(words_[i]);
  return count;
}

bool DeviceState::hasSameRows(const DeviceState& other) const {
  return std::equal(words_.begin(), words_.begin() + mask_, other.words_.begin());
}

bool DeviceState::sharesRow(const DeviceState& other) const {
  return haveCommonBit(words_.data(), other.words_.data(), mask_);
}

bool DeviceState::sharesEntry(const DeviceState& other) const {
  return haveCommonBit(row(0), other.row(0), words_.size() - mask_);
}

bool DeviceState::isWithin(const DeviceState& other) const {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (words_[i] & ~other.words_[i])
      return false;
  return true;
}

void DeviceState::join(const DeviceState& other) {
  for (std::size_t i = 0; i < words_.size(); ++i)
    words_[i] |= other.words_[i];
}

DeviceState DeviceState::share(int part, int parts) const {
  DeviceState result(rows_, columns_);
  const int size = heldRows() / parts;
  for (int r = 0, seen = 0; r < rows_; ++r) {
    if (!holds(r))
      continue;
    if (seen >= part * size && seen < (part + 1) * size) {
      setBit(result.words_.data(), r);
      std::copy(row(r), row(r) + stride_, result.row(r));
    }
    ++seen;
  }
  return result;
}

std::size_t DeviceState::hash() const noexcept {
  // Multiply and shift, as in MurmurHash's finaliser. The start is 2^64 divided by the golden
  // ratio, whose bits have no pattern.
  std::uint64_t mixed = 0x9e3779b97f4a7c15ULL;
  for (std::uint64_t word : words_) {
    mixed = (mixed ^ word) * 0xff51afd7ed558ccdULL;
    mixed ^= mixed >> 32;
  }
  return static_cast<std::size_t>(mixed);
}

namespace {

DeviceState unionOf(GroupStates group) {
  DeviceState sum = *group.front();
  for (const DeviceState* state : group.subspan(1))
    sum.join(*state);
  return sum;
}

// The rule of AllReduce, ReduceScatter and Reduce: all members must hold the same chunks, and no
// contribution can be added twice.
Refusal whyNoSum(GroupStates group) {
  const DeviceState& first = *group.front();
  for (const DeviceState* state : group.subspan(1))
    if (!state->hasSameRows(first))
      return Refusal::RowsDiffer;
  if (first.isEmpty())
    return Refusal::NobodyHolds;
  DeviceState sum = first;
  for (const DeviceState* state : group.subspan(1)) {
    if (state->sharesEntry(sum))
      return Refusal::AddedTwice;
    sum.join(*state);
  }
  return Refusal::None;
}

// The rule of AllGather: all members must hold the same number of chunks, and no chunk can be in
// two of them.
Refusal whyNoGather(GroupStates group) {
  const int held = group.front()->heldRows();
  for (const DeviceState* state : group.subspan(1))
    if (state->heldRows() != held)
      return Refusal::RowCountsDiffer;
  if (held == 0)
    return Refusal::NobodyHolds;
  DeviceState gathered = *group.front();
  for (const DeviceState* state : group.subspan(1)) {
    if (state->sharesRow(gathered))
      return Refusal::RowTwice;
    gathered.join(*state);
  }
  return Refusal::None;
}

// The rule of Broadcast: the first member must have all that the others have, and one of them less.
Refusal whyNoBroadcast(GroupStates group) {
  const DeviceState& first = *group.front();
  bool changesState = false;
  for (const DeviceState* state : group.subspan(1)) {
    if (!state->isWithin(first))
      return Refusal::FirstKnowsLess;
    changesState |= *state != first;
  }
  // A broadcast that changes no state makes no progress.
  if (changesState)
    return Refusal::None;
  return first.isEmpty() ? Refusal::NobodyHolds : Refusal::NothingToBroadcast;
}

} // namespace

const char* sentenceOf(Refusal refusal) {
  switch (refusal) {
  case Refusal::None:
    return "";
  case Refusal::NobodyHolds:
    return "no member of the group holds any chunk";
  case Refusal::RowsDiffer:
    return "members of a sum hold different chunks";
  case Refusal::AddedTwice:
    return "a contribution would be added twice";
  case Refusal::Indivisible:
    return "the chunks held cannot be shared equally among the members";
  case Refusal::RowCountsDiffer:
    return "members of a gather hold different numbers of chunks";
  case Refusal::RowTwice:
    return "two members of a gather hold the same chunk";
  case Refusal::FirstKnowsLess:
    return "a member holds something that the first one would have to broadcast and has not";
  case Refusal::NothingToBroadcast:
    return "all members already hold what the first one would broadcast";
  }
  return "";
}

const char* wordOf(CollectiveKind kind) {
  constexpr const char* kWords[] = {"AllGather", "ReduceScatter", "AllReduce", "Broadcast",
                                    "Reduce"};
  return kWords[static_cast<int>(kind)];
}

Refusal refusalOf(CollectiveKind kind, GroupStates group) {
  if (kind == CollectiveKind::AllGather)
    return whyNoGather(group);
  if (kind == CollectiveKind::Broadcast)
    return whyNoBroadcast(group);
  const Refusal refusal = whyNoSum(group);
  const int members = static_cast<int>(group.size());
  if (refusal == Refusal::None && kind == CollectiveKind::ReduceScatter &&
      group.front()->heldRows() % members != 0)
    return Refusal::Indivisible;
  return refusal;
}

// Every collective except Broadcast produces the union of contributions, and differs in who holds
// it.
std::vector<DeviceState> statesAfter(CollectiveKind kind, GroupStates group) {
  const DeviceState result = kind == CollectiveKind::Broadcast ? *group.front() : unionOf(group);
  const int members = static_cast<int>(group.size());
  std::vector<DeviceState> after;
  after.reserve(group.size());
  for (int i = 0; i < members; ++i) {
    if (kind == CollectiveKind::ReduceScatter)
      after.push_back(result.share(i, members));
    else if (kind == CollectiveKind::Reduce && i > 0)
      after.emplace_back(result.rows(), result.columns());
    else
      after.push_back(result);
  }
  return after;
}

} // namespace tenon
