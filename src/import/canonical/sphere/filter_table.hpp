// SPDX-License-Identifier: BSD-2-Clause
// Filters of discrete-continuous convolutions in model files. torch-harmonics stores such filters
// as lists of entries, of one longitude (kernels/sphere/turned_filter.hpp). The lists say which
// filters these are: they are compared with those of all grids, bases and normalisations that
// Tenon's layers have, at the cutoff that fits best.
#pragma once

#include "sys/types.hpp"

#include <array>
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
  std::string fineGrid = {}, coarseGrid = {}, basis = {}, normalisation = {};
  std::array<Index, 2> kernel = {};
  double cutoff = 0;     // 0: the layer's default
  double difference = 0; // the largest of any entry, relative to the largest value
};

struct FilterSearch {
  std::optional<FilterMatch> match;
  std::string why; // in what the lists differ from all filters, without a match
};

// Sorts the entries.
FilterSearch recognisedFilter(FilterTable& table);

} // namespace tenon
