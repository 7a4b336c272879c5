// SPDX-License-Identifier: BSD-2-Clause
// Convolutions, poolings and changes of resolution: members of ModelBuilder, which append operators
// to the canonical graph. Fields are [batch, channels, space...]; Windows has one number per
// spatial dimension s, which is dimension s + 2 of the field. If the input of a convolution is the
// result of a Pad, the convolution reads the unpadded value instead, and the padding becomes its
// boundary condition (withoutPadding()). With kernel k, stride t, dilation d and paddings low and
// high, n elements give
//   convolution, pooling      floor((n + low + high - d (k - 1) - 1) / t) + 1    (pooling: or ceil)
//   transposed convolution    (n - 1) t - low - high + d (k - 1) + 1 + outputPadding
//
// Class ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

void setWindows(ModelValue& result, const ModelBuilder::Windows& w) {
  result.kernel = w.kernel;
  result.stride = w.stride;
  result.dilation = w.dilation;
  result.low = w.low;
  result.high = w.high;
}

} // namespace

// Returns the spatial extents of the result.
std::vector<Index> ModelBuilder::outputs(Value x, const Windows& w, bool ceil) const {
  const auto spatial = static_cast<std::size_t>(x->ndim() - 2);
  for (const auto* list : {&w.kernel, &w.stride, &w.dilation, &w.low, &w.high})
    check(list->size() == spatial, "its windows have another number of dimensions than its input");
  std::vector<Index> extents;
  for (std::size_t s = 0; s < spatial; ++s) {
    const Index k = w.kernel[s], step = w.stride[s], spacing = w.dilation[s];
    for (const Index size : {k, step, spacing})
      check(size >= 1 && size < kMaxModelWindow, "a window's size is out of range");
    for (const Index size : {w.low[s], w.high[s]})
      check(size >= 0 && size < kMaxModelWindow, "a window's padding is out of range");
    const Index n = x->shape[s + 2], span = n + w.low[s] + w.high[s] - spacing * (k - 1) - 1;
    if (w.isTransposed) {
      const Index extra = w.outputPadding.empty() ? 0 : w.outputPadding[s];
      check(extra >= 0 && extra < kMaxModelWindow, "a window's padding is out of range");
      extents.push_back((n - 1) * step - w.low[s] - w.high[s] + spacing * (k - 1) + 1 + extra);
      continue;
    }
    if (span < 0)
      fail(fmt::format("its window of {} elements is larger than its input of {}",
                       spacing * (k - 1) + 1, n + w.low[s] + w.high[s]));
    Index count = (ceil ? (span + step - 1) / step : span / step) + 1;
    // A window that would begin in the high padding is dropped, as in PyTorch.
    if (ceil && (count - 1) * step >= n + w.low[s])
      --count;
    extents.push_back(count);
  }
  return extents;
}

// Removes the paddings that compute x and adds them to the window of the convolution that reads x,
// with their modes and value: modes[s] is "none" in a dimension without padding. Returns the
// unpadded value.
ModelBuilder::Value ModelBuilder::withoutPadding(Value x, Windows& w,
                                                 std::vector<std::string>& modes,
                                                 std::optional<double>& value) const {
  while (x->op == ModelOp::Pad && x->dim >= 2) {
    const auto s = static_cast<std::size_t>(x->dim - 2);
    check(w.low.size() == modes.size() && w.high.size() == modes.size(),
          "its windows have another number of dimensions than its input");
    bool canMerge = w.low[s] == 0 && w.high[s] == 0 && x->low[0] >= 0 && x->high[0] >= 0;
    // The window's own padding is by zeros and surrounds the earlier one, so it must be absent.
    for (std::size_t e = 0; e < modes.size(); ++e)
      canMerge = canMerge && !(modes[e] == "none" && (w.low[e] != 0 || w.high[e] != 0));
    const bool hasValue = x->modes[0] == "values" && x->padValue != 0.0;
    if (!canMerge || (hasValue && value && value != x->padValue))
      break;
    w.low[s] = x->low[0];
    w.high[s] = x->high[0];
    modes[s] = x->modes[0] == "values" && !hasValue ? "zero" : x->modes[0];
    if (hasValue)
      value = x->padValue;
    x = x->inputs[0];
  }
  return x;
}

ModelBuilder::Value ModelBuilder::convolution(Value x, Value weight, Value bias, Windows w) {
  check(x->ndim() >= 3 && x->ndim() <= 5 && weight->ndim() == x->ndim(),
        "a convolution needs an input [batch, channels, space...] and a weight of as many "
        "dimensions");
  w.kernel.assign(weight->shape.begin() + 2, weight->shape.end());
  check(w.groups >= 1 && w.groups <= x->shape[1] && x->shape[1] % w.groups == 0,
        "its groups do not divide its channels");
  const Index in = w.isTransposed ? weight->shape[0] : weight->shape[1] * w.groups;
  if (in != x->shape[1])
    fail(fmt::format("its weight [{}] is for {} channels, but its input has shape [{}]",
                     fmt::join(weight->shape, ","), in, fmt::join(x->shape, ",")));
  const Index channels = w.isTransposed ? weight->shape[1] * w.groups : weight->shape[0];
  check(!bias || bias->shape == Shape{channels},
        "its bias does not have one number for each channel");
  std::vector<std::string> modes(w.kernel.size(), "none");
  std::optional<double> value;
  if (!w.isTransposed)
    x = withoutPadding(x, w, modes, value);
  Shape shape = {x->shape[0], channels};
  for (const Index extent : outputs(x, w, /*ceil=*/false))
    shape.push_back(extent);
  // The layer's weight must be a parameter or computed from parameters only.
  if (!isWeight(weight) || (bias && !isWeight(bias)))
    return refuse("a convolution whose weight is computed from an input",
                  "a weight that is a parameter", shape);
  ModelValue* result = make(ModelOp::Convolution, {x, weight}, shape);
  if (bias)
    result->inputs.push_back(bias);
  setWindows(*result, w);
  result->outputPadding = w.outputPadding;
  result->groups = w.groups;
  result->isTransposed = w.isTransposed;
  result->modes = modes;
  result->padValue = value;
  return result;
}

ModelBuilder::Value ModelBuilder::pooling(Value x, Pool kind, const Windows& w, bool ceil) {
  check(x->ndim() >= 3 && x->ndim() <= 5, "a pooling needs an input [batch, channels, space...]");
  Shape shape = {x->shape[0], x->shape[1]};
  for (const Index extent : outputs(x, w, ceil))
    shape.push_back(extent);
  ModelValue* result = make(ModelOp::Pooling, {x}, shape);
  setWindows(*result, w);
  result->ceil = ceil;
  result->isMaximum = kind == Pool::Maximum;
  result->includesPadding = kind != Pool::AverageInside;
  return result;
}

ModelBuilder::Value ModelBuilder::adaptivePooling(Value x, const std::vector<Index>& size) {
  check(
      x->ndim() >= 3 && static_cast<int>(size.size()) == x->ndim() - 2,
      "a pooling needs an input [batch, channels, space...] and a size for each spatial dimension");
  // Pooling to one element is a mean over space.
  if (std::all_of(size.begin(), size.end(), [](Index n) { return n == 1; })) {
    std::vector<int> dims(size.size());
    std::iota(dims.begin(), dims.end(), 2);
    return reduce("mean", x, dims, /*keeps=*/true);
  }
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  return make(ModelOp::AdaptivePooling, {x}, shape);
}

ModelBuilder::Value ModelBuilder::resize(Value x, const std::vector<Index>& size, bool isLinear,
                                         bool alignsCorners) {
  check(x->ndim() >= 3 && static_cast<int>(size.size()) == x->ndim() - 2,
        "a change of resolution needs an input [batch, channels, space...] and as many sizes");
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  if (shape == x->shape)
    return x;
  ModelValue* result = make(ModelOp::Resize, {x}, shape);
  result->isLinear = isLinear;
  result->alignsCorners = alignsCorners;
  return result;
}

ModelBuilder::Value ModelBuilder::pixelShuffle(Value x, Index factor) {
  check(x->ndim() >= 3 && x->ndim() <= 5 && factor >= 1 && factor < 1024,
        "a pixel shuffle needs an input [batch, channels, space...]");
  Shape shape = x->shape;
  Index cells = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) {
    cells *= factor;
    shape[d] *= factor;
  }
  check(shape[1] % cells == 0, "the channels of a pixel shuffle are no multiple of its cells");
  shape[1] /= cells;
  ModelValue* result = make(ModelOp::PixelShuffle, {x}, shape);
  result->factor = factor;
  return result;
}

// Channels [r, r, c] become blocks of r x r pixels; pixelShuffle() is the same for channels [c, r,
// r].
ModelBuilder::Value ModelBuilder::depthToSpace(Value x, Index r) {
  check(x->ndim() == 4 && r >= 1 && r < 1024 && x->shape[1] % (r * r) == 0,
        "a change of depth to space needs an input [batch, channels, y, x] with a multiple of its "
        "cells of channels");
  const Index n = x->shape[0], c = x->shape[1] / (r * r), h = x->shape[2], w = x->shape[3];
  return reshape(transpose(reshape(x, {n, r, r, c, h, w}), {0, 3, 4, 1, 5, 2}),
                 {n, c, h * r, w * r});
}

// Blocks of r x r pixels become channels, in front of the original ones or after them.
ModelBuilder::Value ModelBuilder::spaceToDepth(Value x, Index r, bool blockFirst) {
  check(x->ndim() == 4 && r >= 1 && r < 1024 && x->shape[2] % r == 0 && x->shape[3] % r == 0,
        "a change of space to depth needs an input [batch, channels, y, x] of whole cells");
  const Index n = x->shape[0], c = x->shape[1], h = x->shape[2] / r, w = x->shape[3] / r;
  const std::vector<int> order =
      blockFirst ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4};
  return reshape(transpose(reshape(x, {n, c, h, r, w, r}), order), {n, c * r * r, h, w});
}

// The weight of a convolution in groups that makes each element of a window a channel: output i of
// `window` per group has the weight 1 for element i of its window, and 0 for the others. For
// windows of 2 elements and one channel these are the weights 1 0 and 0 1.
ModelBuilder::Value ModelBuilder::windowElements(Index channels, const std::vector<Index>& kernel) {
  check(!kernel.empty() && channels >= 1 &&
            std::ranges::all_of(kernel, [](Index k) { return k >= 1 && k < kMaxModelWindow; }),
        "its windows are out of range");
  const Index window = elements(kernel);
  spend(channels * window);
  spend(channels * window * window);
  Shape shape = {channels * window, 1};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  std::vector<double> numbers(static_cast<std::size_t>(elements(shape)), 0);
  for (Index i = 0; i < channels * window; ++i)
    numbers[static_cast<std::size_t>(i * window + i % window)] = 1;
  return constant(ModelConstant::ofNumbers(shape, std::move(numbers)));
}

ModelBuilder::Value ModelBuilder::unfolded(Value x, Windows windows) {
  check(x->shape.size() == windows.kernel.size() + 2, "its windows have other dimensions");
  windows.groups = x->shape[1];
  const Value weight = windowElements(windows.groups, windows.kernel);
  const Value y = convolution(x, weight, nullptr, std::move(windows));
  return reshape(y, {y->shape[0], y->shape[1],
                     elements(y->shape) / std::max(y->shape[0] * y->shape[1], Index(1))});
}

// The adjoint of unfolded(): adds the elements of windows, [n, channels * window, windows], to a
// field of this size where the windows overlap. It is a transposed convolution with the same
// weight; its output padding is for elements after the last window.
ModelBuilder::Value ModelBuilder::foldedWindows(Value x, const std::vector<Index>& size,
                                                Windows windows) {
  for (const std::vector<Index>* list :
       {&windows.kernel, &windows.stride, &windows.dilation, &windows.low, &windows.high})
    check(list->size() == size.size() &&
              std::ranges::all_of(*list, [](Index n) { return n >= 0 && n < kMaxModelWindow; }),
          "its windows are out of range");
  checkShape(size);
  checkShape(windows.kernel);
  const Index window = elements(windows.kernel);
  check(x->ndim() == 3 && size.size() == windows.kernel.size() && window >= 1 &&
            x->shape[1] >= window && x->shape[1] % window == 0,
        "it needs [n, channels * window, windows]");
  windows.groups = x->shape[1] / window;
  windows.isTransposed = true;
  Shape shape = {x->shape[0], x->shape[1]};
  for (std::size_t s = 0; s < size.size(); ++s) {
    // The last place, counted from 0, at which a window of this extent fits into the padded size.
    const Index extent = windows.dilation[s] * (windows.kernel[s] - 1) + 1,
                lastPlace = size[s] + windows.low[s] + windows.high[s] - extent;
    check(windows.stride[s] >= 1 && lastPlace >= 0, "its windows do not fit its size");
    shape.push_back(lastPlace / windows.stride[s] + 1);
    windows.outputPadding.push_back(lastPlace % windows.stride[s]);
  }
  check(elements(shape) == elements(x->shape), "it has another number of windows");
  const Value weight = windowElements(windows.groups, windows.kernel);
  return convolution(reshape(x, shape), weight, nullptr, std::move(windows));
}

} // namespace tenon
