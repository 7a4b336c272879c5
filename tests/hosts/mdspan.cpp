// SPDX-License-Identifier: BSD-2-Clause
// tenon/hosts/mdspan.hpp with the compiler's <mdspan>, or else with a class that has the members of
// std::mdspan that the header uses.
#include "hosts/host_arrays.hpp"

#include <tenon/hosts/mdspan.hpp>

#if defined(__has_include)
#if __has_include(<mdspan>) && __cplusplus > 202002L
#include <mdspan>
#endif
#endif

namespace {

// In the order of layout_left, or of layout_right.
struct Span {
  using element_type = double;
  struct Mapping {
    std::size_t size;
    std::size_t required_span_size() const { return size; }
  };
  static constexpr std::size_t rank() { return 3; }
  double* data_handle() const { return values; }
  std::size_t extent(std::size_t i) const { return extents[i]; }
  std::size_t stride(std::size_t i) const {
    std::size_t result = 1;
    for (std::size_t d = 0; d < 3; ++d)
      if (isLeft ? d < i : d > i)
        result *= extents[d];
    return result;
  }
  Mapping mapping() const { return {extents[0] * extents[1] * extents[2]}; }

  double* values;
  std::array<std::size_t, 3> extents;
  bool isLeft;
};

void strides(bool isLeft) {
  std::vector<double> values(hosts::kChannels * hosts::kHigh * hosts::kWide);
  const Span span{values.data(), {hosts::kChannels, hosts::kHigh, hosts::kWide}, isLeft};
  hosts::checkInPlace(
      span,
      [](tenon::DTensor& x, const Span& a, tenon::Ints low, tenon::Ints high) {
        return tenon::placeMdspan(x, a, low, high);
      },
      [&](TenonInt c, TenonInt j, TenonInt i) {
        const auto offset = c * TenonInt(span.stride(0)) + j * TenonInt(span.stride(1)) +
                            i * TenonInt(span.stride(2));
        return values[static_cast<std::size_t>(offset)];
      });
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  strides(true);
  strides(false);
#ifdef __cpp_lib_mdspan
  std::vector<double> values(hosts::kChannels * hosts::kHigh * hosts::kWide);
  const std::mdspan span(values.data(), hosts::kChannels, hosts::kHigh, hosts::kWide);
  hosts::checkInPlace(
      span,
      [](tenon::DTensor& x, const auto& a, tenon::Ints low, tenon::Ints high) {
        return tenon::placeMdspan(x, a, low, high);
      },
      [&](TenonInt c, TenonInt j, TenonInt i) { return span[c, j, i]; });
#else
  std::puts("std::mdspan is not in this compiler: a stand-in has been used");
#endif
}
