// SPDX-License-Identifier: BSD-2-Clause
// The exception class for all errors inside the library; the C boundary converts them to error
// codes. Copies share their text, so copying, which exceptions can require at any time, allocates
// nothing; neither does the error for failed allocations.
#pragma once

#include <tenon/error.h>

#include <exception>
#include <memory>
#include <source_location>
#include <string>

namespace tenon {

// An error: its code, its text, and the place in the source where it was thrown.
class Error : public std::exception {
public:
  Error(TenonErrorCode code, std::string text,
        std::source_location where = std::source_location::current())
      : code_(code), text_(std::make_shared<const std::string>(std::move(text))), where_(where) {}
  // The same error with another source location.
  Error(const Error& other, std::source_location where) noexcept : Error(other) { where_ = where; }
  // The error that replaces std::bad_alloc.
  static Error outOfMemory(std::source_location where = std::source_location::current()) noexcept {
    return {TENON_ERR_MEMORY, where};
  }
  // An error without a text, because there was no memory to store it.
  static Error withoutWords(TenonErrorCode code,
                            std::source_location where = std::source_location::current()) noexcept {
    return {code, where};
  }

  // Marks an error that all ranks of a communicator raise alike: only the rank with `speaks` prints
  // it. Such an error can be returned from Apply, since no other rank waits.
  Error& agreed(bool speaks) noexcept {
    agreed_ = true;
    speaks_ = speaks;
    return *this;
  }

  TenonErrorCode code() const noexcept { return code_; }
  const std::string& text() const noexcept;
  const std::source_location& where() const noexcept { return where_; }
  bool isAgreed() const noexcept { return agreed_; }
  bool speaks() const noexcept { return speaks_; }
  const char* what() const noexcept override { return text().c_str(); }

private:
  Error(TenonErrorCode code, std::source_location where) noexcept : code_(code), where_(where) {}

  TenonErrorCode code_;
  std::shared_ptr<const std::string> text_; // null if there was no memory for it
  std::source_location where_;
  bool agreed_ = false;
  bool speaks_ = true;
};

// Converts the exception in flight to an Error, for a failure that is reported later, where other
// ranks wait. `where` is used for exceptions without a location.
Error caughtError(std::source_location where = std::source_location::current()) noexcept;

// The text of a code in TENON_ERROR_TABLE, and its name, such as "TENON_ERR_ARG".
const char* errorSentence(TenonErrorCode code) noexcept;
const char* errorName(TenonErrorCode code) noexcept;

} // namespace tenon
