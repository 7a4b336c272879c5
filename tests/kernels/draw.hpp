// SPDX-License-Identifier: BSD-2-Clause
// Random inputs of the tests of kernels. Draw (a seeded generator) draws small integers, for which
// sums and products of floats are exact: results of different backends can then be compared bit by
// bit, and adjoints exactly. It also draws windows of convolutions and poolings with unusual
// parameters. Further functions: backends to test, exact dot products, and checks of errors.
#pragma once

#include "kernels/base/backend.hpp"
#include "kernels/convolution/window.hpp"
#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::test {

class Draw {
public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  Index integer(Index low, Index high) {
    return std::uniform_int_distribution<Index>(low, high)(engine_);
  }
  bool withProbability(double p) { return std::bernoulli_distribution(p)(engine_); }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  template <class T>
  std::vector<T> integers(Index n, Index bound = 3) {
    std::vector<T> values(static_cast<size_t>(n));
    for (T& value : values)
      value = T(integer(-bound, bound));
    return values;
  }
  template <class T>
  std::vector<T> reals(Index n, double low, double high) {
    std::vector<T> values(static_cast<size_t>(n));
    for (T& value : values)
      value = T(real(low, high));
    return values;
  }

  // A window with any stride and dilation, padding of either sign, and outputs whose windows are
  // beyond the input; sometimes with an empty extent.
  WindowShape window() {
    WindowShape w;
    w.rank = int(integer(1, kMaxSpatial));
    for (int d = 0; d < w.rank; ++d) {
      w.in[d] = withProbability(0.05) ? 0 : integer(1, 9);
      w.out[d] = withProbability(0.05) ? 0 : integer(1, 6);
      w.kernel[d] = integer(1, 4);
      w.stride[d] = integer(1, 3);
      w.dilation[d] = integer(1, 3);
      w.padLow[d] = integer(-2, 5);
    }
    return w;
  }

  // The window of a usual layer: padding on each side less than the kernel, all input read.
  WindowShape ordinaryWindow() {
    WindowShape w;
    w.rank = int(integer(1, kMaxSpatial));
    for (int d = 0; d < w.rank; ++d) {
      w.kernel[d] = integer(1, 4);
      w.stride[d] = integer(1, 2);
      w.padLow[d] = integer(0, w.kernel[d] - 1);
      w.in[d] = integer(w.kernel[d], 12);
      const Index high = integer(0, w.kernel[d] - 1);
      w.out[d] = (w.in[d] + w.padLow[d] + high - w.kernel[d]) / w.stride[d] + 1;
      if (withProbability(0.3))
        w.padEnd[d] = std::max((w.out[d] - 1) * w.stride[d] - w.padLow[d] + 1, w.in[d]);
    }
    return w;
  }

  // Windows whose stride equals the kernel, with or without input after the last one.
  WindowShape tilingWindow() {
    WindowShape w;
    w.rank = int(integer(1, kMaxSpatial));
    for (int d = 0; d < w.rank; ++d) {
      w.kernel[d] = w.stride[d] = integer(1, 4);
      w.out[d] = integer(1, 9);
      w.in[d] = w.out[d] * w.kernel[d] + integer(0, 2);
    }
    return w;
  }

private:
  std::mt19937 engine_;
};

inline std::string describe(const WindowShape& w) {
  std::ostringstream text;
  for (int d = 0; d < w.rank; ++d)
    text << "[in " << w.in[d] << " out " << w.out[d] << " kernel " << w.kernel[d] << " stride "
         << w.stride[d] << " dilation " << w.dilation[d] << " padLow " << w.padLow[d] << " padEnd "
         << w.padEnd[d] << "] ";
  return text.str();
}

// The backends of the host that are compared with the reference.
template <class T>
std::vector<Backend> fastBackends() {
  if (std::is_same_v<T, float> && hasOneDnn())
    return {Backend::Blas, Backend::OneDnn};
  return {Backend::Blas};
}

template <class T>
double exactDot(const std::vector<T>& x, const std::vector<T>& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += double(x[i]) * double(y[i]);
  return sum;
}

// The Error that body() throws, or an Error with the code TENON_SUCCESS if it throws nothing.
template <class Body>
Error errorOf(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(TENON_SUCCESS, "");
}

inline void expectError(const Error& error, TenonErrorCode code,
                        std::initializer_list<const char*> parts) {
  EXPECT_EQ(error.code(), code) << error.text();
  for (const char* part : parts)
    EXPECT_NE(error.text().find(part), std::string::npos) << part << " not in: " << error.text();
}

using RealTypes = ::testing::Types<float, double>;
using ElementTypes = ::testing::Types<float, double, std::int64_t>;

// Whether long double has more digits than double. valgrind computes long double as double: a
// formula in long double is then not more precise than the results that it is compared with.
inline bool isLongDoubleLonger() {
  const volatile long double one = 1, little = 1e-18L;
  return one + little != one;
}

} // namespace tenon::test
