// SPDX-License-Identifier: BSD-2-Clause
// The library's two text sinks. Everything that Tenon prints passes here, so that a host program
// can send it to its own log.
#pragma once

#include <functional>
#include <string_view>

namespace tenon {

using TextSink = std::function<void(std::string_view)>;

// Standard output and standard error, flushed, unless a sink is set. The caller ends its
// lines; other control characters, and what is not UTF-8, are printed as \x1b.
void print(std::string_view text) noexcept;
void printError(std::string_view text) noexcept;

// Whether a text could not be written to standard output, which may be full.
bool isOutputLost() noexcept;

// An empty sink restores the standard stream. A sink must not throw.
void setOutputSink(TextSink sink);
void setErrorSink(TextSink sink);

} // namespace tenon
