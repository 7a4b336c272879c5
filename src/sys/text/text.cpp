// SPDX-License-Identifier: BSD-2-Clause
// Functions on words. Lower case is that of ASCII, since options, settings and types are named with
// it, and the locale of the program must not change the meaning of a name.
#include "sys/text/text.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tenon {

int editDistance(std::string_view a, std::string_view b) {
  // Dynamic programming over prefixes with one row of the table: row[j] is the distance between the
  // first i characters of a and the first j of b.
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  const auto best = std::min_element(words.begin(), words.end(), [&](const auto& a, const auto& b) {
    return editDistance(word, a) < editDistance(word, b);
  });
  return best == words.end() ? "" : *best;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) {
    if (&word != &words.front())
      text += separator;
    text += word;
  }
  return text;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string counted(Index count, std::string_view noun, std::string_view plural) {
  if (count == 1)
    return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", count, noun) : fmt::format("{} {}", count, plural);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (text.empty())
    return pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void refuseSize(const char* what, Index a, const char* sign, Index b) {
  throw Error(TENON_ERR_SHAPE,
              fmt::format("{} is {} {} {}, which no 64-bit integer holds", what, a, sign, b));
}

} // namespace tenon
