// SPDX-License-Identifier: BSD-2-Clause
#include "sys/option_text.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tenon {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

template <class Number>
std::optional<Number> parseNumber(std::string_view text) {
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

// Reads one word from position on, quoted pieces included, and moves position past it.
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
    if (line[position] == '#')
      break;
    words.push_back(readWord(line, position, place));
  }
  return words;
}

} // namespace tenon
