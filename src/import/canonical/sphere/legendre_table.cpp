// SPDX-License-Identifier: BSD-2-Clause
// Recognises tables of Legendre functions (legendre_table.hpp). There is a candidate for each grid,
// norm, sign and first row. Order 0 gives the factor of a candidate, as the least squares fit of
// the table by the candidate; sums over all of its elements make it more exact than the rounding of
// each. Then every order must equal the candidate's within the rounding of float32. A candidate is
// dropped at the first order that does not, so nearly all are dropped at order 0 or 1.
#include "import/canonical/sphere/legendre_table.hpp"

#include "kernels/sphere/recurrence.hpp"
#include "kernels/sphere/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace tenon {

namespace {

constexpr double kTableTolerance = 1e-6;      // relative to the largest element of the table
constexpr Index kMaxOfTable = Index(1) << 24; // elements that are read at once

struct TableCandidate {
  SphereGrid grid;
  LegendreTable table;
};

// The Legendre functions [degree, row] of one order, on one grid.
std::vector<double> functionsOf(const LegendreRecurrence& recurrence, Index m, Index degrees) {
  const Index rows = recurrence.nodes();
  std::vector<double> values(static_cast<std::size_t>(degrees * rows), 0),
      scratch(static_cast<std::size_t>(LegendreRecurrence::scratchOf(rows)));
  recurrence.sweep(m, 0, rows, degrees, scratch.data(), [&](Index l, const double* p) {
    std::copy_n(p, rows, values.begin() + l * rows);
  });
  return values;
}

class TableComparison {
public:
  TableComparison(Index orders, Index degrees, Index rows, bool isSynthesis)
      : degrees_(degrees), rows_(rows), isSynthesis_(isSynthesis) {
    std::vector<Index> all;
    for (Index m = 0; m < orders; ++m)
      all.push_back(m);
    for (const auto& [grid, name] :
         {std::pair(SphereGrid::Gauss, "gauss"), std::pair(SphereGrid::Poles, "poles"),
          std::pair(SphereGrid::Cells, "cells")}) {
      if (grid == SphereGrid::Poles && rows < 2)
        continue;
      const SphereRows at = sphereRows(grid, rows);
      grids_.push_back({grid, at.weight, LegendreRecurrence(at.colatitude, all)});
      for (const bool isSchmidt : {false, true})
        for (const bool southFirst : {false, true})
          for (const bool hasSign : {true, false})
            candidates_.push_back({grid, {name, isSchmidt, hasSign, southFirst, /*factor=*/0}});
    }
  }

  // Compares the functions of one order, `numbers` [degree, row].
  void add(Index m, const double* numbers) {
    for (const Grid& grid : grids_) {
      if (std::ranges::none_of(candidates_,
                               [&](const TableCandidate& c) { return c.grid == grid.name; }))
        continue;
      const std::vector<double> p = functionsOf(grid.recurrence, m, degrees_);
      std::erase_if(candidates_, [&](TableCandidate& c) {
        return c.grid == grid.name && !fits(c, grid, m, p, numbers);
      });
    }
  }
  bool isOpen() const { return !candidates_.empty(); }
  std::optional<LegendreTable> result() const {
    return candidates_.empty() ? std::nullopt : std::optional(candidates_.front().table);
  }

private:
  struct Grid {
    SphereGrid name;
    std::vector<double> weight;
    LegendreRecurrence recurrence;
  };

  // Whether the order equals that of the candidate, whose factor follows from order 0.
  bool fits(TableCandidate& candidate, const Grid& grid, Index m, const std::vector<double>& p,
            const double* numbers) {
    const std::vector<double> own = tableOf(candidate.table, grid, m, p);
    double product = 0, square = 0;
    for (std::size_t i = 0; m == 0 && i < own.size(); ++i) {
      product += own[i] * numbers[i];
      square += own[i] * own[i];
      largest_ = std::max(largest_, std::abs(numbers[i]));
    }
    if (m == 0)
      candidate.table.factor = product / square;
    for (std::size_t i = 0; i < own.size(); ++i) {
      largest_ = std::max(largest_, std::abs(numbers[i]));
      if (!(std::abs(numbers[i] - candidate.table.factor * own[i]) <= kTableTolerance * largest_))
        return false;
    }
    return candidate.table.factor != 0;
  }
  std::vector<double> tableOf(const LegendreTable& table, const Grid& grid, Index m,
                              const std::vector<double>& p) const {
    std::vector<double> values(p.size());
    for (Index l = m; l < degrees_; ++l) {
      const double norm =
          table.isSchmidt ? std::sqrt(4 * std::numbers::pi / double(2 * l + 1)) : 1.0;
      const double f = (table.hasSign && m % 2 != 0 ? -1 : 1) * (isSynthesis_ ? 1 / norm : norm);
      for (Index y = 0; y < rows_; ++y) {
        const Index node = table.southFirst ? rows_ - 1 - y : y;
        values[static_cast<std::size_t>(l * rows_ + y)] =
            f * p[static_cast<std::size_t>(l * rows_ + node)] *
            (isSynthesis_ ? 1 : grid.weight[static_cast<std::size_t>(node)]);
      }
    }
    return values;
  }

  Index degrees_, rows_;
  bool isSynthesis_;
  std::vector<Grid> grids_;
  std::vector<TableCandidate> candidates_;
  double largest_ = 0; // element of the table, in absolute value
};

} // namespace

std::optional<LegendreTable> recognisedTable(const ModelWeights& weights,
                                             const ModelConstant& table, bool isSynthesis) {
  const Index orders = table.shape()[0], degrees = table.shape()[1], rows = table.shape()[2],
              each = degrees * rows;
  if (orders < 1 || degrees < 1 || degrees > rows)
    return std::nullopt;
  // Functions of orders that no degree has are 0.
  TableComparison comparison(std::min(orders, degrees), degrees, rows, isSynthesis);
  const Index most = std::max(kMaxOfTable / each, Index(1));
  std::vector<double> numbers;
  for (Index first = 0; first < orders && comparison.isOpen(); first += most) {
    const Index end = std::min(first + most, orders);
    numbers.resize(static_cast<std::size_t>((end - first) * each));
    weights.read(table, {{first, end}, {0, degrees}, {0, rows}}, numbers.data());
    for (Index m = first; m < std::min(end, degrees); ++m)
      comparison.add(m, numbers.data() + (m - first) * each);
    const auto beyond = numbers.begin() + (std::clamp(degrees, first, end) - first) * each;
    if (std::any_of(beyond, numbers.end(), [](double number) { return number != 0; }))
      return std::nullopt;
  }
  return comparison.result();
}

} // namespace tenon
