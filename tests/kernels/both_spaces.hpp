// SPDX-License-Identifier: BSD-2-Clause
// Comparison of kernels on the device with those on the host. expectSame(run) calls run(arrays)
// three times: with arrays of the host, of the device, and of the device again. run() copies its
// inputs by copyOf(), calls kernels in arrays.context(), and passes the results to record(). The
// results of both spaces must agree to rounding, and those of the two runs on the device bit by
// bit.
#pragma once

#include "kernels/host_context.hpp"
#include "kernels/on_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::test {

// Arrays in one memory space, and the recorded results of a run.
template <class T>
class Arrays {
public:
  explicit Arrays(Space space)
      : context_(space == Space::Device ? deviceContext() : std::make_shared<KernelContext>()) {}
  const KernelContextPtr& contextPointer() const { return context_; }
  KernelContext& context() { return *context_; }
  template <class U>
  U* copyOf(const std::vector<U>& values) {
    memory_.emplace_back(Index(values.size() * sizeof(U)), "a test's array", context_->memory());
    Buffer& copy = memory_.back();
    if (context_->space() == Space::Device)
      context_->copyAndWait(copy.data<U>(), values.data(), copy.bytes());
    else
      std::copy(values.begin(), values.end(), copy.data<U>());
    return copy.data<U>();
  }
  // An array of n elements, all -7, for results.
  T* newArray(Index n) { return copyOf(std::vector<T>(std::size_t(n), T(-7))); }
  // Appends n values of an array to the results.
  void record(const T* from, Index n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    if (context_->space() == Space::Device)
      context_->copyAndWait(values.data(), from, n * Index(sizeof(T)));
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
    const double onDevice = device.results()[i], onHost = host.results()[i];
    ASSERT_EQ(std::isnan(onDevice), std::isnan(onHost)) << i;
    if (!std::isnan(onHost) && onDevice != onHost) {
      ASSERT_NEAR(onDevice, onHost, tolerance * (1 + std::abs(onHost))) << i;
    }
    const double repeated = again.results()[i];
    ASSERT_TRUE(repeated == onDevice || std::isnan(onDevice)) << i;
  }
}

} // namespace tenon::test
