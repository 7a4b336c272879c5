// SPDX-License-Identifier: BSD-2-Clause
// Places within a range of bytes: the first gap that is wide enough, and gaps that touch become one
// again. Places are numbers; the memory behind them is somebody else's.
#pragma once

#include "sys/types.hpp"

#include <map>
#include <optional>

namespace tenon {

// The next multiple of a unit.
inline Index roundedUp(Index value, Index unit) {
  return (value + unit - 1) / unit * unit;
}

class FirstFit {
public:
  explicit FirstFit(Index bytes);

  // The place of that many bytes, more than 0, at a multiple of `alignment`; none if no gap is wide
  // enough.
  std::optional<Index> take(Index bytes, Index alignment);
  // Frees a place that was taken, without allocating; returns its bytes.
  Index giveBack(Index place);
  Index bytesTaken() const noexcept { return taken_; }

private:
  using Ranges = std::map<Index, Index>; // begin to end

  Ranges gaps_, places_;
  Index taken_ = 0;
};

} // namespace tenon
