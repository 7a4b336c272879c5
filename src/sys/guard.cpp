// SPDX-License-Identifier: BSD-2-Clause
#include "sys/guard.hpp"

#include <fmt/format.h>

namespace tenon {

void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where) {
  if (code == TENON_SUCCESS)
    return;
  if (errorsRecorded() != recordedBefore && lastError().code() == code) {
    throw RecordedError(*lastError().error, where);
  }
  throw Error(code, fmt::format("{} returned error {}", what, errorName(code)), where);
}

} // namespace tenon
