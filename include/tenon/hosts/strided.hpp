// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of mdspan.hpp and kokkos.hpp: arrays of any strides, in place. */
#ifndef TENON_HOSTS_STRIDED_HPP
#define TENON_HOSTS_STRIDED_HPP

#include <tenon.hpp>

namespace tenon {
namespace detail {

/* An array of a host: its first element, ghosts included, and the length of its memory. Its
 * dimensions are the last ones of the tensor. Ints and the checks are declared in
 * cxx/arguments.hpp, Where in cxx/error.hpp, Placement in cxx/loan.hpp. */
template <class T>
struct Strided {
  T* first = nullptr;
  std::vector<TenonInt> extents, strides;
  TenonInt length = 0;
};

/* Of a list that may be left out: 0. */
inline TenonInt entry(const Ints& list, std::size_t i) {
  return list.size() > 0 ? list.data()[i] : 0;
}

template <class T>
Placement placeStrided(DTensor& x, const Strided<T>& array, const Ints& ghostsLow,
                       const Ints& ghostsHigh, const Where& where) {
  const std::size_t ofArray = array.extents.size(), dimensions = dimensionsOf(x.get(), where);
  checkLengthIfAny("ghostsLow", ghostsLow.size(), ofArray);
  checkLengthIfAny("ghostsHigh", ghostsHigh.size(), ofArray);
  if (ofArray > dimensions)
    throw std::length_error("the array has " + std::to_string(ofArray) +
                            " dimensions, but the tensor " + std::to_string(dimensions));
  std::vector<TenonInt> low(dimensions), high(dimensions), strides(dimensions), before(dimensions),
      behind(dimensions);
  Call(where).check(TenonDTensorGetBox(x, low.data(), high.data()));
  T* firstOwned = array.first;
  const std::size_t omitted = dimensions - ofArray;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const TenonInt owned = high[d] - low[d];
    const bool isOmitted = d < omitted;
    const std::size_t i = isOmitted ? 0 : d - omitted;
    if (!isOmitted) {
      before[d] = entry(ghostsLow, i);
      behind[d] = entry(ghostsHigh, i);
      strides[d] = array.strides[i];
      firstOwned += before[d] * strides[d];
    }
    const TenonInt extent = isOmitted ? 1 : array.extents[i],
                   needed = before[d] + owned + behind[d];
    /* An omitted dimension has extent 1, or 0 on a rank without elements. */
    const bool fits = isOmitted ? owned <= 1 : extent == needed;
    if (!fits)
      throw std::length_error("dimension " + std::to_string(d) + " of the tensor has " +
                              std::to_string(needed) + " elements on this rank, ghosts included, " +
                              "but the array " + std::to_string(extent));
  }
  return x.place(firstOwned, {strides, before, behind, array.length}, where);
}

} // namespace detail
} // namespace tenon

#endif
