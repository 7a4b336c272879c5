// SPDX-License-Identifier: BSD-2-Clause
// Interpolation along a dimension at given places, as bicubic and antialiased resizing need it: a
// member of ModelBuilder, which appends operators to the canonical graph. The result is a product
// with a fixed matrix (along()), whose row i has the weights of the elements near places[i]:
//   element j has the weight k((j - place) s), with k the hat function (linear) or Keys' cubic
// The factor s is 1, or less than 1 to average over more elements, against aliasing. Elements
// beyond an end are the last one, or are left out.
//
// Example: the linear row for place 1.25 of 4 elements is 0, 0.75, 0.25, 0. The functions are
// members of ModelBuilder (model_builder.hpp).
#include "import/canonical/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon {

namespace {

using Interpolation = ModelBuilder::Interpolation;

// The weight of an element at this distance from the place.
double kernelOf(const Interpolation& how, double distance) {
  const double t = std::abs(distance), a = how.cubicFactor;
  if (!how.isCubic)
    return std::max(1 - t, 0.0);
  if (t <= 1)
    return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// The weights of n elements for one place; all are 0 for a place that is NaN.
std::vector<double> weightsAt(double place, Index n, const Interpolation& how) {
  std::vector<double> weights(static_cast<std::size_t>(n), 0);
  if (std::isnan(place))
    return weights;
  const double radius = (how.isCubic ? 2 : 1) / how.spread;
  double sum = 0;
  for (auto j = static_cast<Index>(std::floor(place - radius)) + 1;
       static_cast<double>(j) < place + radius; ++j) {
    const double weight = kernelOf(how, (static_cast<double>(j) - place) * how.spread);
    if (how.excludesOutside && (j < 0 || j >= n))
      continue;
    weights[static_cast<std::size_t>(std::clamp(j, Index(0), n - 1))] += weight;
    sum += weight;
  }
  // The sum is 1, up to rounding, unless elements were left out or the kernel was spread.
  if (how.excludesOutside || how.spread != 1)
    for (double& weight : weights)
      weight /= sum;
  return weights;
}

} // namespace

ModelBuilder::Value ModelBuilder::interpolated(Value x, int dim, const std::vector<double>& places,
                                               const Interpolation& how) {
  const int d = dimension(dim, x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], rows = static_cast<Index>(places.size());
  check(n >= 1, "it interpolates between no elements");
  constexpr double kMaxReach = 1e4; // bounds the elements that one place reads
  check(how.spread > 1 / kMaxReach, "a factor is out of range");
  std::vector<std::vector<double>> weights;
  if (!isTooLarge(x, rows, n))
    for (const double place : places) {
      check(!(std::abs(place) > 1e9), "a place is out of range");
      weights.push_back(weightsAt(place, n, how));
    }
  return along(x, d, rows, [&](Index i, Index j) {
    return weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  });
}

} // namespace tenon
