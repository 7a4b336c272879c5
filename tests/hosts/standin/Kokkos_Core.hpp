// SPDX-License-Identifier: BSD-2-Clause
// A stand-in for Kokkos: views of three dimensions in host memory.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

namespace Kokkos {

inline void initialize() {}
inline void finalize() {}
struct LayoutLeft {};
struct LayoutRight {};

template <class Data, class Layout = LayoutRight>
class View {
  static_assert(std::is_same_v<Data, double***>);

public:
  using value_type = double;
  enum { rank = 3 };

  View(const std::string&, std::size_t n0, std::size_t n1, std::size_t n2)
      : extents_{n0, n1, n2}, values_(new double[n0 * n1 * n2]()) {
    if (std::is_same_v<Layout, LayoutRight>)
      strides_ = {n1 * n2, n2, 1};
    else
      strides_ = {1, n0, n0 * n1};
  }
  double& operator()(std::size_t i, std::size_t j, std::size_t k) const {
    return values_[i * strides_[0] + j * strides_[1] + k * strides_[2]];
  }
  double* data() const { return values_.get(); }
  std::size_t span() const { return extents_[0] * extents_[1] * extents_[2]; }
  std::size_t extent(std::size_t i) const { return extents_[i]; }
  std::size_t stride(std::size_t i) const { return strides_[i]; }

private:
  std::array<std::size_t, 3> extents_, strides_;
  std::shared_ptr<double[]> values_;
};

} // namespace Kokkos
