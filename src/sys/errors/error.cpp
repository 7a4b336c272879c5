// SPDX-License-Identifier: BSD-2-Clause
#include "sys/errors/error.hpp"

#include <new>

namespace tenon {

namespace {
// Made when the library is loaded, and never destroyed.
const std::string& noMemoryText = *new std::string("an allocation failed");
} // namespace

const std::string& Error::text() const noexcept {
  return text_ ? *text_ : noMemoryText;
}

namespace {
Error foreignError(const char* what, std::source_location where) noexcept {
  try {
    return {TENON_ERR_INTERNAL, what, where};
  } catch (const std::bad_alloc&) {
    return Error::outOfMemory(where);
  }
}
} // namespace

Error caughtError(std::source_location where) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error::outOfMemory(where);
  } catch (const std::exception& error) {
    return foreignError(error.what(), where);
  } catch (...) {
    return foreignError("an exception of unknown type", where);
  }
}

const char* errorSentence(TenonErrorCode code) noexcept {
  switch (code) {
#define TENON_CASE(name, number, sentence)                                                         \
  case TENON_##name:                                                                               \
    return sentence;
    TENON_ERROR_TABLE(TENON_CASE)
#undef TENON_CASE
  default:
    return "unknown error code";
  }
}

const char* errorName(TenonErrorCode code) noexcept {
  switch (code) {
#define TENON_CASE(name, number, sentence)                                                         \
  case TENON_##name:                                                                               \
    return "TENON_" #name;
    TENON_ERROR_TABLE(TENON_CASE)
#undef TENON_CASE
  default:
    return "unknown";
  }
}

} // namespace tenon
