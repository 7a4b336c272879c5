// SPDX-License-Identifier: BSD-2-Clause
// Filters of discrete-continuous convolutions on the sphere as a file has them: lists of the values
// of basis functions at points of a grid, of which the file gives the basis and the cutoff beside
// the graph. Their grids and normalisation are those, of the few that Tenon's layers have, with
// which all values are equal.
#pragma once

#include "import/model_program.hpp"
#include "sys/types.hpp"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

// The lists of a file: of each basis function at each row of the grid with fewer longitudes, the
// points of the other grid, row by row, with their values.
struct FilterTable {
  struct Place {
    std::int32_t row, function, point;
    auto operator<=>(const Place&) const = default;
  };
  struct Entry {
    Place place;
    double value;
  };
  Index functions, fineRows, fineColumns, coarseRows, coarseColumns;
  bool isTransposed; // maps from the coarse to the fine grid
  std::vector<Entry> entries;
};

// The same as values of the canonical graph, and the extents of the output.
struct ModelValue;
struct FilterLists {
  const ModelValue *functions, *rows, *points, *values;
  Index functionCount, outputRows, outputColumns;
  bool isTransposed;
};

// What the lists equal, by the names of the layer's settings.
struct FilterMatch {
  std::string fineGrid = {}, coarseGrid = {}, normalisation = {};
  double difference = 0; // the largest of any entry, relative to the largest value
};

struct FilterSearch {
  std::optional<FilterMatch> match;
  std::string why; // in what the lists differ from all filters, without a match
};

// Sorts the entries. Apart from that, the work is proportional to their number times that of basis
// functions, and to the squares of the numbers of rows, which are at most that of entries.
FilterSearch recognisedFilter(FilterTable& table, const ModelFilterBasis& basis);

} // namespace tenon
