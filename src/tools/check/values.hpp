// SPDX-License-Identifier: BSD-2-Clause
// What a distributed tensor is, by the definition of a layout: its value, a dense array that every
// rank can compute, and the cells that a rank holds of it. All numbers are kept in double.
#pragma once

#include "tools/check/layout_spec.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::tools {

using Values = std::vector<double>;

// Small integers, or multiples of 1/64 in [-1, 1): sums of few of either are exact in float32. Or all
// numbers of a type in [-1, 1), whose sums depend on the order of the addends.
enum class Numbers { Integers, Fractions, Singles, Doubles };

// Numbers that are a function of key and place.
struct Filling {
  std::uint64_t key;
  Numbers numbers;
  bool isPositive = false; // their magnitudes

  double at(std::uint64_t place) const;
  Filling magnitudes() const { return {key, numbers, true}; }
};

// A valid tensor: equal on copies, independent in all addends, halos filled by their modes.
Values fill(const LayoutSpec& spec, int position, const Filling& filling);
// Of the cells that each position holds, the tensor's value: what is copied counts once, addends are
// summed, halos of values are left out.
Values valueOf(const LayoutSpec& spec, const std::function<Values(int position)>& cells);
Values valueOf(const LayoutSpec& spec, const Filling& filling);
// What a position holds of that value if nothing in the layout is an addend.
Values heldOf(const LayoutSpec& spec, int position, const Values& value);
// The value without what no part's box holds, where halos leave cells out.
Values kept(const LayoutSpec& spec, Values value);

// The largest of the numbers, or 1.
double scaleOf(const Values& values);
// The first place where the two differ by more than that: " at (1,2): expected 3, got 4"; "" if there
// is none. What is no number differs from everything.
std::string difference(const Values& got, const Values& expected, const Box& box, double tolerance);

} // namespace tenon::tools
