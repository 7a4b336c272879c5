// SPDX-License-Identifier: BSD-2-Clause
// Writes what a layout says beyond its shape and grid, and makes the layout again. What is the
// default is found by making layouts with less given, so that the rules of the default stand in
// Layout alone; a balanced layout has a short text on any number of processes.
#include "geometry/layout/layout_json.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

// Adds a list for each dimension, which is empty where it is that of the default.
template <class List>
void addUnlessDefault(Json& json, const char* key, std::vector<List> given,
                      const std::vector<List>& byDefault) {
  for (std::size_t d = 0; d < given.size(); ++d)
    if (given[d] == byDefault[d])
      given[d].clear();
  if (std::ranges::any_of(given, [](const List& list) { return !list.empty(); }))
    json[key] = given;
}

} // namespace

Json jsonOf(const Layout& layout) {
  if (layout.hasHalos())
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("the layout {} has halos and cannot be saved", layout.describe()));
  const LayoutSpec& all = layout.spec();
  LayoutSpec less{.shape = all.shape, .grid = all.grid, .properties = all.properties};
  Json json = {{"properties", describe(all.properties)}};
  addUnlessDefault(json, "split_axes", all.splitAxes, Layout(less).spec().splitAxes);
  // Balanced cuts are nested in the order of the axes, so the order comes before them.
  less.splitAxes = all.splitAxes;
  addUnlessDefault(json, "cuts", all.cuts, Layout(less).spec().cuts);
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
    // An error of this kind names its place in the file already.
    if (error.code() == TENON_ERR_FORMAT)
      throw;
    view.fail(error.text());
  }
}

} // namespace tenon
