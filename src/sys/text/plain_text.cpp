// SPDX-License-Identifier: BSD-2-Clause
// Distinguishes plain text from control sequences of terminals. Control characters are those of
// ASCII, and U+0080 to U+009F, which terminals treat like ESC sequences. Bytes that are not UTF-8
// are not plain.
#include "sys/text/plain_text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

unsigned byteAt(std::string_view text, std::size_t i) noexcept {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Whether the first character is a control character: U+0000 to U+001F, U+007F, or U+0080 to
// U+009F, which UTF-8 writes as 0xc2 and a second byte.
bool isControl(std::string_view text) noexcept {
  const unsigned first = byteAt(text, 0);
  return first < 0x20 || first == 0x7f || (first == 0xc2 && byteAt(text, 1) < 0xa0);
}

} // namespace

// Overlong forms, surrogates, and numbers above U+10FFFF are not valid UTF-8: each character has
// one form.
std::size_t utf8Length(std::string_view text) noexcept {
  const unsigned first = byteAt(text, 0);
  const std::size_t length = text.empty()                    ? 0
                             : first < 0x80                  ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  // All bytes after the first one begin with the bits 10.
  for (std::size_t i = 1; i < length; ++i)
    if ((byteAt(text, i) & 0xc0) != 0x80)
      return 0;
  const unsigned second = byteAt(text, 1);
  const bool isOverlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool isInvalid = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return isOverlong || isInvalid ? 0 : length;
}

std::size_t plainLength(std::string_view text, std::string_view allowed) noexcept {
  std::size_t plain = 0;
  while (plain < text.size()) {
    const std::string_view rest = text.substr(plain);
    const std::size_t length = utf8Length(rest);
    if (length == 0 || (isControl(rest) && allowed.find(rest[0]) == allowed.npos))
      break;
    plain += length;
  }
  return plain;
}

std::string printable(std::string_view text, std::string_view allowed) {
  std::string shown;
  while (true) {
    const std::size_t plain = plainLength(text, allowed);
    shown += text.substr(0, plain);
    if (plain == text.size())
      return shown;
    shown += fmt::format("\\x{:02x}", byteAt(text, plain));
    text.remove_prefix(plain + 1);
  }
}

} // namespace tenon
