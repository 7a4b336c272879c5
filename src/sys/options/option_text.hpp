// SPDX-License-Identifier: BSD-2-Clause
// The syntax of options: conversion of the words of a source to checked values, and reading of
// words, quotes, comments, and values of each type. The sources are the command line, the
// environment variable TENON_OPTIONS, and an options file with one option per line, such as
//
//   -tenon_log_view                # a flag needs no value
//   -tenon_log_trace "my run.json" # quotes for a value with blanks
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
// Checks a key and its value, and substitutes the default meaning of a missing value.
OptionValue checkedValue(const std::string& key, const std::optional<std::string>& value,
                         OptionSource source, const std::string& place);

// true, 1, yes and on, or false, 0, no and off, in upper or lower case.
std::optional<bool> parseFlag(std::string_view text);
std::optional<Index> parseInt(std::string_view text);
// Integers such as "3" or "3,4,5", at least one.
std::optional<std::vector<Index>> parseInts(std::string_view text);
// Any finite or infinite number.
std::optional<double> parseReal(std::string_view text);

// A key begins with a dash and is not a number or a single dash.
bool looksLikeKey(std::string_view token);

// The words between blanks. '...' and "..." quote blanks; a word that begins with # starts a
// comment. `place` names the text in the error for an unterminated quote.
std::vector<std::string> tokenize(std::string_view line, std::string_view place);

} // namespace tenon
