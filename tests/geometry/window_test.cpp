// SPDX-License-Identifier: BSD-2-Clause
// Tests the arithmetic of sliding windows: numbers of outputs against values by hand and the rule
// of PyTorch, inputs of a range of outputs against the union of all elements that the windows read,
// output cuts, and interior outputs.
#include "geometry/layout/window.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Window, CountsOutputsAsByHand) {
  EXPECT_EQ(windowOutput({.kernel = 5, .padLow = 2, .padHigh = 2}, 28, 0), 28);
  EXPECT_EQ(windowOutput({.kernel = 2, .stride = 2}, 28, 0), 14);
  // Windows begin at -1, 1, 3 and 5, and end 4 elements further: the next would read element 11.
  EXPECT_EQ(windowOutput({.kernel = 3, .stride = 2, .dilation = 2, .padLow = 1}, 10, 0), 4);
}

// The rule of PyTorch's pooling: rounded up, without windows that begin beyond the domain.
TEST(Window, CeilModeCountsOutputsAsByHand) {
  EXPECT_EQ(windowOutput({.kernel = 2, .stride = 2, .ceil = true}, 5, 0), 3);
  EXPECT_EQ(windowOutput({.kernel = 2, .stride = 2, .ceil = true}, 4, 0), 2);
  EXPECT_EQ(windowOutput({.kernel = 3, .stride = 2, .padLow = 1, .padHigh = 1, .ceil = true}, 4, 0),
            3);
  EXPECT_EQ(windowOutput({.kernel = 1, .stride = 3, .ceil = true}, 2, 0), 1);
  EXPECT_EQ(windowOutput({.kernel = 2, .stride = 2, .padLow = 1, .padHigh = 1, .ceil = true}, 3, 0),
            2);
  EXPECT_EQ(windowOutput({.kernel = 2, .stride = 2, .ceil = true}, 1, 0), 1);
  EXPECT_THROW(windowOutput({.kernel = 4, .stride = 2, .ceil = true}, 2, 0), Error);
}

// The expected number follows the rule literally: all windows that fit, and one more if elements
// are left over and that window begins in the domain.
TEST(Window, CeilModeAddsAtMostOneWindow) {
  for (Index kernel = 1; kernel <= 4; ++kernel)
    for (Index stride = 1; stride <= 4; ++stride)
      for (Index low = 0; low <= kernel / 2; ++low)
        for (Index high = 0; high <= kernel / 2; ++high)
          for (Index extent = kernel; extent < 12; ++extent) {
            const Window w{
                .kernel = kernel, .stride = stride, .padLow = low, .padHigh = high, .ceil = true};
            Index outputs = 0;
            while (outputs * stride - low + kernel <= extent + high)
              ++outputs;
            const bool covered = (outputs - 1) * stride - low + kernel == extent + high;
            if (!covered && outputs * stride - low < extent)
              ++outputs;
            EXPECT_EQ(windowOutput(w, extent, 0), outputs);
          }
}

TEST(Window, RefusesInvalidWindows) {
  EXPECT_THROW(windowOutput({.kernel = 0}, 5, 0), Error);
  EXPECT_THROW(windowOutput({.kernel = 3, .stride = 0}, 5, 0), Error);
  EXPECT_THROW(windowOutput({.kernel = 3, .padLow = -2, .padHigh = -1}, 5, 0), Error);
  EXPECT_THROW(windowOutput({.kernel = 6}, 5, 0), Error);
}

TEST(Window, NegativePaddingCutsTheDomain) {
  for (Index low = -3; low <= 0; ++low)
    for (Index high = -3; high <= 0; ++high)
      for (bool ceil : {false, true}) {
        const Window w{.kernel = 3, .stride = 2, .padLow = low, .padHigh = high, .ceil = ceil};
        const Window cut{.kernel = 3, .stride = 2, .ceil = ceil};
        const Index outputs = windowOutput(w, 12, 0);
        EXPECT_EQ(outputs, windowOutput(cut, 12 + low + high, 0));
        const Interval box = windowBox(w, 12, {0, outputs});
        const Interval cutBox = windowBox(cut, 12 + low + high, {0, outputs});
        EXPECT_EQ(box, (Interval{cutBox.begin - low, cutBox.end - low}));
      }
}

TEST(Window, TheBoxEndsWithTheDomainOrWithItsExtension) {
  Window w{.kernel = 3, .stride = 2, .padLow = 2, .padHigh = 1, .ceil = true};
  EXPECT_EQ(windowOutput(w, 5, 0), 4); // windows begin at -2, 0, 2, 4
  EXPECT_EQ(windowBox(w, 5, {0, 4}), (Interval{0, 5}));
  w.lowMode = Boundary::Periodic;
  EXPECT_EQ(windowBox(w, 5, {0, 4}), (Interval{-2, 5}));
  w.highMode = Boundary::Zero;
  EXPECT_EQ(windowBox(w, 5, {0, 4}), (Interval{-2, 6})); // the last window ends at 7
  EXPECT_EQ(windowBox(w, 5, {1, 1}), (Interval{0, 0}));
  const Window outside{.kernel = 2, .stride = 2, .padLow = 2};
  EXPECT_EQ(windowBox(outside, 5, {0, 1}), (Interval{0, 0}));
}

TEST(Window, InputOfARangeIsTheUnionOfItsTaps) {
  for (Index kernel = 1; kernel <= 4; ++kernel)
    for (Index stride = 1; stride <= 3; ++stride)
      for (Index dilation = 1; dilation <= 3; ++dilation)
        for (Index begin = 0; begin < 4; ++begin)
          for (Index end = begin + 1; end < 6; ++end) {
            const Window w{.kernel = kernel, .stride = stride, .dilation = dilation, .padLow = 2};
            Index low = 1000, high = -1000;
            for (Index o = begin; o < end; ++o)
              for (Index t = 0; t < kernel; ++t) {
                low = std::min(low, o * stride - 2 + t * dilation);
                high = std::max(high, o * stride - 2 + t * dilation + 1);
              }
            EXPECT_EQ(windowInput(w, {begin, end}), (Interval{low, high}));
          }
  EXPECT_TRUE(windowInput({.kernel = 3}, {2, 2}).empty());
}

TEST(Window, OutputCutsFollowTheInputs) {
  // A "same" convolution keeps the cuts; a valid one loses two elements on either side; pooling
  // halves.
  EXPECT_EQ(windowCuts({.kernel = 5, .padLow = 2, .padHigh = 2}, {0, 5, 14, 28}, 28),
            (std::vector<Index>{0, 5, 14, 28}));
  EXPECT_EQ(windowCuts({.kernel = 5}, {0, 7, 14}, 10), (std::vector<Index>{0, 5, 10}));
  EXPECT_EQ(windowCuts({.kernel = 2, .stride = 2}, {0, 14, 28}, 14),
            (std::vector<Index>{0, 7, 14}));
  EXPECT_EQ(windowCuts({.kernel = 3}, {0, 0, 1, 3}, 1), (std::vector<Index>{0, 0, 0, 1}));
}

// Checked for each output: an interior one reads only inputs of its own part, and every other one
// reads an input of another part.
TEST(Window, InteriorOutputsReadTheirOwnPartAlone) {
  for (Index kernel = 1; kernel <= 4; ++kernel)
    for (Index stride = 1; stride <= 3; ++stride)
      for (Index dilation = 1; dilation <= 2; ++dilation)
        for (Index pad = -1; pad < kernel * dilation; ++pad)
          for (Boundary mode : {Boundary::None, Boundary::Periodic}) {
            const Window w{.kernel = kernel,
                           .stride = stride,
                           .dilation = dilation,
                           .padLow = pad,
                           .padHigh = pad,
                           .lowMode = mode,
                           .highMode = mode};
            const Index extent = 23;
            const std::vector<Index> cuts = {0, 2, 11, 11, 23},
                                     outs = windowCuts(w, cuts, windowOutput(w, extent, 0));
            for (int part = 0; part < 4; ++part) {
              const Interval owned{cuts[part], cuts[part + 1]}, all{outs[part], outs[part + 1]};
              const Interval inside = interiorOutputs(w, extent, owned, all);
              EXPECT_GE(inside.begin, all.begin);
              EXPECT_LE(inside.end, std::max(all.begin, all.end));
              for (Index o = all.begin; o < all.end; ++o) {
                const Interval reads = windowBox(w, extent, {o, o + 1});
                if (reads.empty())
                  continue;
                const bool own = reads.begin >= owned.begin && reads.end <= owned.end;
                EXPECT_EQ(own, o >= inside.begin && o < inside.end)
                    << "output " << o << " of part " << part << ", kernel " << kernel << " stride "
                    << stride << " dilation " << dilation << " padding " << pad;
              }
            }
          }
}

} // namespace
} // namespace tenon
