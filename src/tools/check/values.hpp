// SPDX-License-Identifier: BSD-2-Clause
// A reference model of distributed tensors, by the definition of a layout. The "value" of a tensor
// is the whole dense array that it represents: a conversion changes who holds which elements, never
// the value. From a key, every rank computes the value and the elements that each position of the
// process grid must hold, without messages. All numbers are stored as double.
// Example: [6] as partial sums on 2 positions holds 2 and 4; as copies it holds 6 and 6.
#pragma once

#include "tools/check/layout_spec.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::tools {

inline bool isInteger(TenonDataType type) {
  return type == TENON_INT32 || type == TENON_INT64;
}

using Values = std::vector<double>;

// The kinds of numbers. Integers are small; Fractions are multiples of 1/64 in [-1, 1), and
// Positives in [1/2, 5/2): short sums of them are exact in float32. Singles and Doubles are random
// float32 and float64 numbers in [-1, 1), whose sums depend on the order of the terms.
enum class Numbers { Integers, Fractions, Positives, Singles, Doubles };

// Numbers that are a function of key and position.
struct Filling {
  std::uint64_t key;
  Numbers numbers;
  bool isPositive = false; // replaces numbers by their magnitudes

  // The number at a position, which is a linear index.
  double at(std::uint64_t position) const;
  Filling magnitudes() const { return {key, numbers, true}; }
};

// Draws the elements that a position holds of a valid tensor: replicas are equal, partial sums
// differ from position to position, and halos follow their boundary modes.
Values fill(const LayoutSpec& spec, int position, const Filling& filling);
// The value of a tensor, from the elements of each position: copies count once, contributions are
// summed, and halos of values are ignored.
Values valueOf(const LayoutSpec& spec, const std::function<Values(int position)>& cells);
Values valueOf(const LayoutSpec& spec, const Filling& filling);
// Distributes a dense tensor: the elements that a position holds. The layout must have no partial
// sums.
Values heldOf(const LayoutSpec& spec, int position, const Values& value);
// The value after a conversion to this layout and back. The halo boxes of a layout may be smaller
// than its owned blocks; elements outside of them are lost, that is 0.
Values afterRoundTrip(const LayoutSpec& spec, Values value);

// The largest magnitude of the numbers, but at least 1.
double scaleOf(const Values& values);
// The first element that differs by more than the tolerance, as " at (1,2): expected 3, got 4", or
// "" if there is none. NaN differs from every number.
std::string difference(const Values& got, const Values& expected, const Box& box, double tolerance);

} // namespace tenon::tools
