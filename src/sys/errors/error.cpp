// SPDX-License-Identifier: BSD-2-Clause
// Errors that cannot fail themselves. Running out of memory must be reportable: its text is created
// in advance, and any exception is converted to an Error without a further exception.
#include "sys/errors/error.hpp"

#include <new>

namespace tenon {

namespace {

// Created when the library is loaded, while there is memory, and never destroyed.
const std::string& noMemoryText = *new std::string("an allocation failed");
const std::string& noWordsText =
    *new std::string("there was no memory to keep the words of this error");

// An exception of another library; storing its text can fail.
Error foreignError(const char* what, std::source_location where) noexcept {
  try {
    return {TENON_ERR_INTERNAL, what, where};
  } catch (const std::bad_alloc&) {
    return Error::outOfMemory(where);
  }
}

} // namespace

const std::string& Error::text() const noexcept {
  if (text_)
    return *text_;
  return code_ == TENON_ERR_MEMORY ? noMemoryText : noWordsText;
}

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
