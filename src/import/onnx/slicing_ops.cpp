// SPDX-License-Identifier: BSD-2-Clause
// ONNX operators: padding, slices, concatenation, gather and scatter. Each function reads the
// inputs and attributes of a node (OnnxCall c: c.x() is input 0, c.at(i) input i or null,
// c.operands has the attributes) and appends values to the canonical graph by the builder c.b. The
// table at the end has a row per operator (operator_rows.hpp). Only constant indices can be
// imported: a layer has the same indices in every run.
#include "import/onnx/operator_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

constexpr const char* kIndexAdvice =
    "an operator of an index map (TenonLinearOpCreateIndexMap) before the network";

ModelValues onnxPad(const OnnxCall& c) {
  Value x = c.x();
  const std::string mode = c.operands.text("mode", "constant");
  // Tenon's name of the padding mode.
  const char* boundary = mode == "constant"  ? "values"
                         : mode == "reflect" ? "reflect"
                         : mode == "edge"    ? "replicate"
                         : mode == "wrap"    ? "periodic"
                                             : nullptr;
  c.b.check(boundary != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = c.integersAt(1, "its padding");
  std::vector<Index> axes;
  if (c.at(3))
    axes = c.integersAt(3, "a list of dimensions");
  else
    for (int d = 0; d < x->ndim(); ++d)
      axes.push_back(d);
  c.b.check(pads.size() == 2 * axes.size(), "it has another number of paddings");
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.pad(x, c.b.dimension(axes[i], x->ndim()), pads[i], pads[i + axes.size()], boundary,
                c.numberAt(2, 0));
  return {x};
}
ModelValues onnxConcat(const OnnxCall& c) {
  ModelValues values;
  for (std::size_t i = 0; i < c.operands.inputCount(); ++i)
    values.push_back(c.operands.neededInput(i));
  return {c.b.concatenate(
      values, static_cast<int>(std::clamp(c.operands.integer("axis"), Index(-64), Index(64))))};
}
// Sizes are given, or follow from the number of outputs; the last piece can then be smaller.
ModelValues onnxSplit(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.operands.integer("axis", 0), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  std::vector<Index> sizes = c.listAt(1, "split");
  if (sizes.empty()) {
    const Index count = c.operands.integer(
        "num_outputs", static_cast<Index>(c.operands.operation().results.size()));
    c.b.check(count >= 1 && count <= 65536, "it makes no pieces, or too many");
    const Index step = std::max((n + count - 1) / count, Index(1));
    for (Index at = 0; at < n; at += step)
      sizes.push_back(std::min(step, n - at));
  }
  ModelValues pieces;
  Index at = 0;
  for (const Index size : sizes) {
    c.b.check(size >= 0 && size <= n - at, "its pieces do not fit");
    pieces.push_back(c.b.slice(x, d, at, at + size));
    at += size;
  }
  return pieces;
}
// Each axis is sliced separately.
ModelValues onnxSlice(const OnnxCall& c) {
  Value x = c.x();
  const std::vector<Index> begin = c.integersAt(1, "where a slice begins"),
                           end = c.integersAt(2, "where a slice ends");
  std::vector<Index> axes, steps(begin.size(), 1);
  if (c.at(3))
    axes = c.integersAt(3, "a list of dimensions");
  else
    for (std::size_t i = 0; i < begin.size(); ++i)
      axes.push_back(static_cast<Index>(i));
  if (c.at(4))
    steps = c.integersAt(4, "a step");
  c.b.check(end.size() == begin.size() && axes.size() == begin.size() &&
                steps.size() == begin.size(),
            "its lists have different lengths");
  // Slices use huge numbers for "to the end"; clamp them against overflow.
  constexpr Index kFar = Index(1) << 61;
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.slice(x, c.b.dimension(axes[i], x->ndim()), std::clamp(begin[i], -kFar, kFar),
                  std::clamp(end[i], -kFar, kFar), steps[i]);
  return {x};
}
// The axis is an input.
ModelValues onnxCumSum(const OnnxCall& c) {
  const auto axis = static_cast<Index>(c.numberAt(1, 0));
  return {c.b.cumulativeSum(c.x(), c.b.dimension(axis, c.x()->ndim()),
                            c.operands.flag("exclusive", false),
                            c.operands.flag("reverse", false))};
}
ModelValues onnxCumProd(const OnnxCall& c) {
  const auto axis = static_cast<Index>(c.numberAt(1, 0));
  return {c.b.cumulativeProduct(c.x(), c.b.dimension(axis, c.x()->ndim()),
                                c.operands.flag("exclusive", false),
                                c.operands.flag("reverse", false))};
}
// Reverses the first elements of each sequence, whose number is input 1.
ModelValues onnxReverse(const OnnxCall& c) {
  const Value x = c.x();
  const int time = c.b.dimension(c.operands.integer("time_axis", 0), x->ndim()),
            batch = c.b.dimension(c.operands.integer("batch_axis", 1), x->ndim());
  const std::vector<Index> lengths = c.integersAt(1, "lengths of sequences");
  const Index n = x->shape[static_cast<std::size_t>(time)];
  c.b.check(time != batch &&
                static_cast<Index>(lengths.size()) == x->shape[static_cast<std::size_t>(batch)],
            "it needs one length for each sequence");
  ModelValues sequences;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    c.b.check(lengths[i] >= 0 && lengths[i] <= n, "a length is out of range");
    const auto first = static_cast<Index>(i);
    const Value sequence = c.b.slice(x, batch, first, first + 1);
    sequences.push_back(c.b.concatenate({c.b.flip(c.b.slice(sequence, time, 0, lengths[i]), time),
                                         c.b.slice(sequence, time, lengths[i], n)},
                                        time));
  }
  return {c.b.concatenate(sequences, batch)};
}
ModelValues onnxTriangle(const OnnxCall& c) {
  return {c.b.triangle(c.x(), c.operands.flag("upper", true), c.numberAt(1, 0))};
}
// y[a, i, b] = x[a, indices[i], b], where i runs over all dimensions of the indices.
ModelValues onnxGather(const OnnxCall& c) {
  const Value x = c.x(), indices = c.operands.neededInput(1);
  const int d = c.b.dimension(c.operands.integer("axis", 0), x->ndim());
  Shape shape(x->shape.begin(), x->shape.begin() + d);
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + d + 1, x->shape.end());
  if (!indices->isConstant())
    return {c.b.taken(x, d, indices)};
  return {c.b.reshape(c.b.gather(x, d, c.b.reshape(indices, {elements(indices->shape)})), shape)};
}
// Refuses indices that cannot be imported, with the reason.
ModelValues onnxIndexed(const OnnxCall& c) {
  const std::string reduction = c.operands.text("reduction", "none");
  const bool isConstant = c.operands.neededInput(1)->isConstant();
  return {c.b.refuse(fmt::format("{} by {}", c.operands.operation().type,
                                 isConstant ? "constant indices with the reduction " + reduction
                                            : "indices that are computed or inputs"),
                     isConstant ? "elements that are written or added" : kIndexAdvice,
                     c.x()->shape)};
}
// An index into a dimension of n elements, counted from the end if it is negative.
Index countedFromBegin(const OnnxCall& c, Index i, Index n) {
  c.b.check(i >= -n && i < n, "an index is out of range");
  return i < 0 ? i + n : i;
}
// Positions in x, in row-major order, of the elements that have the index places[i] in dimension d,
// and elsewhere the index of i.
std::vector<Index> positionsAlong(const OnnxCall& c, Value places, int d) {
  const Shape& shape = c.x()->shape;
  const std::vector<Index> numbers = c.b.integersOf(places, "a list of indices");
  std::vector<Index> positions;
  forEachPlace(places->shape, [&](const std::vector<Index>& index, Index place) {
    Index position = 0;
    for (std::size_t e = 0; e < shape.size(); ++e) {
      const Index i =
          e == static_cast<std::size_t>(d) ? numbers[static_cast<std::size_t>(place)] : index[e];
      position = position * shape[e] + countedFromBegin(c, i, shape[e]);
    }
    positions.push_back(position);
  });
  return positions;
}
// Whole slices if the indices are equal in all other dimensions, single elements otherwise.
ModelValues onnxGatherElements(const OnnxCall& c) {
  const Value x = c.x(), places = c.operands.neededInput(1);
  const int d = c.b.dimension(c.operands.integer("axis", 0), x->ndim());
  Shape shape = x->shape;
  c.b.check(places->ndim() == x->ndim(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  if (!places->isKnown())
    return {c.b.takenAlong(x, d, places)};
  if (const Value list = places->shape == shape ? c.b.placesAlong(places, d) : nullptr)
    return {c.b.gather(x, d, list)};
  return {c.b.gatherElements(x, positionsAlong(c, places, d), places->shape)};
}
// Positions of single elements of x, for indices [..., k] of its first k dimensions after those of
// the batch, which both have. The elements of the k + 1st dimension on follow each other.
std::vector<Index> positionsOf(const OnnxCall& c, Value places, std::size_t batch, Shape& shape) {
  const Shape& from = c.x()->shape;
  const auto depth = places->ndim() > 0 ? static_cast<std::size_t>(places->shape.back()) : 0;
  c.b.check(places->shape.size() > batch && depth >= 1 && batch + depth <= from.size(),
            "its indices have another number of dimensions");
  const std::vector<Index> numbers = c.b.integersOf(places, "a list of indices");
  shape.assign(places->shape.begin(), places->shape.end() - 1);
  const Shape lists = shape,
              rest(from.begin() + static_cast<std::ptrdiff_t>(batch + depth), from.end());
  shape.insert(shape.end(), rest.begin(), rest.end());
  const Index inner = elements(rest);
  c.b.checkShape(shape);
  c.b.spend(elements(shape));
  std::vector<Index> positions;
  forEachPlace(lists, [&](const std::vector<Index>& index, Index place) {
    Index position = 0;
    for (std::size_t e = 0; e < batch + depth; ++e) {
      const auto at = static_cast<std::size_t>(place) * depth + (e - batch);
      position =
          position * from[e] + countedFromBegin(c, e < batch ? index[e] : numbers[at], from[e]);
    }
    for (Index i = 0; i < inner; ++i)
      positions.push_back(position * inner + i);
  });
  return positions;
}
// Returns indices [n, 1] of the first dimension as a list; null for indices of another shape.
Value listOf(const OnnxCall& c, Value places) {
  return places->isConstant() && places->ndim() == 2 && places->shape[1] == 1
             ? c.b.reshape(places, {places->shape[0]})
             : nullptr;
}
ModelValues onnxGatherND(const OnnxCall& c) {
  const Value places = c.operands.neededInput(1);
  const Index batch = c.operands.integer("batch_dims", 0);
  if (const Value list = listOf(c, places); list && batch == 0 && c.x()->ndim() > 0)
    return {c.b.gather(c.x(), 0, list)};
  if (!places->isKnown() || batch < 0)
    return onnxIndexed(c);
  Shape shape;
  const std::vector<Index> positions =
      positionsOf(c, places, static_cast<std::size_t>(batch), shape);
  return {c.b.gatherElements(c.x(), positions, shape)};
}
// Writes or adds slices of input 2 at a list of indices of one dimension; refuses a null list.
ModelValues scattered(const OnnxCall& c, int dim, Value list) {
  const std::string reduction = c.operands.text("reduction", "none");
  if (!list || c.x()->ndim() == 0 || (reduction != "none" && reduction != "add"))
    return onnxIndexed(c);
  const Value source = c.operands.neededInput(2);
  return {reduction == "add" ? c.b.scatterAdd(c.x(), dim, list, source)
                             : c.b.scatter(c.x(), dim, list, source)};
}
// Recognises indices of all elements of a box, which are a sequence of replaced slices; null
// otherwise.
Value boxWritten(const OnnxCall& c, Value places, Value source) {
  const Value x = c.x();
  const std::size_t rank = x->shape.size();
  Shape expected = source->shape;
  expected.push_back(x->ndim());
  if (!places->isConstant() || source->shape.size() != rank || places->shape != expected ||
      elements(expected) == 0 || c.operands.text("reduction", "none") != "none")
    return nullptr;
  const std::vector<Index> numbers = c.b.integersOf(places, "a list of indices");
  bool isBox = true;
  forEachPlace(places->shape, [&](const std::vector<Index>& index, Index place) {
    const auto d = static_cast<std::size_t>(index.back());
    isBox = isBox && numbers[static_cast<std::size_t>(place)] == numbers[d] + index[d];
  });
  for (std::size_t d = 0; isBox && d < rank; ++d)
    isBox = numbers[d] >= 0 && source->shape[d] <= x->shape[d] - numbers[d];
  const auto written = [&](Value part, std::size_t d, const auto& inner) -> Value {
    if (d == rank)
      return source;
    const int dim = static_cast<int>(d);
    const Index begin = numbers[d], end = begin + source->shape[d];
    return c.b.replaced(part, dim, begin, end,
                        inner(c.b.slice(part, dim, begin, end), d + 1, inner));
  };
  return isBox ? written(x, 0, written) : nullptr;
}
// Writes or adds single elements.
ModelValues scatteredElements(const OnnxCall& c, const std::vector<Index>& positions) {
  const std::string reduction = c.operands.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return onnxIndexed(c);
  return {c.b.scatterElements(c.x(), positions, c.operands.neededInput(2), reduction == "add")};
}
// A box of consecutive elements, rows of the first dimension, or single elements.
ModelValues onnxScatterND(const OnnxCall& c) {
  const Value places = c.operands.neededInput(1);
  if (const Value result = boxWritten(c, places, c.operands.neededInput(2)))
    return {result};
  if (const Value list = listOf(c, places); list || !places->isKnown())
    return scattered(c, 0, list);
  Shape shape;
  return scatteredElements(c, positionsOf(c, places, 0, shape));
}
ModelValues onnxScatterElements(const OnnxCall& c) {
  const Value places = c.operands.neededInput(1);
  const int d = c.b.dimension(c.operands.integer("axis", 0), c.x()->ndim());
  c.b.check(places->ndim() == c.x()->ndim(), "its indices have another number of dimensions");
  if (!places->isKnown() || places->shape != c.operands.neededInput(2)->shape)
    return onnxIndexed(c);
  Shape whole = c.x()->shape;
  whole[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  if (const Value list = places->shape == whole ? c.b.placesAlong(places, d) : nullptr)
    return scattered(c, d, list);
  return scatteredElements(c, positionsAlong(c, places, d));
}

} // namespace

std::span<const OnnxRow> onnxParts() {
  static constexpr OnnxRow rows[] = {
      {"Concat", onnxConcat, "", kAnyNumber, "axis"},
      {"CumProd", onnxCumProd, "", 2, "exclusive reverse"},
      {"CumSum", onnxCumSum, "", 2, "exclusive reverse"},
      {"Gather", onnxGather, "", 2, "axis"},
      {"GatherElements", onnxGatherElements, "", 2, "axis"},
      {"GatherND", onnxGatherND, "", 2, "batch_dims"},
      {"Pad", onnxPad, "", 4, "mode"},
      {"ReverseSequence", onnxReverse, "", 2, "batch_axis time_axis"},
      {"ScatterElements", onnxScatterElements, "", 3, "axis reduction"},
      {"ScatterND", onnxScatterND, "", 3, "reduction"},
      {"Slice", onnxSlice, "", 5},
      {"Split", onnxSplit, "", 2, "axis num_outputs split"},
      {"Trilu", onnxTriangle, "", 2, "upper"}};
  return rows;
}

} // namespace tenon
