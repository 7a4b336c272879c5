// SPDX-License-Identifier: BSD-2-Clause
// Errors travel inside the library as exceptions of this one class; the C boundary turns them into
// codes.
#pragma once

#include <tenon/error.h>

#include <exception>
#include <source_location>
#include <string>

namespace tenon {

class Error : public std::exception {
public:
  Error(TenonErrorCode code, std::string text,
        std::source_location where = std::source_location::current())
      : code_(code), text_(std::move(text)), where_(where) {}

  // An error that every rank of a communicator raises alike: one of them speaks, the others fail in
  // silence. Such an error may be returned from Apply, since no neighbour waits.
  Error& agreed(bool speaks) noexcept {
    agreed_ = true;
    speaks_ = speaks;
    return *this;
  }

  TenonErrorCode code() const noexcept { return code_; }
  const std::string& text() const noexcept { return text_; }
  const std::source_location& where() const noexcept { return where_; }
  bool isAgreed() const noexcept { return agreed_; }
  bool speaks() const noexcept { return speaks_; }
  const char* what() const noexcept override { return text_.c_str(); }

private:
  TenonErrorCode code_;
  std::string text_;
  std::source_location where_;
  bool agreed_ = false;
  bool speaks_ = true;
};

// The sentence of a code in TENON_ERROR_TABLE, and its name ("TENON_ERR_ARG").
const char* errorSentence(TenonErrorCode code) noexcept;
const char* errorName(TenonErrorCode code) noexcept;

} // namespace tenon
