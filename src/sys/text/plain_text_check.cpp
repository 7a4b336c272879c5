// SPDX-License-Identifier: BSD-2-Clause
// Refuses names and texts that are not UTF-8 or have control characters. The checks stand apart
// from what makes texts printable, since the command is compiled with that and without the
// library's errors.
#include "sys/errors/error.hpp"
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view text, std::size_t at,
                         const char* why) {
  throw Error(TENON_ERR_ARG,
              fmt::format("{}, '{}', has the byte \\x{:02x} at position {}, which {}; "
                          "leave it out",
                          what, printable(text), static_cast<unsigned char>(text[at]), at + 1,
                          why));
}

} // namespace

void checkUtf8(std::string_view what, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8Length(text.substr(at));
    if (length == 0)
      refuse(what, text, at, "is not UTF-8");
    at += length;
  }
}

void checkPlain(std::string_view what, std::string_view text) {
  checkUtf8(what, text);
  if (const std::size_t plain = plainLength(text, ""); plain < text.size())
    refuse(what, text, plain, "begins a control character");
}

} // namespace tenon
