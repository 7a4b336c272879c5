// SPDX-License-Identifier: BSD-2-Clause
// From a source's words to checked values: which words are keys, which the values that follow them.
#pragma once

#include "sys/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct OptionReading {
  std::vector<OptionValue> values;
  std::vector<std::string> rest; // words that are no options
};

OptionReading readCommandLine(int argc, const char* const* argv);
std::vector<OptionValue> readEnvironment(std::string_view text);
std::vector<OptionValue> readFileText(std::string_view text, const std::string& path);
// Checks a key and its value, if one is written, and fills in what a missing one means.
OptionValue checkedValue(const std::string& key, const std::optional<std::string>& value,
                         OptionSource source, const std::string& place);

} // namespace tenon
