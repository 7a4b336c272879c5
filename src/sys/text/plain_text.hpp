// SPDX-License-Identifier: BSD-2-Clause
// Names and texts come from programs and files and can contain control sequences for a terminal, or
// bytes that JSON and HDF5 files cannot represent. Names are checked when they are set; messages
// and printed text show such bytes by their number, for example the byte that begins a control
// sequence as the four characters \x1b.
#pragma once

#include <string>
#include <string_view>

namespace tenon {

// Control characters in the library's own texts: line ends and tabs.
inline constexpr std::string_view kLineLayout = "\n\t";

// Length of the leading part that is printed unchanged: UTF-8 without control characters except
// those in `allowed`.
std::size_t plainLength(std::string_view text, std::string_view allowed) noexcept;

// Number of bytes of the UTF-8 character at the beginning, or 0 if there is none.
std::size_t utf8Length(std::string_view text) noexcept;

// The text, with each byte that is not plain replaced by \x and two digits.
std::string printable(std::string_view text, std::string_view allowed = "");

// Throws TENON_ERR_ARG unless the text is UTF-8, as JSON and HDF5 files require.
void checkUtf8(std::string_view what, std::string_view text);
// Throws TENON_ERR_ARG unless the text is UTF-8 without control characters; `what` names it in the
// message ("the name of a field").
void checkPlain(std::string_view what, std::string_view text);

} // namespace tenon
