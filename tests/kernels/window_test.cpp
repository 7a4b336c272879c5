// SPDX-License-Identifier: BSD-2-Clause
// The ranges of taps, outputs and inputs of a sliding window (convolution/window.hpp), compared
// with the definition: for random windows, every output and every tap are tested whether they read
// input.
#include "kernels/draw.hpp"

namespace tenon::test {

TEST(Window, RangesAreThoseOfTheDefinition) {
  Draw draw(1);
  for (int trial = 0; trial < 300; ++trial) {
    const WindowShape w = draw.window();
    for (int d = 0; d < w.rank; ++d)
      for (Index o = 0; o < w.out[d]; ++o)
        for (Index t = 0; t < w.kernel[d]; ++t) {
          const Index i = o * w.stride[d] - w.padLow[d] + t * w.dilation[d];
          const bool inside = i >= 0 && i < w.in[d];
          const Range taps = tapsInside(w, d, o), outputs = outputsInside(w, d, t);
          EXPECT_EQ(t >= taps.begin && t < taps.end, inside) << describe(w);
          EXPECT_EQ(o >= outputs.begin && o < outputs.end, inside) << describe(w);
        }
  }
}

// The outputs whose span reaches stored input, and the inputs in the span of these outputs,
// compared with a test of every output and every input.
TEST(Window, ReachIsFromTheFirstTapToTheLast) {
  Draw draw(2);
  for (int trial = 0; trial < 300; ++trial) {
    const WindowShape w = draw.window();
    for (int d = 0; d < w.rank; ++d) {
      const Range outputs = outputsReaching(w, d), inputs = inputsReached(w, d, outputs);
      const auto first = [&](Index o) { return o * w.stride[d] - w.padLow[d]; };
      const auto last = [&](Index o) { return first(o) + (w.kernel[d] - 1) * w.dilation[d]; };
      const auto holds = [](const Range& range, Index i) {
        return i >= range.begin && i < range.end;
      };
      bool any = false;
      for (Index o = 0; o < w.out[d]; ++o) {
        const bool reaches = first(o) < w.in[d] && last(o) >= 0 && w.in[d] > 0;
        any = any || reaches;
        EXPECT_EQ(holds(outputs, o), reaches) << describe(w);
      }
      for (Index i = 0; i < w.in[d]; ++i)
        EXPECT_EQ(holds(inputs, i), any && i >= first(outputs.begin) && i <= last(outputs.end - 1))
            << describe(w);
    }
  }
}

TEST(Window, MalformedOnesAreRefused) {
  WindowShape w;
  EXPECT_NO_THROW(checkWindow(w));
  w.rank = 4;
  expectError(errorOf([&] { checkWindow(w); }), TENON_ERR_ARG, {"4 spatial dimensions", "1 to 3"});
  w.rank = 2;
  w.stride[1] = 0;
  expectError(errorOf([&] { checkWindow(w); }), TENON_ERR_ARG, {"stride", "dimension 1", "is 0"});
  w.stride[1] = 1;
  w.in[0] = -1;
  expectError(errorOf([&] { checkWindow(w); }), TENON_ERR_ARG, {"input extent", "is -1"});
}

} // namespace tenon::test
