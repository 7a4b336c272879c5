// SPDX-License-Identifier: BSD-2-Clause
// How options are written. The first part turns the words of a source into checked values; the
// second reads words, quotes and comments, and the values of each type.
#pragma once

#include "sys/options/options.hpp"
#include "sys/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The options among the words of a source.
struct OptionReading {
  std::vector<OptionValue> values;
  std::vector<std::string> rest; // words that are not options
};

OptionReading readCommandLine(int argc, const char* const* argv);
std::vector<OptionValue> readEnvironment(std::string_view text);
std::vector<OptionValue> readFileText(std::string_view text, const std::string& path);
// Checks a key and its value, if one is written, and fills in what a missing value means.
OptionValue checkedValue(const std::string& key, const std::optional<std::string>& value,
                         OptionSource source, const std::string& place);

// True for true, 1, yes, on; false for false, 0, no, off; in upper or lower case.
std::optional<bool> parseFlag(std::string_view text);
std::optional<Index> parseInt(std::string_view text);
// Integers such as "3" or "3,4,5"; at least one.
std::optional<std::vector<Index>> parseInts(std::string_view text);
// Any finite or infinite number.
std::optional<double> parseReal(std::string_view text);

// A key begins with a dash, unless it is a number or the dash alone.
bool looksLikeKey(std::string_view token);

// The words between blanks; '...' and "..." keep blanks together; a word that begins with # ends
// the line. `place` names the text in the error for a quote that is not closed.
std::vector<std::string> tokenize(std::string_view line, std::string_view place);

} // namespace tenon
