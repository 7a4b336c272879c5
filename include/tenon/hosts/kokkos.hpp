// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Kokkos::View as the array of a tensor.
 *
 *  Include it behind Kokkos_Core.hpp. The dimensions of the view are the last ones of the tensor;
 *  those before must have one element on this rank. A field [component, cells, cells] with `ghosts`
 *  ghost cells on each side:
 *
 *      Kokkos::View<double***> field("field", components, nx + 2 * ghosts, ny + 2 * ghosts);
 *      auto placed = tenon::placeView(x, field, {0, ghosts, ghosts}, {0, ghosts, ghosts});
 *
 *  LayoutRight, LayoutLeft and LayoutStride are used in place. A view in the memory of a device
 *  needs a tensor with that space (x.setSpace(TENON_MEMORY_DEVICE)) and a communicator with the
 *  stream of Kokkos (partition.setStream(Kokkos::Cuda().cuda_stream()), doc/interop.md). Not
 *  collective. An extent other than that of the tensor is a std::length_error.
 */
#ifndef TENON_HOSTS_KOKKOS_HPP
#define TENON_HOSTS_KOKKOS_HPP

#include <tenon/hosts/strided.hpp>

namespace tenon {

template <class View>
[[nodiscard]] Placement placeView(DTensor& x, const View& view, Ints ghostsLow = {},
                                  Ints ghostsHigh = {}, const Where& where = Where::current()) {
  detail::Strided<typename View::value_type> strided;
  strided.first = view.data();
  strided.length = static_cast<TenonInt>(view.span());
  for (std::size_t i = 0; i < static_cast<std::size_t>(View::rank); ++i) {
    strided.extents.push_back(static_cast<TenonInt>(view.extent(i)));
    strided.strides.push_back(static_cast<TenonInt>(view.stride(i)));
  }
  return detail::placeStrided(x, strided, ghostsLow, ghostsHigh, where);
}

} // namespace tenon

#endif
