// SPDX-License-Identifier: BSD-2-Clause
#include "weights/weights_map.hpp"

#include "sys/json_tree.hpp"
#include "weights/stored_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr const char* kFormat = "tenon-weights-map-1";

std::vector<int> parseAxes(const JsonView& list) {
  std::vector<int> axes;
  for (const JsonView& axis : list.list()) {
    if (axes.size() == kMostDimensions)
      list.fail(fmt::format("has more than {} dimensions", kMostDimensions));
    axes.push_back(static_cast<int>(std::min<Index>(axis.integer(0), kMostDimensions)));
  }
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != static_cast<int>(d))
      list.fail(fmt::format("must name each of the dimensions 0 to {} once", sorted.size() - 1));
  if (axes.empty())
    list.fail("is empty; name the dimensions, or leave it out");
  return axes;
}

} // namespace

WeightsMap parseWeightsMap(const std::string& text, const std::string& file) {
  const JsonNode tree = parseJson(text, file);
  const JsonView root(tree, file);
  root.allow({"format", "parameters", "unused"});
  if (root.at("format").text() != kFormat)
    root.at("format").fail(fmt::format("is another format; expected \"{}\"", kFormat));
  WeightsMap map;
  for (const auto& [to, value] : root.at("parameters").members()) {
    if (value.isText()) {
      map.rules.push_back({to, value.text()});
      continue;
    }
    value.allow({"name", "transpose"});
    map.rules.push_back(
        {to, value.at("name").text(),
         value.has("transpose") ? parseAxes(value.at("transpose")) : std::vector<int>()});
  }
  if (root.has("unused"))
    for (const JsonView& name : root.at("unused").list())
      map.unused.push_back(name.text());
  return map;
}

} // namespace tenon
