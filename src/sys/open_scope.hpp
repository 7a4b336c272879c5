// SPDX-License-Identifier: BSD-2-Clause
// What the innermost open scope of this thread has taken so far (log.hpp), with those within it; zeros while
// the log is off.
#pragma once

#include "sys/types.hpp"

namespace tenon {

struct OpenScope {
  double seconds = 0;
  Index messages = 0, bytes = 0;
};

OpenScope logOpenScope() noexcept;

} // namespace tenon
