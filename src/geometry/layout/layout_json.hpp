// SPDX-License-Identifier: BSD-2-Clause
// JSON of how a layout divides its tensor, for files whose reader has the shape and the process
// grid:
//
//   {"properties": "S2,S3", "split_axes": [[],[],[1],[0]], "cuts": [[],[],[0,5,12],[]]}
//
// An empty list means the default of its dimension (the order of the grid, balanced blocks). A key
// whose lists are all empty is omitted.
#pragma once

#include "geometry/layout/layout.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/json_tree.hpp"

namespace tenon {

// Throws TENON_ERR_SUPPORT for a layout with halos.
Json jsonOf(const Layout& layout);
// Reads these keys of an object, which can have other keys too. Throws TENON_ERR_FORMAT with the
// key and the byte if they are damaged, or are inconsistent with the shape or the grid.
Layout layoutFrom(const JsonView& view, Shape shape, GridPtr grid);

} // namespace tenon
