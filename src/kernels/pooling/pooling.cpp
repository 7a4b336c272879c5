// SPDX-License-Identifier: BSD-2-Clause
// Checks the shape of a pooling and selects the implementation by backend; the one for the device
// is in this file, the ones for the host are in loops.cpp, tiles.cpp, reference.cpp and onednn.cpp.
// Maxima are never computed by libraries, since those ignore NaN instead of propagating it.
#include "kernels/pooling/pooling.hpp"

#include "kernels/functors/pooling.hpp"
#include "kernels/pooling/backends.hpp"
#include "kernels/walks/each.hpp"
#include "kernels/walks/slices.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace tenon {

namespace {

// A mean that counts padding must count at least one element.
void checkWindowsCount(const WindowShape& w) {
  for (int d = 0; d < w.rank; ++d)
    if (w.out[d] > 0 && tapsBeforeEnd(w, d, w.out[d] - 1) < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the pooling window of output {} in spatial dimension {} begins "
                              "after the padding, which ends at {}, so that its average has no "
                              "elements; use floor mode or less padding",
                              w.out[d] - 1, d, w.padEnd[d]));
}

// A maximum, or a mean that excludes padding, needs at least one input in each window.
void checkWindowsRead(const WindowShape& w) {
  for (int d = 0; d < w.rank; ++d)
    for (Index o = 0; o < w.out[d]; ++o) {
      const Range taps = tapsInside(w, d, o);
      if (taps.begin < taps.end)
        continue;
      throw Error(
          TENON_ERR_ARG,
          fmt::format("the pooling window of output {} in spatial dimension {} covers only padding "
                      "(input {}, kernel {}, stride {}, dilation {}, low padding {}); use less "
                      "padding than the kernel size, or the average that includes padding",
                      o, d, w.in[d], w.kernel[d], w.stride[d], w.dilation[d], w.padLow[d]));
    }
}

void checkShape(const PoolingShape& shape) {
  checkWindow(shape.window);
  if (shape.planes < 0)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of pooling planes is {}; it must be >= 0", shape.planes));
  if (shape.mode == PoolingMode::AverageIncludePad)
    return checkWindowsCount(shape.window);
  if (shape.planes > 0 && outputVolume(shape.window) > 0)
    checkWindowsRead(shape.window);
  if (shape.mode == PoolingMode::Max &&
      inputVolume(shape.window) > std::numeric_limits<std::int32_t>::max())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format(
            "a pooling plane has {} elements; the maximum is {}; split the plane over more ranks",
            inputVolume(shape.window), std::numeric_limits<std::int32_t>::max()));
}

// Pooling on the device. In the adjoint each input gathers from the windows that read it, so no two
// threads add to one element.

using functors::PoolingPlanes;
using functors::PoolingWinner;

// The window in 32-bit numbers, as an argument of the functors.
PoolingPlanes planesOf(const WindowShape& w) {
  PoolingPlanes p;
  const auto number = [](Index i) { return static_cast<PoolingPlanes::Number>(i); };
  for (int d = 0; d < kMaxSpatial; ++d) {
    // A stride or dilation can exceed 32 bits only if it is not used: with a single output or a
    // single tap. It is limited here.
    const Index stride = std::min(w.stride[d], kMaxWalkedElements);
    const Index dilation = std::min(w.dilation[d], kMaxWalkedElements);
    const Index end = (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    checkElementCount(std::max(w.in[d], end) + std::abs(w.padLow[d]),
                      "the padded input of a pooling");
    p.in[d] = number(w.in[d]);
    p.out[d] = number(w.out[d]);
    p.kernel[d] = number(w.kernel[d]);
    p.stride[d] = number(stride);
    p.dilation[d] = number(dilation);
    p.padLow[d] = number(w.padLow[d]);
    // Limited to the padded input, which contains all taps. So the counts do not change, and the
    // number fits into 32 bits, which kNoEnd does not.
    p.padEnd[d] = number(std::max(std::min(w.padEnd[d], end - w.padLow[d]), -w.padLow[d]));
    p.perIn[d] = divisorOf(w.in[d]);
    p.perOut[d] = divisorOf(w.out[d]);
    p.perStride[d] = divisorOf(stride);
    p.perDilation[d] = divisorOf(dilation);
  }
  p.inVolume = number(inputVolume(w));
  p.outVolume = number(outputVolume(w));
  return p;
}

// Tiles of MaxPoolAdjoint along a dimension. Their extent is the stride of the window: the same
// windows then read all inputs of a tile. Window o begins at input o stride - padLow, and tile t at
// t extent - shift; with shift = padLow mod extent, tile t begins where window o = t + ahead does,
// ahead = (padLow - shift) / extent. For long strides the extent is fixed, which bounds the work
// per thread: 4 inputs of a row, and 1 in the other dimensions. This is correct too, since each
// input is compared with the winners of all windows that span its tile.
struct PoolingTiles {
  Index extent, shift, count;
};
PoolingTiles tilesOf(const WindowShape& w, int d) {
  constexpr Index kLong = 4;
  const Index extent = w.stride[d] <= kLong ? w.stride[d] : d == kMaxSpatial - 1 ? kLong : 1;
  const Index shift = (w.padLow[d] % extent + extent) % extent;
  return {extent, shift, (w.in[d] + shift + extent - 1) / extent};
}

template <class T>
class DevicePooling final : public Pooling<T> {
public:
  DevicePooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), planes_(planesOf(embedWindow(shape.window))),
        mode_(shape.mode), count_(shape.planes), window_(embedWindow(shape.window)) {
    checkElementCount(std::max(inputVolume(window_), outputVolume(window_)),
                      "a plane of a pooling");
  }

  Index workspaceBytes() const override {
    return isMax() ? count_ * planes_.outVolume * Index(sizeof(PoolingWinner)) : 0;
  }
  void forward(const T* x, T* y, void* workspace) override {
    forEachPart(
        x, y, static_cast<PoolingWinner*>(workspace),
        [this](Index planes, const T* in, T* out, PoolingWinner* winners) {
          if (isMax())
            walk(planes * planes_.outVolume, functors::MaxPool<T>{planes_, in, out, winners});
          else
            walk(planes * planes_.outVolume,
                 functors::AveragePool<T>{planes_, includesPad(), in, out});
        });
  }
  void adjoint(const T* dy, const void* workspace, T* dx) override {
    forEachPart(dx, dy, static_cast<const PoolingWinner*>(workspace),
                [this](Index planes, T* in, const T* out, const PoolingWinner* winners) {
                  if (isMax())
                    maximaAdjoint(planes, out, winners, in);
                  else
                    walk(planes * planes_.inVolume,
                         functors::AveragePoolAdjoint<T>{planes_, includesPad(), out, in});
                });
  }
  void tangent(const T* dx, const void* workspace, T* dy) override {
    forEachPart(dx, dy, static_cast<const PoolingWinner*>(workspace),
                [this](Index planes, const T* in, T* out, const PoolingWinner* winners) {
                  if (isMax())
                    walk(planes * planes_.outVolume,
                         functors::MaxPoolTangent<T>{planes_, in, winners, out});
                  else
                    walk(planes * planes_.outVolume,
                         functors::AveragePool<T>{planes_, includesPad(), in, out});
                });
  }
  // The name of Tenon's own loops, as on the host: no library is used.
  Backend backend() const override { return Backend::Blas; }

private:
  bool isMax() const { return mode_ == PoolingMode::Max; }
  bool includesPad() const { return mode_ == PoolingMode::AverageIncludePad; }
  template <class F>
  void walk(Index n, const F& f) {
    if constexpr (kHasDevice)
      device::eachElement(context_->stream(), n, f);
  }
  // Calls body(number of planes, inputs, outputs, winners) for parts that one kernel can index.
  template <class In, class Out, class Winner, class Body>
  void forEachPart(In* in, Out* out, Winner* winners, const Body& body) {
    const Index ins = planes_.inVolume, outs = planes_.outVolume;
    forEachRange(count_, std::max(ins, outs), [&](Index first, Index planes) {
      body(planes, in + first * ins, out + first * outs,
           winners ? winners + first * outs : nullptr);
    });
  }
  void maximaAdjoint(Index planes, const T* dy, const PoolingWinner* winners, T* dx) {
    functors::MaxPoolAdjoint<T> tiles{.planes = planes_,
                                      .tile = {},
                                      .shift = {},
                                      .perTile = {},
                                      .isOne = 1,
                                      .ahead = {},
                                      .dy = dy,
                                      .winners = winners,
                                      .dx = dx};
    Index count = planes_.inVolume > 0 ? planes : 0; // then tiles
    for (int d = 0; d < kMaxSpatial; ++d) {
      const PoolingTiles along = tilesOf(window_, d);
      tiles.tile[d] = static_cast<PoolingWinner>(along.extent);
      tiles.shift[d] = static_cast<PoolingWinner>(along.shift);
      tiles.perTile[d] = divisorOf(along.count);
      tiles.ahead[d] = static_cast<PoolingWinner>((window_.padLow[d] - along.shift) / along.extent);
      // If no tap of a window reaches the next tile, a tile is a window and the gap behind it.
      const bool isWindow = along.extent == window_.stride[d] &&
                            (window_.kernel[d] - 1) * window_.dilation[d] < along.extent;
      tiles.isOne &= isWindow ? 1 : 0;
      count *= along.count;
    }
    walk(count, tiles);
  }

  KernelContextPtr context_;
  PoolingPlanes planes_;
  PoolingMode mode_;
  Index count_; // number of planes
  WindowShape window_;
};

} // namespace

template <class T>
std::unique_ptr<Pooling<T>> makePooling(const PoolingShape& shape, Backend backend,
                                        KernelContextPtr context) {
  checkShape(shape);
  // The device has one implementation for all of its backends.
  const Backend chosen = resolveBackend<T>(backend, context ? context->space() : Space::Host);
  if (context && context->space() == Space::Device)
    return std::make_unique<DevicePooling<T>>(shape, std::move(context));
  if (chosen == Backend::Reference)
    return makeReferencePooling<T>(shape);
  if constexpr (std::is_same_v<T, float>)
    if (chosen == Backend::OneDnn && oneDnnPools(shape))
      return makeOneDnnPooling(shape, contextOrOwn(std::move(context)));
  if (isTiled(shape))
    return makeTilePooling<T>(shape, contextOrOwn(std::move(context)));
  return makeLoopPooling<T>(shape, contextOrOwn(std::move(context)));
}

template std::unique_ptr<Pooling<float>> makePooling<float>(const PoolingShape&, Backend,
                                                            KernelContextPtr);
template std::unique_ptr<Pooling<double>> makePooling<double>(const PoolingShape&, Backend,
                                                              KernelContextPtr);

} // namespace tenon
