// SPDX-License-Identifier: BSD-2-Clause
// Layouts as JSON. Default values are omitted, and are determined by making layouts with fewer
// settings, so the rules of defaults are in Layout only. The text of a balanced layout is short for
// any number of processes.
#include "geometry/layout/layout_json.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Adds a list per dimension, which is empty if it is the default.
template <class List>
void addUnlessDefault(Json& json, const char* key, std::vector<List> lists,
                      const std::vector<List>& byDefault) {
  for (std::size_t d = 0; d < lists.size(); ++d)
    if (lists[d] == byDefault[d])
      lists[d].clear();
  if (std::ranges::any_of(lists, [](const List& list) { return !list.empty(); }))
    json[key] = lists;
}

} // namespace

Json jsonOf(const Layout& layout) {
  if (layout.hasHalos())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the layout {} has halos and cannot be saved", layout.describe()));
  const LayoutSpec& full = layout.spec();
  LayoutSpec reduced{.shape = full.shape, .grid = full.grid, .properties = full.properties};
  Json json = {{"properties", describe(full.properties)}};
  addUnlessDefault(json, "split_axes", full.splitAxes, Layout(reduced).spec().splitAxes);
  // Balanced cuts are nested in the order of the axes, so the order is set before them.
  reduced.splitAxes = full.splitAxes;
  addUnlessDefault(json, "cuts", full.cuts, Layout(reduced).spec().cuts);
  return json;
}

Layout layoutFrom(const JsonView& view, Shape shape, GridPtr grid) {
  LayoutSpec spec{.shape = std::move(shape), .grid = std::move(grid), .properties = {}};
  if (view.has("split_axes"))
    for (const JsonView& axes : view.at("split_axes").list())
      spec.splitAxes.push_back(axes.smallIntegers(0));
  if (view.has("cuts"))
    for (const JsonView& cuts : view.at("cuts").list())
      spec.cuts.push_back(cuts.integers(0));
  const JsonView properties = view.at("properties");
  try {
    spec.properties = parseProperties(properties.text());
    return Layout(std::move(spec));
  } catch (const Error& error) {
    // An error of this kind already has its place in the file.
    if (error.code() == TENON_ERR_FORMAT)
      throw;
    view.fail(error.text());
  }
}

} // namespace tenon
