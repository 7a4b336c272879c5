// SPDX-License-Identifier: BSD-2-Clause
// Random convolutions, and comparisons of an implementation with the reference backend, bit by bit
// on small integers, for which sums in any order are exact: all results (expectEqualToReference),
// and results for outputs that are a box of a larger array (expectEqualWhenPlaced). A Maker creates
// the implementation under test. A shape in braces is {batch, input channels, output channels,
// window, groups}.
#pragma once

#include "kernels/convolution/convolution.hpp"
#include "kernels/draw.hpp"

#include <functional>

namespace tenon::test {

// Inputs, weights, biases and outputs of a convolution.
template <class T>
struct Arrays {
  std::vector<T> x, w, b, y;
};

template <class T>
Arrays<T> drawArrays(Draw& draw, const ConvolutionShape& s) {
  return {draw.integers<T>(s.batch * s.inChannels * inputVolume(s.window)),
          draw.integers<T>(s.outChannels * s.inChannels / s.groups * kernelVolume(s.window)),
          draw.integers<T>(s.outChannels),
          draw.integers<T>(s.batch * s.outChannels * outputVolume(s.window))};
}

inline ConvolutionShape drawShape(Draw& draw, Index maxChannels) {
  const auto count = [&](Index maximum) {
    return draw.withProbability(0.04) ? 0 : draw.integer(1, maximum);
  };
  const Index groups = draw.withProbability(0.3) ? draw.integer(2, 4) : 1;
  const Index maximum = std::max<Index>(1, maxChannels / groups);
  return {.batch = count(4),
          .inChannels = groups * count(maximum),
          .outChannels = groups * count(maximum),
          .window = draw.withProbability(0.5) ? draw.window() : draw.ordinaryWindow(),
          .groups = groups};
}

inline std::string describe(const ConvolutionShape& s) {
  std::ostringstream text;
  text << "batch " << s.batch << " channels " << s.inChannels << " -> " << s.outChannels << " in "
       << s.groups << " groups " << test::describe(s.window);
  return text.str();
}

// The results of all functions of a convolution; each call begins with the same arrays.
template <class T>
std::vector<std::vector<T>> allResults(Convolution<T>& op, const Arrays<T>& a) {
  std::vector<T> plain(a.y.size(), T(99)), unbiased(a.y.size(), T(99)), added = a.y;
  op.forward(a.x.data(), a.w.data(), a.b.data(), plain.data(), false);
  op.forward(a.x.data(), a.w.data(), nullptr, unbiased.data(), false);
  op.forward(a.x.data(), a.w.data(), a.b.data(), added.data(), true);
  std::vector<T> dx(a.x.size(), T(99)), dw = a.w, db = a.b, dwAlone = a.w;
  op.adjointData(a.w.data(), a.y.data(), dx.data());
  op.adjointWeights(a.x.data(), a.y.data(), dw.data(), db.data());
  op.adjointWeights(a.x.data(), a.y.data(), dwAlone.data(), nullptr);
  return {plain, unbiased, added, dx, dw, db, dwAlone};
}

// Creates the implementation under test for a shape.
template <class T>
using Maker = std::function<std::unique_ptr<Convolution<T>>(const ConvolutionShape&)>;

template <class T>
Maker<T> makerOf(Backend backend) {
  return [backend](const ConvolutionShape& shape) { return makeConvolution<T>(shape, backend); };
}

template <class T>
std::string describe(const Convolution<T>& op, const ConvolutionShape& shape) {
  return backendName(op.backend()) + (" " + describe(shape));
}

template <class T>
void expectEqualToReference(Draw& draw, const ConvolutionShape& shape, const Maker<T>& make) {
  const auto arrays = drawArrays<T>(draw, shape);
  const auto reference = makeConvolution<T>(shape, Backend::Reference);
  const auto op = make(shape);
  // Twice, since the second run finds the scratch memory of the first.
  const auto expected = allResults(*reference, arrays);
  ASSERT_EQ(allResults(*op, arrays), expected) << describe(*op, shape);
  ASSERT_EQ(allResults(*op, arrays), expected) << describe(*op, shape);
}

// As many groups as input channels: each channel is convolved separately.
inline std::vector<ConvolutionShape> depthwiseShapes(Draw& draw) {
  std::vector<ConvolutionShape> shapes;
  for (Index channels : {1, 3, 8, 16, 24})
    for (Index multiple : {1, 2})
      shapes.push_back({2, channels, multiple * channels, draw.ordinaryWindow(), channels});
  return shapes;
}

// Padding along the first of three dimensions, for which oneDNN 2.6.3 computes wrong results.
inline std::vector<ConvolutionShape> deeplyPaddedShapes() {
  std::vector<ConvolutionShape> shapes;
  for (Index low = 0; low < 5; ++low)
    for (Index out = 1; out < 4; ++out)
      for (Index stride = 1; stride < 3; ++stride)
        shapes.push_back({2,
                          2,
                          5,
                          {.rank = 3,
                           .in = {2, 4, 4},
                           .out = {out, 3, 3},
                           .kernel = {4, 2, 2},
                           .stride = {stride, 1, 1},
                           .padLow = {low, 0, 0}}});
  return shapes;
}

template <class T>
void expectAllEqualToReference(Draw& draw, const std::vector<ConvolutionShape>& shapes,
                               const std::vector<Maker<T>>& makers) {
  for (const ConvolutionShape& shape : shapes)
    for (const Maker<T>& make : makers)
      ASSERT_NO_FATAL_FAILURE(expectEqualToReference<T>(draw, shape, make));
}

// Without input channels, forward() adds the bias, and the gradient of the bias is the sum of dy.
template <class T>
void expectEmptyInputGivesTheBias(const Maker<T>& make) {
  ConvolutionShape shape{2, 0, 2, {}};
  shape.window = {.rank = 1, .in = {3}, .out = {2}, .kernel = {2}};
  const auto op = make(shape);
  const std::vector<T> b{1, 2}, none;
  std::vector<T> y(8, T(5)), db(2);
  op->forward(none.data(), none.data(), b.data(), y.data(), true);
  EXPECT_EQ(y, (std::vector<T>{6, 6, 7, 7, 6, 6, 7, 7})); // 5 and the bias of each channel
  op->adjointWeights(none.data(), y.data(), nullptr, db.data());
  EXPECT_EQ(db, (std::vector<T>{24, 28}));
}

// y as a box in the middle of a larger array with dimensions in any order: the strides of y, the
// offset of its first element, and the number of elements of the array.
struct Placement {
  ImageStrides y;
  Index first = 0, elements = 1;
};

inline Placement drawPlacement(Draw& draw, const ConvolutionShape& s) {
  Placement placed;
  std::vector<std::pair<Index, Index*>> dims{{s.batch, &placed.y.batch},
                                             {s.outChannels, &placed.y.channel}};
  for (int d = 0; d < s.window.rank; ++d)
    dims.emplace_back(s.window.out[d], &placed.y.space[d]);
  if (draw.withProbability(0.5))
    std::swap(dims[draw.integer(0, Index(dims.size()) - 1)], dims.back());
  for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
    const Index before = draw.integer(0, 2);
    *d->second = placed.elements;
    placed.first += before * placed.elements;
    placed.elements *= before + d->first + draw.integer(0, 2);
  }
  return placed;
}

// Calls visit(offset in the contiguous y, offset in the placed y) for each element.
template <class Visit>
void forEachPlaced(const ConvolutionShape& s, const Placement& placed, Visit visit) {
  Index dense = 0;
  const WindowShape w = embedWindow(s.window);
  const int front = kMaxSpatial - s.window.rank;
  for (Index n = 0; n < s.batch; ++n)
    for (Index k = 0; k < s.outChannels; ++k)
      forEachOutput(w, [&](const Position& o, Index) {
        Index at = placed.first + n * placed.y.batch + k * placed.y.channel;
        for (int d = 0; d < s.window.rank; ++d)
          at += o[front + d] * placed.y.space[d];
        visit(dense++, at);
      });
}

// The same convolution with y and dy in a larger array, compared with the reference on contiguous
// arrays. The elements around y (77) must not change.
template <class T>
void expectEqualWhenPlaced(Draw& draw, ConvolutionShape shape, const Maker<T>& make) {
  const auto dense = drawArrays<T>(draw, shape);
  const auto expected = allResults(*makeConvolution<T>(shape, Backend::Reference), dense);
  const Placement placed = drawPlacement(draw, shape);
  shape.y = placed.y;
  const auto op = make(shape);
  std::vector<T> y(placed.elements, T(77)), dx(dense.x.size(), T(99)), dw = dense.w, db = dense.b;
  T* const first = y.data() + placed.first;
  const auto expectPlaced = [&](const std::vector<T>& elements) {
    std::vector<T> wanted(placed.elements, T(77));
    forEachPlaced(shape, placed, [&](Index from, Index to) { wanted[to] = elements[from]; });
    ASSERT_EQ(y, wanted) << describe(*op, shape);
  };
  op->forward(dense.x.data(), dense.w.data(), dense.b.data(), first, false);
  ASSERT_NO_FATAL_FAILURE(expectPlaced(expected[0]));
  forEachPlaced(shape, placed, [&](Index from, Index to) { y[to] = dense.y[from]; });
  op->adjointData(dense.w.data(), first, dx.data());
  op->adjointWeights(dense.x.data(), first, dw.data(), db.data());
  // The order of allResults(): 0 is y, 2 is y added to, 3 dx, 4 dw, 5 db.
  EXPECT_EQ(dx, expected[3]) << describe(*op, shape);
  EXPECT_EQ(dw, expected[4]) << describe(*op, shape);
  EXPECT_EQ(db, expected[5]) << describe(*op, shape);
  op->forward(dense.x.data(), dense.w.data(), dense.b.data(), first, true);
  ASSERT_NO_FATAL_FAILURE(expectPlaced(expected[2]));
}

} // namespace tenon::test
