// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief std::mdspan as the array of a tensor.
 *
 *  For std::mdspan of C++23 and the reference implementation (std::experimental, Kokkos), which
 *  this header does not include. The dimensions of the array are the last ones of the tensor;
 *  those before, such as the sample and the channel of a scalar field, must have one element on
 *  this rank. A field of a solver with one ghost cell on each side:
 *
 *      std::mdspan field(values.data(), ny + 2, nx + 2);
 *      auto placed = tenon::placeMdspan(x, field, {1, 1}, {1, 1}); // x is [1, 1, ny, nx] here
 *
 *  Layouts with strides (layout_right, layout_left, layout_stride) are used in place. Not
 *  collective. An extent other than that of the tensor is a std::length_error.
 */
#ifndef TENON_HOSTS_MDSPAN_HPP
#define TENON_HOSTS_MDSPAN_HPP

#include <tenon/hosts/strided.hpp>

namespace tenon {

template <class Mdspan>
[[nodiscard]] Placement placeMdspan(DTensor& x, const Mdspan& array, Ints ghostsLow = {},
                                    Ints ghostsHigh = {}, const Where& where = Where::current()) {
  detail::Strided<typename Mdspan::element_type> strided;
  strided.first = array.data_handle();
  strided.length = static_cast<TenonInt>(array.mapping().required_span_size());
  for (std::size_t i = 0; i < Mdspan::rank(); ++i) {
    strided.extents.push_back(static_cast<TenonInt>(array.extent(i)));
    strided.strides.push_back(static_cast<TenonInt>(array.stride(i)));
  }
  return detail::placeStrided(x, strided, ghostsLow, ghostsHigh, where);
}

} // namespace tenon

#endif
