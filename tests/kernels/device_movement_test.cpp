// SPDX-License-Identifier: BSD-2-Clause
// Boxes at listed positions (listedAxpby) and conversions to and from bfloat16 on the device,
// compared bit by bit with the host, whose results other tests check. Lists are tested with small
// integers, for which products and sums are exact.
#include "kernels/draw.hpp"
#include "kernels/host_context.hpp"
#include "kernels/movement/bfloat16.hpp"
#include "kernels/movement/listed_block.hpp"
#include "kernels/on_device.hpp"
#include "sys/traps.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace tenon::test {

namespace {

template <class T>
class DeviceLists : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceLists, ElementTypes);
template <class T>
class DeviceRounds : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceRounds, RealTypes);

template <class T>
DeviceCopy<T> onDevice(const std::vector<T>& values) {
  return {*deviceContext(), values.data(), Index(values.size())};
}

template <class T>
std::vector<T> fetched(const DeviceCopy<T>& from, std::size_t size) {
  std::vector<T> values(size);
  from.fetch(values.data());
  return values;
}

} // namespace

// y[a, positions[i], c] = alpha w[i] x[a, i, c] + beta y[a, positions[i], c] for x [2, 50, 3], with
// random positions.
TYPED_TEST(DeviceLists, AreScaledAndAdded) {
  using T = TypeParam;
  Draw draw(21);
  const Index extent[] = {2, 50, 3}, places = 80, xs[] = {150, 0, 1}, ys[] = {3 * places, 0, 1};
  std::vector<Index> positions(places);
  std::iota(positions.begin(), positions.end(), Index(0));
  for (Index i = places; i > 1; --i)
    std::swap(positions[i - 1], positions[draw.integer(0, i - 1)]);
  std::vector<double> weights;
  for (Index i = 0; i < extent[1]; ++i)
    weights.push_back(double(draw.integer(-3, 3)));
  const auto x = draw.integers<T>(300);
  std::vector<T> y = draw.integers<T>(6 * places);
  auto dx = onDevice(x), dy = onDevice(y);
  auto dPositions = onDevice(positions);
  auto dWeights = onDevice(weights);
  const ListedPlaces inOrder{nullptr, 1, {3}};
  const bool isReal = std::is_floating_point_v<T>;
  for (const auto& [alpha, beta, isWeighted] :
       {std::tuple{1, 0, false}, {1, 1, false}, {2, 3, false}, {2, 1, isReal}, {-1, 0, isReal}}) {
    listedAxpby<T>(hostContext(), 3, extent, 1, T(alpha), isWeighted ? weights.data() : nullptr,
                   x.data(), xs, inOrder, T(beta), y.data(), ys, {positions.data(), 1, {3}});
    listedAxpby<T>(*deviceContext(), 3, extent, 1, T(alpha), isWeighted ? dWeights.data() : nullptr,
                   dx.data(), xs, inOrder, T(beta), dy.data(), ys, {dPositions.data(), 1, {3}});
    ASSERT_EQ(fetched(dy, y.size()), y) << alpha << ' ' << beta;
  }
}

TYPED_TEST(DeviceRounds, ToBFloat16AndBack) {
  const NoTraps noTraps; // numbers too large for a float, and NaN
  using T = TypeParam;
  Draw draw(22);
  const Index extent[] = {7, 30, 5}, xs[] = {1, 40, 7}, n = 7 * 30 * 5;
  std::vector<T> x;
  for (Index i = 0; i < 1200; ++i)
    x.push_back(T(std::ldexp(draw.real(-1, 1), int(draw.integer(-140, 130)))));
  x[0] = std::numeric_limits<T>::quiet_NaN();
  x[1] = -std::numeric_limits<T>::infinity();
  std::vector<BFloat16> rounded(n);
  std::vector<T> back(n);
  auto dx = onDevice(x), dBack = onDevice(back);
  auto dRounded = onDevice(rounded);
  roundToBFloat16<T>(hostContext(), 3, extent, x.data(), xs, rounded.data());
  fromBFloat16<T>(hostContext(), n, rounded.data(), back.data());
  roundToBFloat16<T>(*deviceContext(), 3, extent, dx.data(), xs, dRounded.data());
  fromBFloat16<T>(*deviceContext(), n, dRounded.data(), dBack.data());
  const auto found = fetched(dRounded, n);
  EXPECT_EQ(std::memcmp(found.data(), rounded.data(), n * sizeof(BFloat16)), 0);
  const auto foundBack = fetched(dBack, n);
  EXPECT_EQ(std::memcmp(foundBack.data(), back.data(), n * sizeof(T)), 0);
}

// Contiguous rows, rows of a larger array, and transposed boxes: small ones, and ones that are
// large enough for tiles.
TEST(DeviceExpansions, AreThoseOfTheHost) {
  struct Case {
    Index extent[3], strides[3]; // of the box that is rounded
  };
  for (const Case& c : {Case{{3, 40, 5}, {200, 5, 1}}, Case{{3, 40, 5}, {400, 9, 1}},
                        Case{{3, 40, 5}, {200, 1, 40}}, Case{{2, 70, 36}, {2520, 1, 70}}})
    for (const bool adds : {false, true}) {
      Draw draw(24);
      const Index n = c.extent[0] * c.extent[1] * c.extent[2];
      Index span = 1;
      for (int d = 0; d < 3; ++d)
        span += (c.extent[d] - 1) * c.strides[d];
      std::vector<float> x = draw.reals<float>(span, -3, 3), y = draw.reals<float>(span, -1, 1);
      std::vector<BFloat16> rounded(static_cast<std::size_t>(n));
      auto dx = onDevice(x), dy = onDevice(y);
      auto dRounded = onDevice(rounded);
      roundToBFloat16(hostContext(), 3, c.extent, x.data(), c.strides, rounded.data());
      expandBFloat16(hostContext(), 3, c.extent, rounded.data(), adds, y.data(), c.strides);
      roundToBFloat16(*deviceContext(), 3, c.extent, dx.data(), c.strides, dRounded.data());
      expandBFloat16(*deviceContext(), 3, c.extent, dRounded.data(), adds, dy.data(), c.strides);
      const std::vector<BFloat16> found = fetched(dRounded, rounded.size());
      EXPECT_EQ(std::memcmp(found.data(), rounded.data(), rounded.size() * sizeof(BFloat16)), 0);
      EXPECT_EQ(fetched(dy, y.size()), y) << adds;
    }
}

} // namespace tenon::test
