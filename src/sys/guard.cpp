// SPDX-License-Identifier: BSD-2-Clause
#include "sys/guard.hpp"

#include <fmt/format.h>

#include <new>
#include <string_view>

namespace tenon {

namespace {

// Once more, the error that is in the record.
[[noreturn]] void throwRecorded(std::source_location where) {
  throw RecordedError(*lastError().error, where);
}

} // namespace

void checkUserCode(TenonErrorCode code, const char* what, long recordedBefore,
                   std::source_location where) {
  if (code == TENON_SUCCESS)
    return;
  if (errorsRecorded() != recordedBefore && lastError().code() == code)
    throwRecorded(where);
  throw Error(code, fmt::format("{} returned error {}", what, errorName(code)), where);
}

// The exceptions of tenon.hpp carry the message of the error that Tenon raised.
void throwUserException(const char* what, long recordedBefore, std::source_location where) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(TENON_ERR_MEMORY, fmt::format("an allocation failed in {}", what), where);
  } catch (const std::exception& error) {
    if (errorsRecorded() != recordedBefore &&
        std::string_view(error.what()).find(lastError().message()) != std::string_view::npos)
      throwRecorded(where);
    throw Error(TENON_ERR_USER, fmt::format("{} threw an exception: {}", what, error.what()),
                where);
  } catch (...) {
    throw Error(TENON_ERR_USER, fmt::format("{} threw an exception of unknown type", what), where);
  }
}

} // namespace tenon
