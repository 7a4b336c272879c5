// SPDX-License-Identifier: BSD-2-Clause
// What the tests and `tenon check` try of a type: settings that fit each other, and inputs that fit them,
// drawn from a random source.
#pragma once

#include "geometry/box.hpp"
#include "sys/random.hpp"
#include "sys/settings.hpp"

#include <initializer_list>

namespace tenon {

struct Example {
  std::vector<std::pair<const char*, SettingValue>> settings;
  std::vector<Shape> inputs;
  Shape target = {}; // of a loss
  Index classes = 0; // the target holds labels below this; 0: numbers
};

// Draws that are a function of the seed.
class ExampleDraw {
public:
  explicit ExampleDraw(std::uint64_t seed) : seed_(seed) {}

  Index between(Index low, Index high) {
    return low + static_cast<Index>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<Index>(choices.size()) - 1)];
  }
  // Of so many dimensions.
  Shape shape(int least, int most) {
    Shape shape(static_cast<std::size_t>(between(least, most)));
    for (Index& extent : shape)
      extent = between(1, 6);
    return shape;
  }

private:
  std::uint64_t next() { return bitsAt(seed_, streamOf("example"), count_++); }
  std::uint64_t seed_, count_ = 0;
};

} // namespace tenon
