// SPDX-License-Identifier: BSD-2-Clause
// The recurrence of associated Legendre functions with an exponent for each value (definitions in
// recurrence.hpp). The recurrence in l is stable, since it proceeds from small values to large
// ones. P_mm of the orders in the list is stored, which takes one pass over all orders.
#include "kernels/sphere/recurrence.hpp"

#include "kernels/base/instruction_set.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tenon {

namespace {

constexpr double kFactor = 0x1p460; // that is taken out of small values, once or more

} // namespace

LegendreRecurrence::LegendreRecurrence(const std::vector<double>& colatitudes,
                                       std::vector<Index> orders, Values values)
    : orders_(std::move(orders)) {
  constexpr double kEquator = std::numbers::pi / 2;
  for (const double t : colatitudes) {
    cosine_.push_back(t == kEquator ? 0 : std::cos(t)); // P_lm of odd l - m are exactly 0 there
    sine_.push_back(std::sin(t));
  }
  const std::size_t nodes = cosine_.size();
  first_.resize(orders_.size() * nodes);
  factors_.resize(orders_.size() * nodes);
  std::vector<double> value(nodes, std::sqrt(0.25 / std::numbers::pi)), factors(nodes, 0);
  const Index last = orders_.empty() ? -1 : *std::ranges::max_element(orders_);
  for (Index m = 0; m <= last; ++m) {
    const double growth = m == 0 ? 1 : std::sqrt(double(2 * m + 1) / double(2 * m));
    for (std::size_t j = 0; m > 0 && j < nodes; ++j) {
      value[j] *= growth * (m == 1 && values == Values::OverSine ? 1 : sine_[j]);
      if (value[j] > 0 && value[j] < 1 / kFactor) {
        value[j] *= kFactor;
        ++factors[j];
      }
    }
    for (std::size_t place = 0; place < orders_.size(); ++place)
      if (orders_[place] == m) {
        std::ranges::copy(value, first_.begin() + std::ptrdiff_t(place * nodes));
        std::ranges::copy(factors, factors_.begin() + std::ptrdiff_t(place * nodes));
      }
  }
}

LegendreRecurrence::Columns LegendreRecurrence::start(Index place, Index first, Index count,
                                                      double* scratch) const {
  Columns columns{.cosine = cosine_.data() + first,
                  .before = scratch,
                  .now = scratch + count,
                  .factors = scratch + 2 * count,
                  .value = scratch + 3 * count,
                  .count = count,
                  .settled = count};
  const Index at = place * nodes() + first;
  std::fill_n(columns.before, count, 0);
  std::copy_n(first_.data() + at, count, columns.now);
  std::copy_n(factors_.data() + at, count, columns.factors);
  std::copy_n(columns.now, count, columns.value);
  settle(columns);
  return columns;
}

void LegendreRecurrence::advance(Index m, Index l, Columns& columns) {
  const double ll = double(l) * double(l), mm = double(m) * double(m), below = double(l - 1);
  const double a = std::sqrt((4 * ll - 1) / (ll - mm)),
               b = std::sqrt(double(2 * l + 1) * (below * below - mm) /
                             (std::max<double>(double(2 * l - 3), 1) * (ll - mm)));
  vectorised([a, b, cosine = columns.cosine, before = columns.before, now = columns.now,
              value = columns.value, count = columns.count] {
    for (Index j = 0; j < count; ++j) {
      const double next = a * cosine[j] * now[j] - b * before[j];
      before[j] = now[j];
      now[j] = next;
      value[j] = next;
    }
  });
  for (Index j = 0; j < columns.settled; ++j)
    if (columns.factors[j] > 0 && std::abs(columns.now[j]) > 1) {
      columns.before[j] /= kFactor;
      columns.now[j] /= kFactor;
      columns.value[j] = columns.now[j];
      --columns.factors[j];
    }
  settle(columns);
}

// Sets the values that still have a factor to 0, and finds those that have none.
void LegendreRecurrence::settle(Columns& columns) {
  while (columns.settled > 0 && columns.factors[columns.settled - 1] == 0)
    --columns.settled;
  for (Index j = 0; j < columns.settled; ++j)
    if (columns.factors[j] > 0)
      columns.value[j] = 0;
}

} // namespace tenon
