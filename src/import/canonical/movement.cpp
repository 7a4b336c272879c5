// SPDX-License-Identifier: BSD-2-Clause
// Operators that rearrange or join elements by whole dimensions: transpose, reshape, slice, pad,
// concatenate, expand, tile. The methods are members of ModelBuilder, which append values to the
// canonical graph. Two of the same kind in a row are merged into one. For a constant only its
// recipe changes (how it is assembled from tensors of the file, model_constant.hpp), so the numbers
// need not be read. Most methods therefore have the same cases in the same order: nothing to do, a
// constant, a value of zeros, a complex value (which is stored as pairs of real numbers), a merge,
// a new value.
//
// make() appends a value to the graph, fold() reads the numbers of a constant, and the functions
// that patterns.cpp defines (groupedNorm(), paddedByZeros(), ...) recognize several operators that
// are one.
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr Index kMaxCopies = 4096; // repetitions of a dimension whose extent is not 1

} // namespace

// Dimension i of the result is dimension permutation[i] of x, as in numpy.
ModelBuilder::Value ModelBuilder::transpose(Value x, std::vector<int> permutation) {
  check(static_cast<int>(permutation.size()) == x->ndim(),
        "it permutes another number of dimensions");
  std::vector<bool> seen(permutation.size(), false);
  for (int& d : permutation) {
    d = dimension(d, x->ndim());
    check(!seen[static_cast<std::size_t>(d)], "it permutes a dimension twice");
    seen[static_cast<std::size_t>(d)] = true;
  }
  if (x->isConstant())
    return constant(x->asConstant().transposed(permutation));
  if (x->op == ModelOp::Complex) {
    permutation.push_back(x->ndim());
    return complex(transpose(x->inputs[0], permutation));
  }
  if (std::is_sorted(permutation.begin(), permutation.end()))
    return x;
  if (x->op == ModelOp::Transpose) {
    for (int& d : permutation)
      d = x->dims[static_cast<std::size_t>(d)];
    return transpose(x->inputs[0], permutation);
  }
  Shape shape;
  for (const int d : permutation)
    shape.push_back(x->shape[static_cast<std::size_t>(d)]);
  ModelValue* result = make(ModelOp::Transpose, {x}, shape);
  result->dims = permutation;
  return result;
}

// One extent may be -1: it follows from the number of elements.
ModelBuilder::Value ModelBuilder::reshape(Value x, std::vector<Index> shape) {
  check(std::count(shape.begin(), shape.end(), -1) <= 1, "a reshape has two open extents");
  if (const auto unknownExtent = std::find(shape.begin(), shape.end(), -1);
      unknownExtent != shape.end()) {
    *unknownExtent = 1;
    checkShape(shape);
    const Index knownElements = elements(shape);
    check(knownElements > 0 && elements(x->shape) % knownElements == 0,
          "a reshape does not fit the value");
    *unknownExtent = elements(x->shape) / knownElements;
  }
  checkShape(shape);
  if (elements(shape) != elements(x->shape))
    misfit(fmt::format("a reshape of [{}] to [{}] changes the number of elements",
                       fmt::join(x->shape, ","), fmt::join(shape, ",")));
  if (shape == x->shape)
    return x;
  if (x->isConstant()) {
    if (const auto result = x->asConstant().reshaped(shape))
      return constant(*result);
    if (x->isKnown())
      return constant(reshapedNumbers(fold(x), shape));
  }
  if (const Value grouped = groupedNorm(x, shape))
    return grouped;
  if (x->op == ModelOp::Reshape)
    return reshape(x->inputs[0], shape);
  if (x->op == ModelOp::Zeros)
    return zeros(shape);
  if (x->op == ModelOp::Complex) {
    shape.push_back(2);
    return complex(reshape(x->inputs[0], shape));
  }
  return make(ModelOp::Reshape, {x}, shape);
}

// x[begin:end:step] of one dimension as in numpy: negative positions count from the end, and
// positions outside the dimension are clamped.
ModelBuilder::Value ModelBuilder::slice(Value x, int dim, Index begin, Index end, Index step) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const Index n = x->shape[d];
  check(step != 0, "a slice has step 0");
  if (step < 0) {
    check(step > -kMaxModelWindow, "a slice has a step that is too large");
    begin = std::clamp(begin < 0 ? begin + n : begin, Index(-1), n - 1);
    // As in numpy, an end below -n means "down to and including element 0".
    end = std::clamp(end < 0 && end >= -n ? end + n : end, Index(-1), n);
    if (x->isKnown())
      return constant(slicedNumbers(fold(x), static_cast<int>(d), begin, end, step));
    if (begin <= end)
      return slice(x, dim, 0, 0);
    // The same elements with a positive step, then reversed.
    return flip(slice(x, dim, begin + (begin - end - 1) / -step * step, begin + 1, -step), dim);
  }
  check(step < kMaxModelWindow, "a slice has a step that is too large");
  begin = std::clamp(begin < 0 ? begin + n : begin, Index(0), n);
  end = std::clamp(end < 0 ? end + n : end, begin, n);
  Shape shape = x->shape;
  shape[d] = (end - begin + step - 1) / step;
  // The whole dimension: nothing to do.
  if (shape[d] == n)
    return x;
  if (x->isConstant()) {
    if (const auto result = x->asConstant().sliced(static_cast<int>(d), begin, end, step))
      return constant(*result);
    if (x->isKnown())
      return constant(slicedNumbers(fold(x), static_cast<int>(d), begin, end, step));
  }
  if (x->op == ModelOp::Zeros)
    return zeros(shape);
  if (x->op == ModelOp::Complex)
    return complex(slice(x->inputs[0], static_cast<int>(d), begin, end, step));
  if (x->isComplex() && step == 1)
    if (const Value part = sliceOfSpectrum(x, static_cast<int>(d), begin, end))
      return part;
  // Slicing a concatenation or padding along its dimension needs only some of its parts.
  if (step == 1 && x->dim == static_cast<int>(d))
    if (const Value part = partOfJoined(x, begin, end))
      return part;
  ModelValue* result = make(ModelOp::Slice, {x}, shape);
  result->dim = static_cast<int>(d);
  result->begin = begin;
  result->end = end;
  result->step = step;
  return result;
}

// Slices a padded or concatenated value along its dimension by slicing its parts. Returns null if
// the whole value must be computed first.
ModelBuilder::Value ModelBuilder::partOfJoined(Value x, Index begin, Index end) {
  const auto d = static_cast<std::size_t>(x->dim);
  if (x->op == ModelOp::Concatenate) {
    ModelValues parts;
    Index before = 0;
    for (const Value piece : x->inputs) {
      const Index n = piece->shape[d], first = std::clamp(begin - before, Index(0), n),
                  last = std::clamp(end - before, Index(0), n);
      if (first < last)
        parts.push_back(slice(piece, x->dim, first, last));
      before += n;
    }
    return parts.empty() ? nullptr : concatenate(parts, x->dim);
  }
  if (x->op != ModelOp::Pad)
    return nullptr;
  const Index low = x->low[0], n = x->inputs[0]->shape[d];
  // Exporters pad and then cut the padding off.
  if (begin == low && end == low + n)
    return x->inputs[0];
  if (x->modes[0] != "values" || x->padValue != 0.0 || begin == end)
    return nullptr;
  const Index first = std::clamp(begin - low, Index(0), n),
              last = std::clamp(end - low, Index(0), n);
  if (first < last)
    return pad(slice(x->inputs[0], x->dim, first, last), x->dim, std::max(low - begin, Index(0)),
               std::max(end - low - n, Index(0)), "values");
  Shape shape = x->shape;
  shape[d] = end - begin;
  return zeros(shape);
}

ModelBuilder::Value ModelBuilder::zeros(const Shape& shape) {
  return make(ModelOp::Zeros, {}, shape);
}

// x with elements [begin, end) of one dimension replaced by `part`.
ModelBuilder::Value ModelBuilder::replaced(Value x, int dim, Index begin, Index end, Value part) {
  const Index n = x->shape[static_cast<std::size_t>(dimension(dim, x->ndim()))];
  ModelValues parts;
  if (begin > 0)
    parts.push_back(slice(x, dim, 0, begin));
  parts.push_back(part);
  if (end < n)
    parts.push_back(slice(x, dim, end, n));
  const Value result = concatenate(parts, dim);
  check(result->shape == x->shape, "what it writes has another shape");
  return result;
}

// The new elements are spread by zeros between them, and chosen by constant flags.
ModelBuilder::Value ModelBuilder::replacedEvery(Value x, int dim, Index begin, Index end,
                                                Index step, Value part) {
  if (step == 1)
    return replaced(x, dim, begin, end, part);
  const int d = dimension(dim, x->ndim());
  const auto at = static_cast<std::size_t>(d);
  const Index n = x->shape[at], count = end > begin ? (end - begin + step - 1) / step : 0;
  Shape shape = x->shape;
  shape[at] = count;
  check(step > 1 && step < kMaxModelWindow && begin >= 0 && end <= n && part->shape == shape,
        "what it writes has another shape");
  if (count == 0)
    return x;
  Shape apart = shape, flagShape(x->shape.size(), 1);
  apart.insert(apart.begin() + d + 1, 1);
  shape[at] = count * step;
  flagShape[at] = n;
  std::vector<double> flags(static_cast<std::size_t>(n), 0);
  for (Index i = begin; i < end; i += step)
    flags[static_cast<std::size_t>(i)] = 1;
  const Value spread = reshape(pad(reshape(part, apart), d + 1, 0, step - 1, "values"), shape);
  return where(constant(ModelConstant::ofNumbers(flagShape, std::move(flags))),
               pad(spread, d, begin, n - begin - count * step, "values"), x);
}

// Adds `low` elements in front of one dimension and `high` after it. Their values are `value` in
// mode "values", otherwise the mode is that of a boundary, such as "periodic" or "reflect".
ModelBuilder::Value ModelBuilder::pad(Value x, int dim, Index low, Index high,
                                      const std::string& mode, double value) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  if (low == 0 && high == 0)
    return x;
  check(std::abs(low) < kMaxModelWindow && std::abs(high) < kMaxModelWindow,
        "a padding is too large");
  // A negative padding is a slice.
  if (low < 0 || high < 0) {
    x = slice(x, static_cast<int>(d), std::max(-low, Index(0)),
              x->shape[d] - std::max(-high, Index(0)));
    return pad(x, static_cast<int>(d), std::max(low, Index(0)), std::max(high, Index(0)), mode,
               value);
  }
  Shape shape = x->shape;
  shape[d] += low + high;
  if (mode == "values" && !std::isfinite(value)) { // the layer's constant is finite
    check(shape[d] <= kMaxModelNumbers, "a padding is too large");
    Shape flagsShape(shape.size() - d, 1);
    flagsShape[0] = shape[d];
    std::vector<double> flags(static_cast<std::size_t>(shape[d]), 0);
    std::fill_n(flags.begin() + low, x->shape[d], 1.0);
    return where(constant(ModelConstant::ofNumbers(flagsShape, std::move(flags))),
                 pad(x, static_cast<int>(d), low, high, mode), number(value));
  }
  // The layer has at most three dimensions of space. Other dimensions are merged.
  constexpr std::size_t kMaxDimensions = 5, kFirstSpatial = 2;
  if (!x->isComplex() &&
      shape.size() + kFirstSpatial - std::min(d, kFirstSpatial) > kMaxDimensions) {
    const auto at = x->shape.begin() + static_cast<std::ptrdiff_t>(d);
    const Value merged = reshape(
        x, {elements(Shape(x->shape.begin(), at)), *at, elements(Shape(at + 1, x->shape.end()))});
    return reshape(pad(merged, 1, low, high, mode, value), shape);
  }
  ModelValue* result = make(ModelOp::Pad, {x}, shape);
  result->dim = static_cast<int>(d);
  result->low = {low};
  result->high = {high};
  result->modes = {mode};
  result->padValue = value;
  return result;
}

ModelBuilder::Value ModelBuilder::concatenate(ModelValues values, int dim) {
  check(!values.empty(), "it concatenates nothing");
  const auto d = static_cast<std::size_t>(dimension(dim, values[0]->ndim()));
  Shape shape = values[0]->shape;
  shape[d] = 0;
  for (const Value value : values) { // the extents in the other dimensions must be equal
    Shape partShape = value->shape;
    check(partShape.size() == shape.size(), "it concatenates values of different dimensions");
    shape[d] += partShape[d];
    checkShape(shape);
    partShape[d] = shape[d];
    check(partShape == shape, "it concatenates values whose other extents differ");
  }
  // Empty parts contribute nothing.
  if (shape[d] > 0)
    std::erase_if(values, [&](Value value) { return value->shape[d] == 0; });
  if (values.size() == 1)
    return values[0];
  if (std::all_of(values.begin(), values.end(), [](Value v) { return v->isConstant(); })) {
    std::vector<ModelConstant> parts;
    for (const Value value : values)
      parts.push_back(value->asConstant());
    if (const auto result = ModelConstant::concatenated(parts, static_cast<int>(d)))
      return constant(*result);
    if (std::all_of(values.begin(), values.end(), [](Value v) { return v->isKnown(); })) {
      for (std::size_t i = 0; i < values.size(); ++i)
        parts[i] = fold(values[i]);
      return constant(joinedNumbers(parts, static_cast<int>(d)));
    }
  }
  if (const Value padded = paddedByZeros(values, static_cast<int>(d)))
    return padded;
  // Parts of a spectrum stay apart, because products of modes need them.
  const bool isSpectrum = std::ranges::any_of(values, [](Value v) { return v->isComplex(); });
  if (const Value padded = isSpectrum ? nullptr : foldedPadding(values, static_cast<int>(d)))
    return padded;
  if (const Value rolled = isSpectrum ? nullptr : foldedRoll(values, static_cast<int>(d)))
    return rolled;
  ModelValue* result = make(ModelOp::Concatenate, values, shape);
  result->dim = static_cast<int>(d);
  return result;
}

// Extents of -1 keep the extent of x.
ModelBuilder::Value ModelBuilder::expand(Value x, std::vector<Index> shape) {
  for (Index& extent : shape)
    extent = extent < 0 ? 1 : extent;
  const Shape expanded = broadcast(x->shape, shape);
  checkShape(expanded);
  if (expanded == x->shape)
    return x;
  // A value that is trained stays a value: a class token for all samples of a batch, for example.
  if (!x->isKnown())
    return make(ModelOp::Expand, {x}, expanded);
  const ModelConstant source = fold(x);
  const Shape& from = source.shape();
  const std::size_t extra = expanded.size() - from.size();
  std::vector<double> numbers;
  check(elements(expanded) <= Index(1) << 23, "an enlarged constant is too large");
  forEachPlace(expanded, [&](const std::vector<Index>& index, Index) {
    Index position = 0; // in x: dimensions of extent 1 are repeated
    for (std::size_t d = 0; d < from.size(); ++d)
      position = position * from[d] + (from[d] == 1 ? 0 : index[d + extra]);
    numbers.push_back(source.numbers()[static_cast<std::size_t>(position)]);
  });
  return constant(ModelConstant::ofNumbers(expanded, std::move(numbers), source.isInteger())
                      .fixed(source.isFixed()));
}

// Dimensions that `times` has in addition are added in front, as in numpy.
ModelBuilder::Value ModelBuilder::tile(Value x, const std::vector<Index>& times) {
  check(static_cast<int>(times.size()) >= x->ndim(), "it repeats fewer dimensions than there are");
  std::vector<Index> shape(times.size() - x->shape.size(), 1);
  shape.insert(shape.end(), x->shape.begin(), x->shape.end());
  x = reshape(x, shape);
  if (x->isConstant()) {
    Index copiedElements = elements(x->shape); // counted before the copies are made
    for (const Index count : times)
      spend(copiedElements *= std::clamp(count, Index(1), kMaxCopies));
  }
  // Extents of 1 are broadcast; others are copied.
  for (std::size_t d = 0; d < times.size(); ++d) {
    check(times[d] >= 0 && times[d] < kMaxModelWindow, "it repeats a dimension too often");
    if (shape[d] == 1)
      shape[d] = times[d];
    else if (times[d] == 0)
      x = slice(x, static_cast<int>(d), 0, 0);
    else
      check(times[d] < kMaxCopies, "it repeats a dimension too often");
  }
  for (std::size_t d = 0; d < times.size(); ++d)
    if (x->shape[d] != 1 && times[d] > 1)
      x = concatenate(ModelValues(static_cast<std::size_t>(times[d]), x), static_cast<int>(d));
  for (std::size_t d = 0; d < times.size(); ++d)
    shape[d] = x->shape[d] == 1 ? shape[d] : x->shape[d];
  return expand(x, shape);
}

} // namespace tenon
