// SPDX-License-Identifier: BSD-2-Clause
// Fills tensors by global index, on the host and element by element except for constants. Random
// numbers are counter-based: a value depends only on its index and the seed, and is the same in any
// partition, halo or copy.
#include "dtensor/fill.hpp"

#include "dtensor/host_view.hpp"
#include "geometry/layout/channel_runs.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "sys/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// The source of an element along one dimension: a global index and a sign, or index -1 for a zero
// (beyond a boundary without values, or in a halo of partial sums or one that an index map fills).
struct ElementSource {
  Index index;
  int sign = 1;
  bool crossed = false; // The element is beyond a pole, where the longitudes are shifted.
};

// The sources along one dimension of this rank's box.
std::vector<ElementSource> sourcesAlong(const DTensor& x, const Layout& layout, int dim) {
  const auto& halo = layout.halo(dim);
  const Interval box = x.box()[dim];
  const Interval owned = layout.owned(dim, layout.part(x.position(), dim));
  std::vector<ElementSource> result;
  // A shift is that of the longitudes beyond a pole, a periodic dimension without signs.
  const Index extent = layout.shape()[dim], shift = halo ? halo->shift : 0;
  for (Index i = box.begin; i < box.end; ++i) {
    if (halo && !halo->isPartial && !halo->isLinked())
      result.push_back({extensionSource(i + shift, extent, halo->low, halo->high).value_or(-1),
                        extensionSign(i, extent, halo->low, halo->high),
                        crossesPole(i, extent, halo->low, halo->high)});
    else
      result.push_back({i >= owned.begin && i < owned.end ? (i + shift) % extent : -1});
  }
  return result;
}

// The sources along all dimensions of channels with equal boundary modes. Where the elements are
// beyond a pole, the longitudes have other sources.
struct RunSources {
  std::vector<std::vector<ElementSource>> along; // [dimension][local index]
  int longitudes = -1;                           // None without poles.
  std::vector<ElementSource> crossed = {};       // [local index of the longitudes]

  RunSources(const DTensor& x, const Layout& layout) {
    for (int d = 0; d < x.ndim(); ++d) {
      along.push_back(sourcesAlong(x, layout, d));
      if (const auto& halo = layout.halo(d); halo && halo->hasPole() && !halo->isPartial)
        longitudes = halo->longitudes;
    }
    if (longitudes >= 0)
      crossed = sourcesAlong(x, layout.withPoleTerm(true), longitudes);
  }
  const ElementSource& at(int dim, const std::array<Index, kMaxDims>& index) const {
    return dim == longitudes && isCrossed(index) ? crossed[index[dim]] : along[dim][index[dim]];
  }

private:
  bool isCrossed(const std::array<Index, kMaxDims>& index) const {
    for (std::size_t d = 0; d < along.size(); ++d)
      if (along[d][index[d]].crossed)
        return true;
    return false;
  }
};

// Of the partial sums along a P axis, the one on coordinate 0 has the value.
bool carriesValue(const DTensor& x) {
  const Layout& layout = x.layout();
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if (layout.property(axis).isPartial() && layout.grid().coordinate(x.position(), axis) != 0)
      return false;
  return true;
}

// The local elements with a value are a box, since elements without one are at the ends of a
// dimension.
Box carrierBox(const DTensor& x) {
  if (x.localElements() == 0 || !carriesValue(x))
    return Box(x.ndim());
  Box box;
  for (int d = 0; d < x.ndim(); ++d) {
    const std::vector<ElementSource> sources = sourcesAlong(x, x.layout(), d);
    const auto hasValue = [](const ElementSource& source) { return source.index >= 0; };
    const Index begin = std::ranges::find_if(sources, hasValue) - sources.begin();
    box.push_back({begin, begin + std::ranges::count_if(sources, hasValue)});
  }
  return box;
}

// Calls f(offset in the local array, local index) for every element.
template <class F>
void forEachElement(const DTensor& x, F f) {
  std::array<Index, kMaxDims> index{};
  for (Index n = x.localElements(); n > 0; --n) {
    Index offset = 0;
    for (int d = 0; d < x.ndim(); ++d)
      offset += index[d] * x.strides()[d];
    f(offset, index);
    for (int d = x.ndim() - 1; d >= 0 && ++index[d] == x.extent()[d]; --d)
      index[d] = 0;
  }
}

template <class T>
T converted(double value) {
  if constexpr (std::is_integral_v<T>) {
    const double rounded = std::round(value);
    if (!fitsInto(dataTypeOf<T>(), rounded))
      throw Error(TENON_ERR_ARG, fmt::format("the value {} does not fit into {}", value,
                                             dataTypeName(dataTypeOf<T>())));
    return static_cast<T>(rounded);
  }
  return static_cast<T>(value);
}

} // namespace

void fillByIndex(DTensor& x, const std::function<double(Index)>& f) {
  visitDataType(x.dataType(), [&]<class T>(T) {
    const HostView<T> data(x);
    if (x.localElements() == 0)
      return; // A rank outside the grid has no position.
    // Boundary modes can differ between ranges of channels (runs), for example for the components
    // of a vector at a wall. The sources of each run, and the run of each local channel:
    std::vector<RunSources> runs;
    std::vector<std::size_t> runOf(x.ndim() > kChannelDim ? x.extent()[kChannelDim] : 0);
    forEachChannelRun(x.layout(), x.layout(), [&](const Layout& layout, const Layout&, auto run) {
      if (run)
        for (Index c = 0; c < x.extent()[kChannelDim]; ++c)
          if (const Index channel = x.box()[kChannelDim].begin + c;
              channel >= run->begin && channel < run->end)
            runOf[c] = runs.size();
      runs.emplace_back(x, layout);
    });
    const bool hasValues = carriesValue(x);
    forEachElement(x, [&](Index offset, const std::array<Index, kMaxDims>& index) {
      Index globalIndex = 0;
      int sign = 1;
      bool inside = hasValues;
      const RunSources& sources = runs[runs.size() == 1 ? 0 : runOf[index[kChannelDim]]];
      for (int d = 0; d < x.ndim(); ++d) {
        const ElementSource& source = sources.at(d, index);
        inside &= source.index >= 0;
        sign *= source.sign;
        globalIndex = globalIndex * x.layout().shape()[d] + source.index;
      }
      data[offset] = inside ? converted<T>(sign * f(globalIndex)) : T(0);
    });
  });
}

namespace {

// True if a constant has another value in a halo, or depends on the channel there.
bool variesInHalos(const DTensor& x) {
  if (x.layout().hasModesByChannel())
    return true;
  const auto odd = [](Boundary mode) {
    return mode == Boundary::Odd || mode == Boundary::OddPoint || mode == Boundary::PoleVector ||
           mode == Boundary::PolePointVector;
  };
  for (int d = 0; d < x.ndim(); ++d)
    if (const auto& halo = x.layout().halo(d); halo && (odd(halo->low) || odd(halo->high)))
      return true;
  return false;
}

} // namespace

void fillConstant(DTensor& x, double value) {
  // Beyond an odd wall, and for vectors beyond a pole, the constant changes its sign.
  if (variesInHalos(x))
    return fillByIndex(x, [=](Index) { return value; });
  const Box carriers = carrierBox(x);
  const Shape extent = extents(carriers);
  Index offset = 0;
  for (int d = 0; d < x.ndim(); ++d)
    offset += carriers[d].begin * x.strides()[d];
  // A kernel fills the box, also on the device; elements without a value are cleared before.
  if (extent != x.extent())
    scaleArray(0, x);
  visitDataType(x.dataType(), [&]<class T>(T) {
    fillBlock(x.context(), x.ndim(), extent.data(), converted<T>(value),
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

// Numbers in [-1, 1), or integers from -8 to 7, for which sums in floating point are exact.
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
