// SPDX-License-Identifier: BSD-2-Clause
// Enumerates the parallelism matrices of a system and a job's axes (placement.hpp), entry by entry.
// For the system [2, 4] and the axes [4, 2], the first row must be two factors with the product 4,
// of which the first divides 2 and the second divides 4: (1, 4) or (2, 2). The second row is what
// remains of the levels: (2, 1) or (1, 2). A factor is tried only if the rest of its axis fits the
// remaining levels; then each partial matrix can be completed, so the search has no dead ends.
#include "placement/placement_list.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <limits>
#include <numeric>

namespace tenon {

namespace {

// More than anyone reads. The number grows exponentially with the levels and axes, so a larger
// request could fill the memory.
constexpr std::size_t kMaxPlacements = 100'000;

// Returns all divisors, in ascending order.
std::vector<Index> divisors(Index number) {
  std::vector<Index> low, high;
  for (Index d = 1; d * d <= number; ++d)
    if (number % d == 0) {
      low.push_back(d);
      if (d * d < number)
        high.push_back(number / d);
    }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

class Enumeration {
public:
  Enumeration(const std::vector<Index>& system, const std::vector<Index>& axes)
      : axes_(axes), open_(system), matrix_(axes.size(), std::vector<Index>(system.size(), 1)) {}

  std::vector<Placement> run() {
    fill(0, 0, axes_[0]);
    return std::move(placements_);
  }

private:
  // Tries all factors for the entry [axis][level] and the entries after it. `rest` is the part of
  // the axis that is not divided yet.
  void fill(std::size_t axis, std::size_t level, Index rest) {
    if (level == open_.size()) {
      if (axis + 1 == axes_.size())
        keep();
      else
        fill(axis + 1, 0, axes_[axis + 1]);
      return;
    }
    const Index right =
        std::accumulate(open_.begin() + level + 1, open_.end(), Index(1), std::multiplies<>());
    for (Index factor : divisors(std::gcd(rest, open_[level]))) {
      if (right % (rest / factor) != 0)
        continue;
      matrix_[axis][level] = factor;
      open_[level] /= factor;
      fill(axis, level + 1, rest / factor);
      open_[level] *= factor;
    }
  }

  // Stores the complete matrix.
  void keep() {
    if (placements_.size() == kMaxPlacements)
      throw Error(TENON_ERR_ARG,
                  fmt::format("there are more than {} placements; use fewer levels or axes",
                              kMaxPlacements));
    placements_.emplace_back(matrix_);
  }

  std::vector<Index> axes_, open_; // open_[level]: the factor that is left for the remaining rows
  std::vector<std::vector<Index>> matrix_;
  std::vector<Placement> placements_;
};

Index checkedProduct(const std::vector<Index>& sizes, const char* what) {
  if (sizes.empty())
    throw Error(TENON_ERR_ARG, fmt::format("no {} are given; pass at least 1 size", what));
  Index product = 1;
  for (Index size : sizes) {
    if (size < 1)
      throw Error(TENON_ERR_ARG, fmt::format("the {} [{}] include a size of {}; sizes must be >= 1",
                                             what, fmt::join(sizes, ","), size));
    if (size > std::numeric_limits<int>::max() / product)
      throw Error(TENON_ERR_ARG, fmt::format("the {} [{}] have more devices than an int can count",
                                             what, fmt::join(sizes, ",")));
    product *= size;
  }
  return product;
}

} // namespace

std::vector<Placement> placementsOf(const std::vector<Index>& system,
                                    const std::vector<Index>& axes) {
  const Index devices = checkedProduct(system, "levels of the system");
  const Index processes = checkedProduct(axes, "parallelism axes");
  if (devices != processes)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("no placement exists: the axes [{}] have {} processes, but the system "
                            "[{}] has {} devices; choose axes whose product is {}",
                            fmt::join(axes, ","), processes, fmt::join(system, ","), devices,
                            devices));
  return Enumeration(system, axes).run();
}

} // namespace tenon
