// SPDX-License-Identifier: BSD-2-Clause
// The two text sinks of the library, for normal output and for errors: functions that receive each
// text that is printed. All output of Tenon passes through them, so a host program can redirect it
// to its own log.
#pragma once

#include <functional>
#include <string_view>

namespace tenon {

using TextSink = std::function<void(std::string_view)>;

// Prints to standard output or standard error, flushed, or to the sink that is set. Line ends are
// printed; other control characters, and bytes that are not UTF-8, are printed as hexadecimal
// numbers, such as \x1b.
void print(std::string_view text) noexcept;
void printError(std::string_view text) noexcept;

// Whether a text could not be written to standard output, for example because the disk is full.
bool isOutputLost() noexcept;

// An empty sink restores the standard stream. A sink must not throw.
void setOutputSink(TextSink sink);
void setErrorSink(TextSink sink);

} // namespace tenon
