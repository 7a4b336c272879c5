// SPDX-License-Identifier: BSD-2-Clause
// Names and texts come from programs and files, and a terminal obeys some of what they may hold, as
// a JSON or HDF5 file cannot hold all of it. Names are checked where they are set; messages and
// what is printed show as \x1b what is not plain.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// The control characters that the library's own texts have: line ends and tabs.
inline constexpr std::string_view kLineLayout = "\n\t";

// The length of the beginning that is printed as it is: UTF-8 without control characters, except
// for those in `kept`.
std::size_t plainLength(std::string_view text, std::string_view kept) noexcept;

// The bytes of the UTF-8 character at the beginning; 0 if there is none.
std::size_t utf8Length(std::string_view text) noexcept;

// The text, with each byte that is not plain shown as \x and two digits.
std::string printable(std::string_view text, std::string_view kept = "");

// Throws TENON_ERR_ARG unless the text is UTF-8, which JSON and HDF5 files are.
void checkUtf8(std::string_view what, std::string_view text);
// Throws TENON_ERR_ARG unless the text is UTF-8 without control characters; `what` is what the
// message calls it ("the name of a field").
void checkPlain(std::string_view what, std::string_view text);

} // namespace tenon
