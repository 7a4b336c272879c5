// SPDX-License-Identifier: BSD-2-Clause
// Tests lists of boundary modes for ranges of channels, such as "symmetric;3:7=odd;5:9=zero": for
// each channel the last list that names it applies. The modes that the library parses are compared
// with an array that is filled list by list.
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace tenon {
namespace {

constexpr Index kChannels = 24;

TEST(WindowBoundary, OfSeveralListsForAChannelTheLastCounts) {
  const std::vector<std::pair<std::string, Boundary>> modes = {
      {"zero", Boundary::Zero}, {"odd", Boundary::Odd}, {"replicate", Boundary::Replicate}};
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 engine(seed);
    const auto upTo = [&](Index n) { return std::uniform_int_distribution<Index>(0, n)(engine); };
    std::vector<Boundary> expected(kChannels, Boundary::Symmetric);
    std::string text = "symmetric";
    if (seed % 2 == 1) // a list for each
      for (Index c = 0; c < kChannels; ++c) {
        const auto& [name, mode] = modes[upTo(2)];
        text = c == 0 ? name : text + ";" + name;
        expected[c] = mode;
      }
    for (Index lists = upTo(12); lists > 0; --lists) {
      const Index begin = upTo(kChannels - 1), end = begin + 1 + upTo(kChannels - begin - 1);
      const auto& [name, mode] = modes[upTo(2)];
      text += fmt::format(";{}:{}={}", begin, end, name);
      std::fill(expected.begin() + begin, expected.begin() + end, mode);
    }
    const auto layer = makeDeclaration("averagepooling");
    layer->set("kernel", std::vector<Index>{3});
    layer->set("boundary", text);
    const Window window = dynamic_cast<const Windowed&>(*layer).windows().front();
    for (Index c = 0; c < kChannels; ++c) {
      const auto band =
          std::ranges::find_if(window.bands, [&](const ModeBand& b) { return c < b.end; });
      const Boundary found = band == window.bands.end() ? window.lowMode : band->low;
      ASSERT_EQ(found, expected[c]) << text << ", channel " << c;
    }
  }
}

} // namespace
} // namespace tenon
