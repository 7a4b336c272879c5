// SPDX-License-Identifier: BSD-2-Clause
// What a distributed tensor is by the definition of a layout: its value, a dense array that every
// rank can compute, and the elements that a rank holds of it. All numbers are kept in double.
#pragma once

#include "tools/check/layout_spec.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::tools {

using Values = std::vector<double>;

// The kinds of numbers. Integers are small, Fractions are multiples of 1/64 in [-1, 1), and
// Positives in [1/2, 5/2): sums of few of these are exact in float32. Singles and Doubles are all
// numbers of a type in [-1, 1), whose sums depend on the order of the contributions.
enum class Numbers { Integers, Fractions, Positives, Singles, Doubles };

// Numbers that are a function of key and place.
struct Filling {
  std::uint64_t key;
  Numbers numbers;
  bool isPositive = false; // only their magnitudes

  double at(std::uint64_t place) const;
  Filling magnitudes() const { return {key, numbers, true}; }
};

// A valid tensor: copies are equal, all contributions are independent, and halos are filled by
// their modes.
Values fill(const LayoutSpec& spec, int position, const Filling& filling);
// The value of a tensor, from the elements that each position holds: copies count once,
// contributions are summed, and halos of values are left out.
Values valueOf(const LayoutSpec& spec, const std::function<Values(int position)>& cells);
Values valueOf(const LayoutSpec& spec, const Filling& filling);
// What a position holds of that value if nothing in the layout is a contribution.
Values heldOf(const LayoutSpec& spec, int position, const Values& value);
// The value without the elements that no part's box holds, where halos leave some out.
Values kept(const LayoutSpec& spec, Values value);

// The largest magnitude of the numbers, but at least 1.
double scaleOf(const Values& values);
// The first place where the two differ by more than the tolerance, " at (1,2): expected 3, got 4",
// or "" if there is none. NaN differs from everything.
std::string difference(const Values& got, const Values& expected, const Box& box, double tolerance);

} // namespace tenon::tools
