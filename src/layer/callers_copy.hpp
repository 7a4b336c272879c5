// SPDX-License-Identifier: BSD-2-Clause
// A caller's array that a layer copies at every call, since a kernel needs it contiguous, or since it
// may change before the adjoint: remembered for views.
#pragma once

#include "dtensor/dtensor.hpp"
#include "sys/view.hpp"

#include <fmt/format.h>

namespace tenon {

class CallersCopy {
public:
  // Whether the last call copied this array.
  void note(bool copied, const DTensor& array) {
    bytes_ = copied ? array.localCells() * dataTypeSize(array.dataType()) : 0;
    if (copied && title_ != array.title()) // from the second call on nothing is allocated
      title_ = array.title();
  }

  // A line of a view: `copied at each Apply: input, tensor "u" (strided array), 512 B on this rank`;
  // empty if nothing was copied.
  std::string describe(const char* call, const char* role, const char* why) const {
    return bytes_ == 0 ? ""
                       : fmt::format("  copied at each {}: {}, {} ({}), {} on this rank\n", call,
                                     role, title_, why, sizeText(bytes_));
  }

private:
  std::string title_;
  Index bytes_ = 0;
};

} // namespace tenon
