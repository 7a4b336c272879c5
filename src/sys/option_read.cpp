// SPDX-License-Identifier: BSD-2-Clause
#include "sys/option_read.hpp"

#include "sys/error.hpp"
#include "sys/option_text.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

using Declarations = std::vector<const OptionDeclaration*>;

Declarations knownDeclarations(const std::string& key, const std::string& place) {
  auto declared = declarationsOf(key);
  if (declared.empty())
    throw Error(TENON_ERR_OPTION,
                fmt::format("unknown option '{}' ({}); did you mean '{}'? -tenon_help lists all",
                            key, place, nearestKey(key)));
  return declared;
}

bool accepted(const Declarations& declared, std::string_view value) {
  return std::any_of(declared.begin(), declared.end(),
                     [&](const auto* one) { return one->accepts(value); });
}

// Whether the word after a key belongs to it. What follows a flag does only if it reads as one: it
// may be a word of the host program's.
bool takesNext(const Declarations& declared, std::string_view next) {
  if (looksLikeKey(next))
    return false;
  return declared.front()->type != OptionSpec::Flag || accepted(declared, next);
}

// A host program's own keys are none of ours, but those that it declared.
bool isOurs(const std::string& key) {
  return key.starts_with(kKeyStart) ||
         (looksLikeKey(key) && (ownsCommandLine() || !declarationsOf(key).empty()));
}

// Other ways to write -help, unless the program has such options.
std::string meantKey(const std::string& word) {
  const bool asksHelp = answersHelp() && (word == "-h" || word == "--help");
  return asksHelp && declarationsOf(word).empty() ? "-help" : word;
}

OptionReading readWords(const std::vector<std::string>& words, OptionSource source,
                        const std::string& place) {
  OptionReading reading;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string key = meantKey(words[i]);
    if (!isOurs(key)) {
      reading.rest.push_back(words[i]);
      continue;
    }
    const auto declared = knownDeclarations(key, place);
    std::optional<std::string> value;
    if (i + 1 < words.size() && takesNext(declared, words[i + 1]))
      value = words[++i];
    reading.values.push_back(checkedValue(key, value, source, place));
  }
  return reading;
}

} // namespace

OptionValue checkedValue(const std::string& key, const std::optional<std::string>& value,
                         OptionSource source, const std::string& place) {
  const auto declared = knownDeclarations(key, place);
  const OptionDeclaration& first = *declared.front();
  if (!value && first.type != OptionSpec::Flag && first.type != OptionSpec::Word)
    throw Error(TENON_ERR_OPTION, fmt::format("option '{}' ({}) has no value; expected {}", key,
                                              place, first.expected()));
  const std::string text = value.value_or(first.type == OptionSpec::Flag ? "true" : "");
  if (!accepted(declared, text))
    throw Error(TENON_ERR_OPTION, fmt::format("option '{}' has value '{}' ({}); expected {}", key,
                                              text, place, first.expected()));
  return {key, text, source, place};
}

OptionReading readCommandLine(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i)
    words.emplace_back(argv[i]);
  return readWords(words, OptionSource::CommandLine, "command line");
}

std::vector<OptionValue> readEnvironment(std::string_view text) {
  const std::string place = "environment TENON_OPTIONS";
  const auto reading = readWords(tokenize(text, place), OptionSource::Environment, place);
  if (!reading.rest.empty())
    throw Error(TENON_ERR_OPTION, fmt::format("'{}' in {} is not an option; expected -tenon_name "
                                              "and its value",
                                              reading.rest.front(), place));
  return reading.values;
}

std::vector<OptionValue> readFileText(std::string_view text, const std::string& path) {
  std::vector<OptionValue> values;
  const auto lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = fmt::format("file {}:{}", path, i + 1);
    const auto words = tokenize(lines[i], place);
    if (words.empty())
      continue;
    if (!looksLikeKey(words[0]) || words.size() > 2)
      throw Error(TENON_ERR_OPTION,
                  fmt::format("'{}' ({}) is not one option; expected a key and its value, quoted "
                              "if it has blanks",
                              joined(words, " "), place));
    std::optional<std::string> value;
    if (words.size() == 2)
      value = words[1];
    values.push_back(checkedValue(words[0], value, OptionSource::File, place));
    if (words[0] == "-tenon_options_file")
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("-tenon_options_file ({}) inside an options file; expected one file", place));
  }
  return values;
}

} // namespace tenon
