// SPDX-License-Identifier: BSD-2-Clause
// Pooling by Tenon's own loops (backend Blas) on 1, 2, 3 and 5 threads must have the same bits:
// maxima over windows that tile the input, and windows that overlap, are padded or dilated.
//
// Strides and dilations of a window that are not given are 1, paddings are 0.
#include "kernels/pooling/pooling.hpp"
#include "kernels/thread_count.hpp"

namespace tenon::test {

namespace {

// The results of all functions of a pooling, one after the other.
template <class T>
std::vector<T> everyResult(const PoolingShape& shape, const std::vector<T>& x,
                           const std::vector<T>& u, const std::vector<T>& v) {
  const auto op = makePooling<T>(shape, Backend::Blas);
  std::vector<std::int64_t> workspace(size_t(op->workspaceBytes() + 7) / 8);
  std::vector<T> y(v.size()), inference(v.size()), dx(x.size(), T(7)), dy(v.size());
  op->forward(x.data(), y.data(), workspace.empty() ? nullptr : workspace.data());
  op->forward(x.data(), inference.data(), nullptr);
  op->adjoint(v.data(), workspace.data(), dx.data());
  op->tangent(u.data(), workspace.data(), dy.data());
  for (const auto* more : {&inference, &dx, &dy})
    append(y, *more);
  return y;
}

struct PoolingCase {
  const char* what;
  Index planes;
  WindowShape window;
};

const PoolingCase kPoolingCases[] = {
    {"tiles of all the input",
     30,
     {.rank = 2, .in = {94, 14}, .out = {47, 7}, .kernel = {2, 2}, .stride = {2, 2}}},
    {"rows shorter than a vector",
     40,
     {.rank = 2, .in = {186, 6}, .out = {93, 3}, .kernel = {2, 2}, .stride = {2, 2}}},
    {"tiles of one plane",
     1,
     {.rank = 2, .in = {602, 74}, .out = {301, 37}, .kernel = {2, 2}, .stride = {2, 2}}},
    {"tiles with a rest",
     7,
     {.rank = 2, .in = {95, 67}, .out = {47, 33}, .kernel = {2, 2}, .stride = {2, 2}}},
    {"tiles in space",
     5,
     {.rank = 3, .in = {12, 27, 31}, .out = {6, 9, 15}, .kernel = {2, 3, 2}, .stride = {2, 3, 2}}},
    {"windows that overlap",
     3,
     {.rank = 2, .in = {61, 40}, .out = {61, 40}, .kernel = {3, 3}, .padLow = {1, 1}}},
    {"the same on one plane",
     1,
     {.rank = 2, .in = {90, 70}, .out = {90, 70}, .kernel = {3, 3}, .padLow = {1, 1}}},
    {"dilated windows in space",
     5,
     {.rank = 3,
      .in = {12, 21, 17},
      .out = {5, 10, 9},
      .kernel = {3, 3, 2},
      .stride = {2, 2, 2},
      .dilation = {2, 1, 1},
      .padLow = {1, 1, 0}}}};

} // namespace

template <class T>
class PoolingThreads : public ::testing::Test {};
TYPED_TEST_SUITE(PoolingThreads, RealTypes);

TYPED_TEST(PoolingThreads, GiveTheSameBits) {
  using T = TypeParam;
  Draw draw(21);
  for (const PoolingCase& c : kPoolingCases)
    for (PoolingMode mode :
         {PoolingMode::Max, PoolingMode::AverageIncludePad, PoolingMode::AverageExcludePad}) {
      const Index outputs = c.planes * outputVolume(c.window);
      ASSERT_GE(outputs * kernelVolume(c.window), kMinWork) << c.what;
      const auto x = draw.reals<T>(c.planes * inputVolume(c.window), -1, 1);
      const auto u = draw.reals<T>(c.planes * inputVolume(c.window), -1, 1);
      const auto v = draw.reals<T>(outputs, -1, 1);
      expectSameForAllThreads(c.what, [&] {
        return everyResult<T>({c.planes, c.window, mode}, x, u, v);
      });
    }
}

// A kernel that was created for two threads works when the program has more: it then uses two, for
// which it has planned scratch memory.
TYPED_TEST(PoolingThreads, MayComeAfterTheKernel) {
  using T = TypeParam;
  Draw draw(22);
  const PoolingShape shape{3, kPoolingCases[5].window, PoolingMode::Max};
  const auto x = draw.reals<T>(shape.planes * inputVolume(shape.window), -1, 1);
  std::unique_ptr<Pooling<T>> op;
  {
    ThreadCount two(2);
    op = makePooling<T>(shape, Backend::Blas);
  }
  expectSameForAllThreads("forward", [&] {
    std::vector<T> y(size_t(shape.planes * outputVolume(shape.window)));
    op->forward(x.data(), y.data(), nullptr);
    return y;
  });
}

} // namespace tenon::test
