// SPDX-License-Identifier: BSD-2-Clause
#include "layer/result_layout.hpp"

#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

Layout layoutLike(const Layout& pattern, const Shape& shape, const std::string& who) {
  if (pattern.rank() != static_cast<int>(shape.size()))
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} gives [{}], but its output layout was set to {}, which has another "
                            "number of dimensions",
                            who, fmt::join(shape, ","), pattern.describe()));
  LayoutSpec spec = pattern.spec();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == pattern.shape()[d])
      continue;
    if (pattern.margin(static_cast<int>(d)))
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("dimension {} of the output of {} has extent {}, but the margin of "
                              "{} is for {}",
                              d, who, shape[d], pattern.describe(), pattern.shape()[d]));
    spec.cuts[d].clear();
  }
  spec.shape = shape;
  return Layout(std::move(spec));
}

} // namespace tenon
