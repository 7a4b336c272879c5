// SPDX-License-Identifier: BSD-2-Clause
// Determines which words of a source are keys and which are values. This requires the declarations:
// the word after a flag is its value only if it reads as a truth value, and words for the host
// program must be passed through unchanged.
#include "sys/options/option_text.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

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
                     [&](const auto* declaration) { return declaration->accepts(value); });
}

// Whether the word after a key is its value. After a flag only if it reads as a truth value:
// otherwise it can be a word for the host program.
bool takesNext(const Declarations& declared, std::string_view next) {
  if (looksLikeKey(next))
    return false;
  return declared.front()->type != OptionSpec::Flag || accepted(declared, next);
}

// Whether Tenon reads this key. Other keys are left to the host program, except declared ones.
bool isReadByTenon(const std::string& key) {
  return key.starts_with(kKeyStart) ||
         (looksLikeKey(key) && (ownsCommandLine() || !declarationsOf(key).empty()));
}

// The key that a word stands for: -h and --help are equivalent to -help, unless the program has
// declared such options.
std::string canonicalKey(const std::string& word) {
  const bool asksHelp = answersHelp() && (word == "-h" || word == "--help");
  return asksHelp && declarationsOf(word).empty() ? "-help" : word;
}

OptionReading readWords(const std::vector<std::string>& words, OptionSource source,
                        const std::string& place) {
  OptionReading reading;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string key = canonicalKey(words[i]);
    if (!isReadByTenon(key)) {
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

// Words and numbers.

constexpr std::string_view kBlanks = " \t\r\n";

template <class Number>
std::optional<Number> parseNumber(std::string_view text) {
  // from_chars() rejects a plus sign, which users write.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

bool isBlank(char c) {
  return kBlanks.find(c) != kBlanks.npos;
}

// Reads one word, including quoted pieces, from `position` on, and advances position past it.
std::string readWord(std::string_view line, std::size_t& position, std::string_view place) {
  std::string word;
  while (position < line.size() && !isBlank(line[position])) {
    const char c = line[position++];
    if (c != '"' && c != '\'') {
      word += c;
      continue;
    }
    const auto end = line.find(c, position);
    if (end == line.npos)
      throw Error(TENON_ERR_OPTION,
                  fmt::format("{}: the quote {} in '{}' is not closed; close it", place, c, line));
    word += line.substr(position, end - position);
    position = end + 1;
  }
  return word;
}

} // namespace

OptionValue checkedValue(const std::string& key, const std::optional<std::string>& value,
                         OptionSource source, const std::string& place) {
  const auto declared = knownDeclarations(key, place);
  const OptionDeclaration& first = *declared.front();
  if (!value && first.type != OptionSpec::Flag && first.type != OptionSpec::Word)
    throw Error(TENON_ERR_OPTION, fmt::format("option '{}' ({}) has no value; expected {}", key,
                                              place, first.expected()));
  // A flag without a value is true, and a word without a value is empty.
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
    // At most one options file: two could set an option to different values.
    if (words[0] == "-tenon_options_file")
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("-tenon_options_file ({}) inside an options file; expected one file", place));
  }
  return values;
}

std::optional<bool> parseFlag(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kTrue{"true", "1", "yes", "on"};
  static constexpr std::array<std::string_view, 4> kFalse{"false", "0", "no", "off"};
  const std::string word = lowered(text);
  for (std::size_t i = 0; i < kTrue.size(); ++i) {
    if (word == kTrue[i])
      return true;
    if (word == kFalse[i])
      return false;
  }
  return std::nullopt;
}

std::optional<Index> parseInt(std::string_view text) {
  return parseNumber<Index>(text);
}

std::optional<std::vector<Index>> parseInts(std::string_view text) {
  std::vector<Index> numbers;
  for (const std::string& word : split(text, ',')) {
    const auto number = parseInt(word);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers.empty() ? std::nullopt : std::optional(std::move(numbers));
}

std::optional<double> parseReal(std::string_view text) {
  const auto number = parseNumber<double>(text);
  return number && !std::isnan(*number) ? number : std::nullopt;
}

bool looksLikeKey(std::string_view token) {
  return token.size() > 1 && token[0] == '-' && !parseReal(token);
}

std::vector<std::string> tokenize(std::string_view line, std::string_view place) {
  std::vector<std::string> words;
  for (std::size_t position = 0; position < line.size();) {
    if (isBlank(line[position])) {
      ++position;
      continue;
    }
    // Only at the beginning of a word, since a path can contain the character.
    if (line[position] == '#')
      break;
    words.push_back(readWord(line, position, place));
  }
  return words;
}

} // namespace tenon
