// SPDX-License-Identifier: BSD-2-Clause
// Layouts as text: the shorthand "S0,B,R", and the texts of messages and views. describe() includes
// all that is not the default, since ranks agree on layouts by comparing that text; summary() is
// for readers, and has only the width and the modes of a halo. The functions are declared in
// layout.hpp.
#include "geometry/layout/cuts.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

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
      fmt::format("unknown property '{}' in \"{}\"; use S<dim> (sharded), B (replicated), P "
                  "(partial sum) or R (root only), one per grid axis, separated by commas",
                  word, text));
}

// The largest distance between the boxes of a halo and the owned parts, on each side.
struct HaloWidth {
  Index low, high;
};

HaloWidth widthOf(const Layout& layout, int dim) {
  constexpr Index kNone = std::numeric_limits<Index>::min();
  HaloWidth width{kNone, kNone};
  for (int part = 0; part < layout.parts(dim); ++part) {
    const Interval owned = layout.owned(dim, part), box = layout.box(dim, part);
    // An empty part, or one with an empty box, has no width.
    if (owned.empty() || box.empty())
      continue;
    width.low = std::max(width.low, owned.begin - box.begin);
    width.high = std::max(width.high, box.end - owned.end);
  }
  return width.low == kNone ? HaloWidth{0, 0} : width;
}

// True if every box is the owned part extended by this width, clipped to the domain on sides
// without a mode.
bool isEven(const Layout& layout, int dim, const HaloWidth& width) {
  const Halo& halo = *layout.halo(dim);
  for (int part = 0; part < layout.parts(dim); ++part) {
    const Interval owned = layout.owned(dim, part);
    Interval box{owned.begin - width.low, owned.end + width.high};
    if (halo.low == Boundary::None)
      box.begin = std::max<Index>(box.begin, 0);
    if (halo.high == Boundary::None)
      box.end = std::min(box.end, layout.shape()[dim]);
    if (!(box == layout.box(dim, part)))
      return false;
  }
  return true;
}

// "1", or "1 + 2" if the sides differ.
std::string widthText(const HaloWidth& width) {
  return width.low == width.high ? fmt::format("{}", width.low)
                                 : fmt::format("{} + {}", width.low, width.high);
}

std::string modesText(Boundary low, Boundary high) {
  return low == high ? boundaryName(low)
                     : fmt::format("{}/{}", boundaryName(low), boundaryName(high));
}

// " (periodic)", " (zero/none)", or, with modes by channel, " (odd; symmetric from channel 2 on)",
// or with poles " (pole, longitudes in dim 3)"; "" if both sides are "none".
std::string modesText(const Halo& halo) {
  const std::string longitudes =
      halo.hasPole() ? fmt::format(", longitudes in dim {}", halo.longitudes) : "";
  if (halo.bands.empty())
    return halo.low == Boundary::None && halo.high == Boundary::None
               ? ""
               : fmt::format(" ({}{})", modesText(halo.low, halo.high), longitudes);
  std::string text;
  Index begin = 0;
  for (const ModeBand& band : halo.bands) {
    text += fmt::format("{}{}{}", begin == 0 ? "" : "; ", modesText(band.low, band.high),
                        begin == 0 ? "" : fmt::format(" from channel {} on", begin));
    begin = band.end;
  }
  return fmt::format(" ({}{})", text, longitudes);
}

// "halo of 1 in dim 2 (periodic)", or with the boxes of all parts: "halo in dim 2: [0,9),[7,16)".
std::string haloText(const Layout& layout, int dim) {
  const Halo& halo = *layout.halo(dim);
  const char* noun = halo.isPartial ? "adjoint halo" : "halo";
  const HaloWidth width = widthOf(layout, dim);
  if (isEven(layout, dim, width))
    return fmt::format("{} of {} in dim {}{}", noun, widthText(width), dim, modesText(halo));
  std::string boxes;
  for (const Interval& box : halo.boxes)
    boxes += fmt::format("{}[{},{})", boxes.empty() ? "" : ",", box.begin, box.end);
  return fmt::format("{} in dim {}{}: {}", noun, dim, modesText(halo), boxes);
}

std::string shapeAndProperties(const Layout& layout) {
  return fmt::format("[{}]{}{}", fmt::join(layout.shape(), ","),
                     layout.properties().empty() ? "" : " ", describe(layout.properties()));
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
  std::string text = shapeAndProperties(*this) + " on process grid " + grid().describe();
  for (int d = 0; d < ndim(); ++d) {
    std::vector<int> extents;
    for (int axis : splitAxes(d))
      extents.push_back(grid().extent(axis));
    if (!std::is_sorted(splitAxes(d).begin(), splitAxes(d).end()))
      text += fmt::format("; dim {} split by grid axes {}", d, fmt::join(splitAxes(d), ","));
    if (cuts(d) != nestedCuts(shape()[d], extents))
      text += fmt::format("; dim {} split at {}", d, fmt::join(cuts(d), ","));
    if (halo(d))
      text += "; " + haloText(*this, d);
  }
  return text;
}

std::string Layout::summary(const Grid& named) const {
  std::string text = shapeAndProperties(*this);
  if (!(grid() == named))
    text += " on process grid " + grid().describe();
  for (int d = 0; d < ndim(); ++d) {
    const HaloWidth width = halo(d) ? widthOf(*this, d) : HaloWidth{0, 0};
    if (width.low != 0 || width.high != 0)
      text += fmt::format(" + {} of {}{} in dim {}{}", halo(d)->isPartial ? "adjoint halo" : "halo",
                          isEven(*this, d, width) ? "" : "up to ", widthText(width), d,
                          modesText(*halo(d)));
  }
  return text;
}

} // namespace tenon
