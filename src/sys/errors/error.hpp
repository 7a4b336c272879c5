// SPDX-License-Identifier: BSD-2-Clause
// Errors are raised inside the library as exceptions of this one class; the C boundary turns them
// into codes. Copies share their text, so that copying one, which exceptions may be at any time,
// needs no memory; and that there is none left can be said without any.
#pragma once

#include <tenon/error.h>

#include <exception>
#include <memory>
#include <source_location>
#include <string>

namespace tenon {

class Error : public std::exception {
public:
  Error(TenonErrorCode code, std::string text,
        std::source_location where = std::source_location::current())
      : code_(code), text_(std::make_shared<const std::string>(std::move(text))), where_(where) {}
  // An error with the same words, found at another place.
  Error(const Error& other, std::source_location where) noexcept : Error(other) { where_ = where; }
  // The error that stands for std::bad_alloc.
  static Error outOfMemory(std::source_location where = std::source_location::current()) noexcept {
    return {TENON_ERR_MEMORY, where};
  }
  // An error whose words could not be kept, for want of memory.
  static Error withoutWords(TenonErrorCode code,
                            std::source_location where = std::source_location::current()) noexcept {
    return {code, where};
  }

  // An error that every rank of a communicator raises alike: one of them speaks, the others fail in
  // silence. Such an error may be returned from Apply, since no neighbour waits.
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
  std::shared_ptr<const std::string> text_; // none: there was no memory for it
  std::source_location where_;
  bool agreed_ = false;
  bool speaks_ = true;
};

// The exception in flight as an Error, whatever it is: for a failure that must be carried to a
// place where other ranks wait. `where` serves exceptions that carry no place.
Error caughtError(std::source_location where = std::source_location::current()) noexcept;

// The sentence of a code in TENON_ERROR_TABLE, and its name ("TENON_ERR_ARG").
const char* errorSentence(TenonErrorCode code) noexcept;
const char* errorName(TenonErrorCode code) noexcept;

} // namespace tenon
