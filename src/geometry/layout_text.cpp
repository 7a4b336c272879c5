// SPDX-License-Identifier: BSD-2-Clause
// Layouts as text: the shorthand "S0,B,R" and the description in messages and views.
#include "geometry/cuts.hpp"
#include "geometry/layout.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace tenon {

namespace {

Property parseProperty(std::string_view word, std::string_view text) {
  if (word == "B")
    return Property::broadcast();
  if (word == "P")
    return Property::partial();
  if (word == "R")
    return Property::root();
  int dim = -1;
  if (word.size() > 1 && word[0] == 'S') {
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), dim);
    if (error == std::errc() && end == word.data() + word.size() && dim >= 0)
      return Property::shard(dim);
  }
  throw Error(
      TENON_ERR_LAYOUT,
      fmt::format(
          "'{}' in '{}' is no property; expected S0, S1, ... (sharded along a dimension), B "
          "(broadcast), P (partial) or R (root), one for each mesh axis, with commas between",
          word, text));
}

std::string describeMargin(const Margin& margin) {
  std::string text = margin.addends ? "G*{" : "G{";
  for (std::size_t i = 0; i < margin.boxes.size(); ++i)
    text += fmt::format("{}{}:{}", i ? "," : "", margin.boxes[i].begin, margin.boxes[i].end);
  return text + fmt::format("}} {}/{}", boundaryName(margin.low), boundaryName(margin.high));
}

} // namespace

std::string Property::describe() const {
  switch (kind) {
  case PropertyKind::Shard:
    return fmt::format("S{}", dim);
  case PropertyKind::Broadcast:
    return "B";
  case PropertyKind::Partial:
    return "P";
  case PropertyKind::Root:
    return "R";
  }
  return "?";
}

Properties parseProperties(std::string_view text) {
  Properties properties;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    while (!word.empty() && word.front() == ' ')
      word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ')
      word.remove_suffix(1);
    properties.push_back(parseProperty(word, text));
    begin = end + 1;
  }
  return properties;
}

std::string describe(const Properties& properties) {
  std::string text;
  for (const Property& p : properties) {
    if (!text.empty())
      text += ',';
    text += p.describe();
  }
  return text;
}

std::string Layout::describe() const {
  std::string text = fmt::format("[{}] on mesh {} as {}", fmt::join(shape(), ","),
                                 mesh().describe(), tenon::describe(properties()));
  for (int d = 0; d < rank(); ++d) {
    std::vector<int> extents;
    for (int axis : splitAxes(d))
      extents.push_back(mesh().extent(axis));
    if (!std::is_sorted(splitAxes(d).begin(), splitAxes(d).end()))
      text += fmt::format(", dimension {} split by axes [{}]", d, fmt::join(splitAxes(d), ","));
    if (cuts(d) != nestedCuts(shape()[d], extents))
      text += fmt::format(", dimension {} cut at [{}]", d, fmt::join(cuts(d), ","));
    if (const auto& given = margin(d))
      text += fmt::format(", dimension {} {}", d, describeMargin(*given));
  }
  return text;
}

} // namespace tenon
