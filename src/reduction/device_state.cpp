// SPDX-License-Identifier: BSD-2-Clause
#include "reduction/device_state.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr int kWordBits = 64;

} // namespace

DeviceState::DeviceState(int rows, int columns)
    : rows_(rows), columns_(columns), stride_((columns + kWordBits - 1) / kWordBits),
      words_(std::size_t(rows) * stride_, 0) {}

DeviceState::DeviceState(int rows, int columns, const std::vector<int>& contributors)
    : DeviceState(rows, columns) {
  for (int r = 0; r < rows; ++r)
    for (int column : contributors)
      add(r, column);
}

bool DeviceState::has(int index, int column) const {
  return row(index)[column / kWordBits] >> (column % kWordBits) & 1;
}

void DeviceState::add(int index, int column) {
  row(index)[column / kWordBits] |= std::uint64_t(1) << (column % kWordBits);
}

bool DeviceState::holds(int index) const {
  return std::any_of(row(index), row(index) + stride_, [](std::uint64_t w) { return w != 0; });
}

int DeviceState::heldRows() const {
  int held = 0;
  for (int r = 0; r < rows_; ++r)
    held += holds(r);
  return held;
}

bool DeviceState::hasSameRows(const DeviceState& other) const {
  for (int r = 0; r < rows_; ++r)
    if (holds(r) != other.holds(r))
      return false;
  return true;
}

bool DeviceState::sharesRow(const DeviceState& other) const {
  for (int r = 0; r < rows_; ++r)
    if (holds(r) && other.holds(r))
      return true;
  return false;
}

bool DeviceState::sharesEntry(const DeviceState& other) const {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (words_[i] & other.words_[i])
      return true;
  return false;
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
  DeviceState kept(rows_, columns_);
  const int size = heldRows() / parts;
  for (int r = 0, seen = 0; r < rows_; ++r) {
    if (!holds(r))
      continue;
    if (seen / size == part)
      std::copy(row(r), row(r) + stride_, kept.row(r));
    ++seen;
  }
  return kept;
}

std::size_t DeviceState::hash() const noexcept {
  std::uint64_t mixed = 0x9e3779b97f4a7c15ULL;
  for (std::uint64_t word : words_) {
    mixed = (mixed ^ word) * 0xff51afd7ed558ccdULL;
    mixed ^= mixed >> 32;
  }
  return static_cast<std::size_t>(mixed);
}

} // namespace tenon
