// SPDX-License-Identifier: BSD-2-Clause
// Fills tensors by global index, on the host and element by element except for constants. Random
// numbers are counter-based, so that a value depends on its index and the seed alone, and any
// partition, halo or copy gets the same one.
#include "dtensor/fill.hpp"

#include "dtensor/host_view.hpp"
#include "geometry/layout/channel_runs.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "sys/random.hpp"

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// What an element holds along one dimension: the value of a global index with a sign; or index -1,
// none (beyond a boundary that copies nothing, or in a halo of partial sums or one that an index
// map fills).
struct Held {
  Index index;
  int sign = 1;
};

// For one dimension of this rank's box, in a layout with its boxes.
std::vector<Held> heldAlong(const DTensor& x, const Layout& layout, int dim) {
  const auto& halo = layout.halo(dim);
  const Interval box = x.box()[dim];
  const Interval owned = layout.owned(dim, layout.part(x.position(), dim));
  std::vector<Held> result;
  for (Index i = box.begin; i < box.end; ++i) {
    if (halo && !halo->isPartial && !halo->isLinked())
      result.push_back({extensionSource(i, layout.shape()[dim], halo->low, halo->high).value_or(-1),
                        extensionSign(i, layout.shape()[dim], halo->low, halo->high)});
    else
      result.push_back({i >= owned.begin && i < owned.end ? i : -1});
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

// The local elements that carry the value are a box, since those that do not are at the ends of a
// dimension.
Box carrierBox(const DTensor& x) {
  if (x.localElements() == 0 || !carriesValue(x))
    return Box(x.rank());
  Box box;
  for (int d = 0; d < x.rank(); ++d) {
    const std::vector<Held> global = heldAlong(x, x.layout(), d);
    const auto stands = [](const Held& held) { return held.index >= 0; };
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
    // Of each run of channels with boundary modes of its own; by channel, which run it is in.
    std::vector<std::vector<std::vector<Held>>> runs;
    std::vector<std::size_t> runOf(x.rank() > kChannelDim ? x.extent()[kChannelDim] : 0);
    forEachChannelRun(x.layout(), x.layout(), [&](const Layout& layout, const Layout&, auto run) {
      if (run)
        for (Index c = 0; c < x.extent()[kChannelDim]; ++c)
          if (const Index channel = x.box()[kChannelDim].begin + c;
              channel >= run->begin && channel < run->end)
            runOf[c] = runs.size();
      runs.emplace_back();
      for (int d = 0; d < x.rank(); ++d)
        runs.back().push_back(heldAlong(x, layout, d));
    });
    const bool carries = carriesValue(x);
    forEachElement(x, [&](Index offset, const std::array<Index, kMaxRank>& index) {
      Index at = 0;
      int sign = 1;
      bool inside = carries;
      const auto& global = runs[runs.size() == 1 ? 0 : runOf[index[kChannelDim]]];
      for (int d = 0; d < x.rank(); ++d) {
        const Held& held = global[d][index[d]];
        inside &= held.index >= 0;
        sign *= held.sign;
        at = at * x.layout().shape()[d] + held.index;
      }
      data[offset] = inside ? converted<T>(sign * f(at)) : T(0);
    });
  });
}

namespace {

// Whether a constant has other values in a halo, or values in some channels alone.
bool variesInHalos(const DTensor& x) {
  if (x.layout().hasModesByChannel())
    return true;
  const auto odd = [](Boundary mode) {
    return mode == Boundary::Odd || mode == Boundary::OddPoint;
  };
  for (int d = 0; d < x.rank(); ++d)
    if (const auto& halo = x.layout().halo(d); halo && (odd(halo->low) || odd(halo->high)))
      return true;
  return false;
}

} // namespace

void fillConstant(DTensor& x, double value) {
  if (variesInHalos(x)) // beyond an odd wall the constant changes its sign
    return fillByIndex(x, [=](Index) { return value; });
  const Box carriers = carrierBox(x);
  const Shape extent = extents(carriers);
  Index offset = 0;
  for (int d = 0; d < x.rank(); ++d)
    offset += carriers[d].begin * x.strides()[d];
  // A kernel fills the box, on the device too; where some elements carry nothing they are cleared
  // before.
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
