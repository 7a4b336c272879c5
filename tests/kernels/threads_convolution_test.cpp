// SPDX-License-Identifier: BSD-2-Clause
// Convolutions on 1, 2, 3 and 5 threads must have the same bits. On small integers every sum is
// exact, so the order in which BLAS adds does not matter, and the result must also equal the
// reference. Direct convolution preserves the order of its sums, so it is tested with any numbers.
//
// A shape in braces is {batch, input channels, output channels, window, groups}. Strides and
// dilations of a window that are not given are 1, paddings are 0.
#include "kernels/convolution/backends.hpp"
#include "kernels/thread_count.hpp"

namespace tenon::test {

namespace {

template <class T>
struct Operands {
  Operands(Draw& draw, const ConvolutionShape& s)
      : x(draw.integers<T>(s.batch * s.inChannels * inputVolume(s.window))),
        w(draw.integers<T>(s.outChannels * s.inChannels / s.groups * kernelVolume(s.window))),
        b(draw.integers<T>(s.outChannels)),
        dy(draw.integers<T>(s.batch * s.outChannels * outputVolume(s.window))) {}
  std::vector<T> x, w, b, dy;
};

// The results of all functions of a convolution, one after the other.
template <class T>
std::vector<T> everyResult(const ConvolutionShape& shape, Backend backend, const Operands<T>& in) {
  const auto op = makeConvolution<T>(shape, backend);
  std::vector<T> y(in.dy.size(), T(1)), dx(in.x.size(), T(7)), dw(in.w.size(), T(1)),
      db(in.b.size(), T(1));
  op->forward(in.x.data(), in.w.data(), in.b.data(), y.data(), false);
  op->forward(in.x.data(), in.w.data(), nullptr, y.data(), true);
  op->adjointData(in.w.data(), in.dy.data(), dx.data());
  op->adjointWeights(in.x.data(), in.dy.data(), dw.data(), db.data());
  for (const auto* more : {&dx, &dw, &db})
    append(y, *more);
  return y;
}

struct ThreadedCase {
  const char* what;
  ConvolutionShape shape;
};

const ThreadedCase kThreadedCases[] = {
    {"tiles of large images",
     {2, 5, 6, {.rank = 2, .in = {90, 91}, .out = {90, 91}, .kernel = {3, 3}, .padLow = {1, 1}}}},
    {"several small images",
     {70, 7, 6, {.rank = 2, .in = {8, 8}, .out = {8, 8}, .kernel = {3, 3}, .padLow = {1, 1}}}},
    {"one tap", {3, 6, 7, {.rank = 2, .in = {60, 60}, .out = {60, 60}, .kernel = {1, 1}}}},
    {"groups in space",
     {2,
      6,
      9,
      {.rank = 3,
       .in = {9, 20, 21},
       .out = {9, 10, 11},
       .kernel = {3, 3, 3},
       .stride = {1, 2, 2},
       .padLow = {1, 1, 1}},
      3}}};

} // namespace

template <class T>
class ConvolutionThreads : public ::testing::Test {};
TYPED_TEST_SUITE(ConvolutionThreads, RealTypes);

TYPED_TEST(ConvolutionThreads, GiveTheSameBits) {
  using T = TypeParam;
  Draw draw(23);
  for (const ThreadedCase& c : kThreadedCases) {
    const Operands<T> operands(draw, c.shape);
    for (Backend backend : fastBackends<T>())
      expectSameForAllThreads(c.what, [&] { return everyResult<T>(c.shape, backend, operands); });
    ThreadCount three(3);
    expectSameBits(everyResult<T>(c.shape, Backend::Blas, operands),
                   everyResult<T>(c.shape, Backend::Reference, operands));
  }
}

TYPED_TEST(ConvolutionThreads, OfTheDirectOneGiveTheSameBitsOnAnyNumbers) {
  using T = TypeParam;
  if (directInstructionSets().empty())
    GTEST_SKIP() << "the processor has neither AVX2 with FMA nor NEON";
  Draw draw(24);
  for (const ThreadedCase& c : kThreadedCases) {
    ConvolutionShape shape = c.shape;
    shape.window.stride[shape.window.rank - 1] = 1;
    Operands<T> operands(draw, shape);
    for (auto* values : {&operands.x, &operands.w, &operands.b, &operands.dy})
      *values = draw.reals<T>(Index(values->size()), -1, 1);
    expectSameForAllThreads(c.what,
                            [&] { return everyResult<T>(shape, Backend::Direct, operands); });
  }
}

} // namespace tenon::test
