// SPDX-License-Identifier: BSD-2-Clause
// Adapts a layout that a user gave once to another shape. The user sets the output layout of a
// layer for a batch of 8, split at 0, 3, 8, and the last batch has 5 samples: layoutLike() drops
// the split points of this dimension, which is then divided evenly. A halo in such a dimension is
// an error, since its boxes are indices of the old extent and have no meaning in the new one.
//
// withCutsOf() is for layouts of equal shape: it takes over the split points of another layout.
#include "declaration/core/result_layout.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

Layout layoutLike(const Layout& pattern, const Shape& shape, const std::string& who) {
  if (pattern.ndim() != static_cast<int>(shape.size()))
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
  for (int d = 0; d < std::min(other.ndim(), layout.ndim()); ++d)
    if (other.shape()[d] == layout.shape()[d] && other.splitAxes(d) == layout.splitAxes(d))
      spec.cuts[d] = other.cuts(d);
  return Layout(std::move(spec));
}

} // namespace tenon
