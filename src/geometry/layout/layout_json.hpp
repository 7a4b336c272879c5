// SPDX-License-Identifier: BSD-2-Clause
// How a layout divides its tensor, as JSON, for files whose reader knows shape and process grid:
//
//   {"properties": "S2,S3", "split_axes": [[],[],[1],[0]], "cuts": [[],[],[0,5,12],[]]}
//
// An empty list stands for the default of its dimension, the order of the grid or balanced blocks,
// and a key is missing where all of its lists are empty.
#pragma once

#include "geometry/layout/layout.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"

namespace tenon {

// Throws TENON_ERR_SUPPORT for a layout with halos.
Json jsonOf(const Layout& layout);
// Reads these keys of an object, which may have others. Throws TENON_ERR_FORMAT naming the key and
// the byte where they are damaged, or do not fit the shape or the grid.
Layout layoutFrom(const JsonView& view, Shape shape, GridPtr grid);

} // namespace tenon
