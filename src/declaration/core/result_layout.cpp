// SPDX-License-Identifier: BSD-2-Clause
// Adapts a layout that a user gave once to another shape, for example of a smaller last batch. In
// dimensions of another extent the split points are dropped, but a halo is an error, since its
// boxes are indices of the old extent and have no meaning in the new one.
#include "declaration/core/result_layout.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

Layout layoutLike(const Layout& pattern, const Shape& shape, const std::string& who) {
  if (pattern.rank() != static_cast<int>(shape.size()))
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the output of {} has shape [{}], but its output layout was set to {}, "
                            "which has a different number of dimensions",
                            who, fmt::join(shape, ","), pattern.describe()));
  LayoutSpec spec = pattern.spec();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == pattern.shape()[d])
      continue;
    if (pattern.halo(static_cast<int>(d)))
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the output of {1} has extent {2} in dimension {0}, but the halo of "
                              "{3} is for extent {4}",
                              d, who, shape[d], pattern.describe(), pattern.shape()[d]));
    spec.cuts[d].clear();
  }
  spec.shape = shape;
  return Layout(std::move(spec));
}

Layout withCutsOf(const Layout& other, const Layout& layout) {
  if (!(other.grid() == layout.grid()))
    return layout;
  LayoutSpec spec = layout.spec();
  for (int d = 0; d < std::min(other.rank(), layout.rank()); ++d)
    if (other.shape()[d] == layout.shape()[d] && other.splitAxes(d) == layout.splitAxes(d))
      spec.cuts[d] = other.cuts(d);
  return Layout(std::move(spec));
}

} // namespace tenon
