// SPDX-License-Identifier: BSD-2-Clause
// Kernels on the device against those on the host: float64 to rounding, float32 as its host sums
// are.
#pragma once

#include "kernels/here.hpp"
#include "kernels/on_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::test {

// Runs the same calls in either space on copies of the same arrays.
template <class T>
class Arrays {
public:
  explicit Arrays(Space space)
      : context_(space == Space::Device ? deviceContext() : std::make_shared<KernelContext>()) {}
  const KernelContextPtr& context() const { return context_; }
  KernelContext& at() { return *context_; }
  template <class U>
  U* put(const std::vector<U>& values) {
    memory_.emplace_back(Index(values.size() * sizeof(U)), "a test's array", context_->memory());
    Buffer& made = memory_.back();
    if (context_->space() == Space::Device)
      context_->fetch(made.data<U>(), values.data(), made.bytes());
    else
      std::copy(values.begin(), values.end(), made.data<U>());
    return made.data<U>();
  }
  T* room(Index n) { return put(std::vector<T>(std::size_t(n), T(-7))); }
  // Notes n values of an array for the comparison.
  void give(const T* from, Index n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    if (context_->space() == Space::Device)
      context_->fetch(values.data(), from, n * Index(sizeof(T)));
    else
      std::copy_n(from, n, values.begin());
    results_.insert(results_.end(), values.begin(), values.end());
  }
  const std::vector<T>& results() const { return results_; }

private:
  KernelContextPtr context_;
  std::vector<Buffer> memory_;
  std::vector<T> results_;
};

template <class T, class Run>
void expectSame(const Run& run) {
  Arrays<T> host(Space::Host), device(Space::Device), again(Space::Device);
  run(host);
  run(device);
  run(again);
  ASSERT_EQ(device.results().size(), host.results().size());
  const double tolerance = sizeof(T) == sizeof(double) ? 1e-12 : 2e-5;
  for (std::size_t i = 0; i < host.results().size(); ++i) {
    const double got = device.results()[i], want = host.results()[i];
    ASSERT_EQ(std::isnan(got), std::isnan(want)) << i;
    if (!std::isnan(want) && got != want) {
      ASSERT_NEAR(got, want, tolerance * (1 + std::abs(want))) << i;
    }
    const double repeated = again.results()[i];
    ASSERT_TRUE(repeated == got || std::isnan(got)) << i;
  }
}

} // namespace tenon::test
