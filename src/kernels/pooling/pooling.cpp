// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/pooling/pooling.hpp"

#include "kernels/pooling/backends.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <type_traits>

namespace tenon {

namespace {

void checkWindowsCount(const WindowShape& w) {
  for (int d = 0; d < w.rank; ++d)
    if (w.out[d] > 0 && tapsBeforeEnd(w, d, w.out[d] - 1) < 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the pooling window of output {} in spatial dimension {} begins "
                              "after the padding, which ends at {}, so that its average has no "
                              "elements; use floor mode or less padding",
                              w.out[d] - 1, d, w.padEnd[d]));
}

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

} // namespace

template <class T>
std::unique_ptr<Pooling<T>> makePooling(const PoolingShape& shape, Backend backend,
                                        KernelContextPtr context) {
  checkShape(shape);
  const Backend chosen = resolveBackend<T>(backend, context ? context->space() : Space::Host);
  if (context && context->space() == Space::Device)
    return makeDevicePooling<T>(shape, std::move(context));
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
