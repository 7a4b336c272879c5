// SPDX-License-Identifier: BSD-2-Clause
// Rejects names and texts that are not UTF-8 or contain control characters. Separate from
// plain_text.cpp, which the command-line tool also compiles, without the library's errors. The
// functions are declared in plain_text.hpp.
#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::size_t position,
                         const char* reason) {
  throw Error(TENON_ERR_ARG,
              fmt::format("{}, '{}', has the byte \\x{:02x} at position {}, which {}; "
                          "leave it out",
                          what, printable(text), static_cast<unsigned char>(text[position]),
                          position + 1, reason));
}

} // namespace

void checkUtf8(std::string_view what, std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = utf8Length(text.substr(position));
    if (length == 0)
      refuse(what, text, position, "is not UTF-8");
    position += length;
  }
}

void checkPlain(std::string_view what, std::string_view text) {
  checkUtf8(what, text);
  if (const std::size_t plain = plainLength(text, ""); plain < text.size())
    refuse(what, text, plain, "begins a control character");
}

} // namespace tenon
