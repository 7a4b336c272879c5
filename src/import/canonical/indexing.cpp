// SPDX-License-Identifier: BSD-2-Clause
// Operations on elements of a dimension by index: prefix sums, reversal, rotation, gather, scatter.
// These are methods of ModelBuilder (explained in its header), which append values to a canonical
// graph. A "known" value is a constant that training does not change; its result is computed at
// once. Class ModelBuilder is in model_builder.hpp.
//
// The dimension may be distributed over ranks, where no rank can index all of it. So the operations
// are expressed as products with a fixed matrix along the dimension (along()), or by slices if the
// indices are consecutive. Examples for a dimension of 3 elements:
//   prefix sums      y = L x with the rows 1 0 0 | 1 1 0 | 1 1 1
//   reversal         y = R x with the rows 0 0 1 | 0 1 0 | 1 0 0
//   gather 2, 0, 1   concatenation of the slices x[2:3] and x[0:2]
#include "import/canonical/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

constexpr std::size_t kMaxRuns = 256; // number of slices that a list of indices becomes
constexpr Index kMaxRows = 1024;      // extents of a matrix that multiplies a field

} // namespace

// Whether a matrix [rows, columns] is too large to multiply x by. There are two limits:
//   x is computed from parameters   2^23 elements of the matrix: x is a table that each rank can
//                                   hold in full
//   x is a field                    1024 rows and 1024 columns
bool ModelBuilder::isTooLarge(Value x, Index rows, Index columns) {
  constexpr Index kMaxNumbers = Index(1) << 23;
  return x->isOfParameters() ? columns > 0 && rows > kMaxNumbers / columns
                             : std::max(rows, columns) > kMaxRows;
}

ModelBuilder::Value ModelBuilder::along(Value x, int dim, Index rows,
                                        const std::function<double(Index, Index)>& matrix) {
  const int d = dimension(dim, x->ndim());
  const Index columns = x->shape[static_cast<std::size_t>(d)];
  if (isTooLarge(x, rows, columns)) {
    Shape shape = x->shape;
    shape[static_cast<std::size_t>(d)] = rows;
    return refuse(
        fmt::format("a product with a matrix [{},{}] along dimension {}", rows, columns, d),
        fmt::format("at most {} elements in this dimension", kMaxRows), shape);
  }
  std::vector<double> numbers;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      numbers.push_back(matrix(i, j));
  return multipliedAlong(x, d,
                         constant(ModelConstant::ofNumbers({rows, columns}, std::move(numbers))));
}

ModelBuilder::Value ModelBuilder::multipliedAlong(Value x, int d, Value weight) {
  const Index rows = weight->shape[0], columns = weight->shape[1];
  std::vector<int> order(static_cast<std::size_t>(x->ndim())), inverse = order;
  // Move the dimension to the end, where a linear layer works, and back afterwards.
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + d);
  order.push_back(d);
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  const Value moved = transpose(x, order);
  if (!x->isKnown())
    return transpose(linear(moved, weight, nullptr), inverse);
  Shape shape = moved->shape;
  shape.back() = rows;
  const Value flat = reshape(moved, {elements(x->shape) / std::max(columns, Index(1)), columns});
  return transpose(reshape(foldedMatmul(flat, transpose(weight, {1, 0})), shape), inverse);
}

ModelBuilder::Value ModelBuilder::flip(Value x, int dim) {
  const int d = dimension(dim, x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  if (x->isKnown())
    return slice(x, d, n - 1, -1 - n, -1);
  return n < 2 ? x : along(x, d, n, [n](Index i, Index j) { return double(i + j == n - 1); });
}

ModelBuilder::Value ModelBuilder::cumulativeSum(Value x, int dim, bool isExclusive,
                                                bool isFromEnd) {
  const Index n = x->shape[static_cast<std::size_t>(dimension(dim, x->ndim()))];
  return along(x, dim, n, [=](Index i, Index j) {
    return double(i == j ? !isExclusive : isFromEnd ? j > i : j < i);
  });
}

// By doubling: after k steps an element has the product of the 2^k elements up to it.
ModelBuilder::Value ModelBuilder::cumulativeProduct(Value x, int dim, bool isExclusive,
                                                    bool isFromEnd) {
  const int d = dimension(dim, x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  const auto shifted = [&](Value v, Index by) {
    return isFromEnd ? pad(slice(v, d, by, n), d, 0, by, "values", 1)
                     : pad(slice(v, d, 0, n - by), d, by, 0, "values", 1);
  };
  for (Index by = 1; by < n; by *= 2)
    x = binary("mul", x, shifted(x, by));
  return isExclusive && n > 0 ? shifted(x, 1) : x;
}

ModelBuilder::Value ModelBuilder::triangle(Value x, bool isUpper, double diagonal) {
  check(x->ndim() >= 2, "a triangle needs a matrix");
  const Shape matrix(x->shape.end() - 2, x->shape.end());
  check(elements(matrix) <= kMaxModelNumbers, "a triangle is too large");
  std::vector<double> flags;
  forEachPlace(matrix, [&](const std::vector<Index>& index, Index) {
    const auto above = static_cast<double>(index[1] - index[0]);
    flags.push_back(double(isUpper ? above >= diagonal : above <= diagonal));
  });
  const bool isInteger = x->isKnown() && x->asConstant().isInteger();
  return where(constant(ModelConstant::ofNumbers(matrix, std::move(flags))), x,
               number(0, isInteger));
}

// Represented as a periodic padding by `by` elements at one end, which removes as many at the other
// (-by).
ModelBuilder::Value ModelBuilder::roll(Value x, int dim, Index by) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const Index n = x->shape[d];
  if (n == 0 || by % n == 0)
    return x;
  by = (by % n + n) % n;
  if (x->isKnown()) {
    const ModelConstant whole = fold(x);
    const auto part = [&](Index begin, Index end) {
      return slicedNumbers(whole, static_cast<int>(d), begin, end, 1);
    };
    return constant(joinedNumbers({part(n - by, n), part(0, n - by)}, static_cast<int>(d)));
  }
  if (x->isComplex())
    return rolledSpectrum(x, static_cast<int>(d), by);
  if (by > n - by)
    by -= n; // the shorter way round
  ModelValue* result = make(ModelOp::Pad, {x}, x->shape);
  result->dim = static_cast<int>(d);
  result->low = {by};
  result->high = {-by};
  result->modes = {"periodic"};
  result->padValue = 0;
  return result;
}

// Cached, since the blocks of a network often select with the same indices from tables of the same
// shape, and then share one matrix.
ModelBuilder::Value ModelBuilder::selection(const std::vector<Index>& places, Index n) {
  Value& matrix = selections_[{n, places}];
  if (!matrix) {
    std::vector<double> numbers(places.size() * static_cast<std::size_t>(n), 0);
    for (std::size_t i = 0; i < places.size(); ++i)
      numbers[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(places[i])] = 1;
    matrix = constant(
        ModelConstant::ofNumbers({static_cast<Index>(places.size()), n}, std::move(numbers)));
  }
  return matrix;
}

ModelBuilder::Value ModelBuilder::gather(Value x, int dim, Value places) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const Index n = x->shape[d];
  check(places->ndim() == 1, "its indices have not one dimension");
  std::vector<Index> order = integersOf(places, "a list of indices");
  if (order.empty())
    return slice(x, static_cast<int>(d), 0, 0);
  for (Index& place : order) {
    place += place < 0 ? n : 0;
    check(place >= 0 && place < n, "an index is out of range");
  }
  if (x->isKnown() && x->constant->isNumbers()) // computed at once: counts against the bound
    spend(static_cast<Index>(order.size()) * (elements(x->shape) / n));
  // Runs of consecutive indices become slices.
  ModelValues slices;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1; // of the run that begins at i
    while (end < order.size() && order[end] == order[end - 1] + 1)
      ++end;
    slices.push_back(slice(x, static_cast<int>(d), order[i], order[end - 1] + 1));
    i = end;
    if (!x->isKnown() && slices.size() > kMaxRuns) {
      // A table of parameters, or a short dimension, can be multiplied by a 0-1 matrix instead.
      if (!isTooLarge(x, static_cast<Index>(order.size()), n))
        return multipliedAlong(x, static_cast<int>(d), selection(order, n));
      Shape shape = x->shape;
      shape[d] = static_cast<Index>(order.size());
      return refuse(fmt::format("indices in more than {} pieces", kMaxRuns),
                    "an operator of an index map (TenonLinearOpCreateIndexMap) before the network",
                    shape);
    }
  }
  return concatenate(slices, static_cast<int>(d));
}

ModelBuilder::Value ModelBuilder::gatherElements(Value x, const std::vector<Index>& positions,
                                                 const Shape& shape) {
  check(elements(shape) == static_cast<Index>(positions.size()), "its indices do not fit");
  return reshape(gather(reshape(x, {elements(x->shape)}), 0, integers(positions)), shape);
}

ModelBuilder::Value ModelBuilder::scatterElements(Value x, const std::vector<Index>& positions,
                                                  Value source, bool adds) {
  const auto count = static_cast<Index>(positions.size());
  check(elements(source->shape) == count, "its indices do not fit what it writes");
  const Value flat = reshape(x, {elements(x->shape)}), from = reshape(source, {count});
  const Value places = integers(positions);
  return reshape(adds ? scatterAdd(flat, 0, places, from) : scatter(flat, 0, places, from),
                 x->shape);
}

// The numbers of a constant, or of zeros, into which others are written or added; null if they are
// not known.
ModelBuilder::Value ModelBuilder::foldedScatter(Value x, int dim, const std::vector<Index>& targets,
                                                Value source, bool adds) {
  const auto d = static_cast<std::size_t>(dim);
  const auto count = static_cast<Index>(targets.size());
  Shape expected = x->shape;
  expected[d] = count;
  if (!source->isKnown() || !(x->isKnown() || x->op == ModelOp::Zeros) || source->shape != expected)
    return nullptr;
  spend(elements(x->shape));
  spend(elements(source->shape));
  const ModelConstant from = fold(source),
                      to = x->isKnown()
                               ? fold(x)
                               : ModelConstant::ofNumbers({}, {0}, from.isInteger()).fixed();
  std::vector<double> numbers = to.numbers();
  numbers.resize(static_cast<std::size_t>(elements(x->shape)), 0);
  const Index n = x->shape[d], inner = elements(Shape(x->shape.begin() + dim + 1, x->shape.end()));
  for (Index place = 0; place < from.elements(); ++place) {
    const Index outer = place / (count * inner),
                target = targets[static_cast<std::size_t>(place / inner % count)],
                row = outer * n + (target < 0 ? target + n : target);
    double& number = numbers[static_cast<std::size_t>(row * inner + place % inner)];
    number = from.numbers()[static_cast<std::size_t>(place)] + (adds ? number : 0);
  }
  return constant(
      ModelConstant::ofNumbers(x->shape, std::move(numbers), from.isInteger() && to.isInteger())
          .fixed(from.isFixed() && to.isFixed()));
}

ModelBuilder::Value ModelBuilder::scatterAdd(Value x, int dim, Value places, Value source) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const std::vector<Index> targets = integersOf(places, "a list of indices");
  const Index n = x->shape[d];
  Shape expected = x->shape;
  expected[d] = static_cast<Index>(targets.size());
  check(places->ndim() == 1 && source->shape == expected, "its indices do not fit what it adds");
  check(std::ranges::all_of(targets, [n](Index i) { return i >= -n && i < n; }),
        "an index is out of range");
  if (const Value sums = foldedScatter(x, static_cast<int>(d), targets, source, /*adds=*/true))
    return sums;
  // Column j of the matrix has its 1 in row targets[j].
  const Value sum = along(source, dim, n, [&](Index i, Index j) {
    const Index at = targets[static_cast<std::size_t>(j)];
    return double((at < 0 ? at + n : at) == i);
  });
  const bool isZero = x->op == ModelOp::Zeros || isFilledWith(x, 0);
  return isZero ? sum : binary("add", x, sum);
}

ModelBuilder::Value ModelBuilder::scatter(Value x, int dim, Value places, Value source) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->ndim()));
  const Index n = x->shape[d];
  std::vector<Index> targets = integersOf(places, "a list of indices"), sorted;
  for (Index& place : targets) {
    place += place < 0 ? n : 0;
    check(place >= 0 && place < n, "an index is out of range");
  }
  sorted = targets;
  std::ranges::sort(sorted);
  check(std::ranges::adjacent_find(sorted) == sorted.end(), "it writes to one place twice");
  if (targets.empty())
    return x;
  if (const Value all = foldedScatter(x, static_cast<int>(d), targets, source, /*adds=*/false))
    return all;
  // Consecutive indices need no matrix: they are a slice.
  if (targets == sorted &&
      targets.back() - targets.front() + 1 == static_cast<Index>(targets.size()))
    return replaced(x, static_cast<int>(d), targets.front(), targets.back() + 1, source);
  // Otherwise: the source where a flag is 1, x elsewhere. The flags have extent 1 in later
  // dimensions.
  Shape shape(x->shape.size() - d, 1);
  shape[0] = n;
  std::vector<double> flags(static_cast<std::size_t>(n), 0);
  for (const Index place : targets)
    flags[static_cast<std::size_t>(place)] = 1;
  return where(constant(ModelConstant::ofNumbers(shape, std::move(flags))),
               scatterAdd(zeros(x->shape), static_cast<int>(d), places, source), x);
}

// The indices as a list over dimension `dim`, if they vary along it only; otherwise null. Example:
// the indices [[2, 2], [0, 0]] are the list 2, 0 along dimension 0.
ModelBuilder::Value ModelBuilder::placesAlong(Value places, int dim) {
  if (!places->isKnown())
    return nullptr;
  const auto d = static_cast<std::size_t>(dimension(dim, places->ndim()));
  const ModelConstant allPlaces = fold(places);
  std::vector<Index> list(static_cast<std::size_t>(allPlaces.shape()[d]), 0);
  bool isConstantElsewhere = true; // along all other dimensions
  forEachPlace(allPlaces.shape(), [&](const std::vector<Index>& index, Index place) {
    Index& first = list[static_cast<std::size_t>(index[d])];
    const auto number = static_cast<Index>(allPlaces.numbers()[static_cast<std::size_t>(place)]);
    // This is the first element with its index along the dimension if all other indices are 0.
    const bool isFirst = std::accumulate(index.begin(), index.end(), Index(0)) == index[d];
    isConstantElsewhere = isConstantElsewhere && (isFirst || first == number);
    first = isFirst ? number : first;
  });
  return isConstantElsewhere ? integers(list) : nullptr;
}

} // namespace tenon
