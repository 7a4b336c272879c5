// SPDX-License-Identifier: BSD-2-Clause
// Fills tensors by global index, on the host and element by element except for constants. Random numbers are
// counter-based, so that a value depends on its index and the seed alone, and any partition, halo or copy
// gets the same one.
#include "dtensor/fill.hpp"

#include "dtensor/host_view.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "sys/random.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// For one dimension of this rank's box: the global index whose value each element holds, or -1 for an element that
// holds none (beyond a boundary that copies nothing, or in a halo of partial sums or one that an index map fills).
std::vector<Index> globalIndices(const DTensor& x, int dim) {
  const Layout& layout = x.layout();
  const auto& halo = layout.halo(dim);
  const Interval box = x.box()[dim];
  const Interval owned = layout.owned(dim, layout.part(x.position(), dim));
  std::vector<Index> result;
  for (Index i = box.begin; i < box.end; ++i) {
    if (halo && !halo->addends && !halo->isLinked())
      result.push_back(extensionSource(i, layout.shape()[dim], halo->low, halo->high).value_or(-1));
    else
      result.push_back(i >= owned.begin && i < owned.end ? i : -1);
  }
  return result;
}

// Of the partial sums along a P axis, the one on coordinate 0 carries the value.
bool carriesValue(const DTensor& x) {
  const Layout& layout = x.layout();
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).isPartial() && layout.grid().coordinate(x.position(), axis) != 0)
      return false;
  return true;
}

// The local elements that carry the value are a box, since those that do not are at the ends of a dimension.
Box carrierBox(const DTensor& x) {
  if (x.localElements() == 0 || !carriesValue(x))
    return Box(x.rank());
  Box box;
  for (int d = 0; d < x.rank(); ++d) {
    const std::vector<Index> global = globalIndices(x, d);
    const auto stands = [](Index g) { return g >= 0; };
    const Index begin = std::ranges::find_if(global, stands) - global.begin();
    box.push_back({begin, begin + std::ranges::count_if(global, stands)});
  }
  return box;
}

// Calls f(offset in the local array, local index) for every element.
template <class F>
void forEachElement(const DTensor& x, F f) {
  std::array<Index, kMaxRank> index{};
  for (Index n = x.localElements(); n > 0; --n) {
    Index offset = 0;
    for (int d = 0; d < x.rank(); ++d)
      offset += index[d] * x.strides()[d];
    f(offset, index);
    for (int d = x.rank() - 1; d >= 0 && ++index[d] == x.extent()[d]; --d)
      index[d] = 0;
  }
}

template <class T>
T converted(double value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::llround(value));
  return static_cast<T>(value);
}

} // namespace

void fillByIndex(DTensor& x, const std::function<double(Index)>& f) {
  visitDataType(x.dataType(), [&]<class T>(T) {
    const HostView<T> data(x);
    if (x.localElements() == 0)
      return; // this rank may have no position, of which to ask for indices
    std::vector<std::vector<Index>> global;
    for (int d = 0; d < x.rank(); ++d)
      global.push_back(globalIndices(x, d));
    const bool carries = carriesValue(x);
    forEachElement(x, [&](Index offset, const std::array<Index, kMaxRank>& index) {
      Index at = 0;
      bool inside = carries;
      for (int d = 0; d < x.rank(); ++d) {
        const Index g = global[d][index[d]];
        inside &= g >= 0;
        at = at * x.layout().shape()[d] + g;
      }
      data[offset] = inside ? converted<T>(f(at)) : T(0);
    });
  });
}

void fillConstant(DTensor& x, double value) {
  const Box carriers = carrierBox(x);
  const Shape extent = extents(carriers);
  Index offset = 0;
  for (int d = 0; d < x.rank(); ++d)
    offset += carriers[d].begin * x.strides()[d];
  // A kernel fills the box, on the device too; where some elements carry nothing they are cleared before.
  if (extent != x.extent())
    scaleArray(0, x);
  visitDataType(x.dataType(), [&]<class T>(T) {
    fillBlock(x.context(), x.rank(), extent.data(), converted<T>(value),
              x.mutableData<T>() + offset, x.strides().data());
  });
}

void fillUniform(DTensor& x, std::uint64_t seed, std::uint64_t stream, double low, double high) {
  fillByIndex(x, [=](Index i) { return low + (high - low) * uniformAt(seed, stream, i); });
}

void fillNormal(DTensor& x, std::uint64_t seed, std::uint64_t stream, double mean,
                double deviation) {
  fillByIndex(x, [=](Index i) { return mean + deviation * normalAt(seed, stream, i); });
}

void fillRaw(DTensor& x, std::uint64_t seed, bool integers) {
  visitDataType(x.dataType(), [&]<class T>(T) {
    const HostView<T> data(x);
    Index counter = 0;
    forEachElement(x, [&](Index offset, const auto&) {
      const double u =
          2 * uniformAt(seed, static_cast<std::uint64_t>(x.comm()->rank()), counter++) - 1;
      data[offset] = integers ? converted<T>(std::floor(8 * u)) : converted<T>(u);
    });
  });
}

} // namespace tenon
