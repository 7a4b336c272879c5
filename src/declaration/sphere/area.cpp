// SPDX-License-Identifier: BSD-2-Clause
// Finds the rows of a field on a globe and their weights (area.hpp). Each rank computes the weights
// of all rows at set-up, since they are few, and its kernels have those of its block.
#include "declaration/sphere/area.hpp"

#include "kernels/sphere/rows.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

std::optional<AreaRows> areaRows(const Declaration& type, const Shape& x) {
  const std::string grid = type.value<std::string>("area");
  if (grid == "none")
    return std::nullopt;
  const Index dim = type.value<Index>("area_dim"), rank = static_cast<Index>(x.size());
  if (dim >= rank || rank < 2)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} weights elements by their area on the sphere, with latitudes in "
                            "dimension {}, but its input has shape [{}]; set area_dim",
                            type.title(), dim, fmt::join(x, ",")));
  AreaRows rows{static_cast<int>(dim), x[dim + 1 < rank ? dim + 1 : dim - 1], {}};
  try {
    rows.share = sphereRows(sphereGridNamed(grid), x[dim]).weight;
  } catch (const Error& error) { // a grid does not know its layer: add the name
    throw Error(error.code(), fmt::format("{}: {}", type.title(), error.text()), error.where());
  }
  for (double& share : rows.share)
    share /= 2;
  return rows;
}

} // namespace tenon
