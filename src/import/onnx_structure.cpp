// SPDX-License-Identifier: BSD-2-Clause
// What moves elements, changes resolution, makes constants or asks for extents in ONNX. Extents are those of the
// run, so that what is computed of them is a constant.
#include "import/onnx_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues onnxConstant(const OnnxCall& c) {
  for (const auto& [name, argument] : c.given.operation().arguments) {
    if (name == "value" || name == "value_int" || name == "value_float")
      return {c.given.needed(name)};
    if (name == "value_ints")
      return {c.b.integers(c.given.integers(name, {}))};
    if (name == "value_floats") {
      const std::vector<double> numbers = c.given.reals(name);
      return {
          c.b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers))};
    }
  }
  return {c.b.refuse("a constant that is no tensor of numbers", "numbers", {1})};
}
ModelValues onnxShape(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const auto rank = static_cast<Index>(shape.size());
  const auto bound = [&](Index n) { return std::clamp(n < 0 ? n + rank : n, Index(0), rank); };
  const Index begin = bound(c.given.integer("start", 0)), end = bound(c.given.integer("end", rank));
  return {c.b.integers(begin < end ? std::vector<Index>(shape.begin() + begin, shape.begin() + end)
                                   : std::vector<Index>())};
}
ModelValues onnxSize(const OnnxCall& c) {
  return {c.b.number(static_cast<double>(elements(c.x()->shape)), true)};
}

ModelValues onnxPad(const OnnxCall& c) {
  Value x = c.x();
  const std::string mode = c.given.text("mode", "constant");
  const char* ours = mode == "constant"  ? "values"
                     : mode == "reflect" ? "reflect"
                     : mode == "edge"    ? "replicate"
                     : mode == "wrap"    ? "periodic"
                                         : nullptr;
  c.b.check(ours != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = c.integersAt(1, "its padding");
  std::vector<Index> axes;
  if (c.at(3))
    axes = c.integersAt(3, "a list of dimensions");
  else
    for (int d = 0; d < x->rank(); ++d)
      axes.push_back(d);
  c.b.check(pads.size() == 2 * axes.size(), "it has another number of paddings");
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.pad(x, c.b.dimension(axes[i], x->rank()), pads[i], pads[i + axes.size()], ours,
                c.numberAt(2, 0));
  return {x};
}
ModelValues onnxResize(const OnnxCall& c) {
  const Value x = c.x();
  const int spatial = c.spatial();
  std::vector<Index> sizes;
  bool isExact = true; // a factor is also what the outputs step by
  const auto isGiven = [&](std::size_t place) {
    return c.at(place) && elements(c.at(place)->shape) > 0;
  };
  if (isGiven(3)) {
    sizes = c.integersAt(3, "a size");
  } else {
    c.b.check(isGiven(2), "it has neither sizes nor factors");
    const std::vector<double> factors = c.b.numbersOf(c.at(2), "a factor").numbers();
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const std::size_t d = i + x->shape.size() - factors.size();
      c.b.check(factors.size() <= x->shape.size() && factors[i] > 0 && factors[i] < 1e6,
                "a factor is out of range");
      const double wanted = static_cast<double>(x->shape[d]) * factors[i];
      sizes.push_back(static_cast<Index>(std::floor(wanted)));
      isExact = isExact && wanted == std::floor(wanted);
    }
  }
  c.b.check(static_cast<int>(sizes.size()) >= spatial && spatial >= 1, "it has too few sizes");
  const std::size_t extra = sizes.size() - static_cast<std::size_t>(spatial);
  for (std::size_t i = 0; i < extra; ++i)
    c.b.check(sizes.size() == x->shape.size() && sizes[i] == x->shape[i],
              "it changes the batch or the channels");
  const std::vector<Index> size(sizes.begin() + static_cast<std::ptrdiff_t>(extra), sizes.end());
  const std::string mode = c.given.text("mode", "nearest"),
                    where = c.given.text("coordinate_transformation_mode", "half_pixel");
  const bool isNearest = mode == "nearest" && where == "asymmetric" &&
                         c.given.text("nearest_mode", "round_prefer_floor") == "floor";
  const bool isLinear =
      mode == "linear" &&
      (where == "half_pixel" || where == "pytorch_half_pixel" || where == "align_corners");
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  // PyTorch's half pixels are others where one output is left.
  const bool hasOne = where == "pytorch_half_pixel" && std::count(size.begin(), size.end(), 1) > 0;
  if ((!isNearest && !isLinear) || hasOne || (!isExact && where != "align_corners") ||
      c.given.flag("antialias", false))
    return {c.b.refuse("this Resize", "PyTorch's nearest or linear interpolation", shape)};
  return {c.b.resize(x, size, isLinear, where == "align_corners")};
}
ModelValues onnxDepthToSpace(const OnnxCall& c) {
  const Index size = c.given.integer("blocksize");
  return {c.given.text("mode", "DCR") == "CRD" ? c.b.pixelShuffle(c.x(), size)
                                               : c.b.depthToSpace(c.x(), size)};
}
ModelValues onnxSpaceToDepth(const OnnxCall& c) {
  return {c.b.spaceToDepth(c.x(), c.given.integer("blocksize"), true)};
}

ModelValues onnxCumSum(const OnnxCall& c) {
  const auto axis = static_cast<Index>(c.numberAt(1, 0));
  return {c.b.cumulativeSum(c.x(), c.b.dimension(axis, c.x()->rank()),
                            c.given.flag("exclusive", false), c.given.flag("reverse", false))};
}
ModelValues onnxConcat(const OnnxCall& c) {
  ModelValues values;
  for (std::size_t i = 0; i < c.given.inputCount(); ++i)
    values.push_back(c.given.neededInput(i));
  return {c.b.concatenate(
      values, static_cast<int>(std::clamp(c.given.integer("axis"), Index(-64), Index(64))))};
}
ModelValues onnxSplit(const OnnxCall& c) {
  const Value x = c.x();
  const int d = c.b.dimension(c.given.integer("axis", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  std::vector<Index> sizes = c.listAt(1, "split");
  if (sizes.empty()) {
    const Index count =
        c.given.integer("num_outputs", static_cast<Index>(c.given.operation().results.size()));
    c.b.check(count >= 1 && count <= 65536, "it makes no pieces, or too many");
    const Index step = std::max((n + count - 1) / count, Index(1));
    for (Index at = 0; at < n; at += step)
      sizes.push_back(std::min(step, n - at));
  }
  ModelValues made;
  Index at = 0;
  for (const Index size : sizes) {
    c.b.check(size >= 0 && size <= n - at, "its pieces do not fit");
    made.push_back(c.b.slice(x, d, at, at + size));
    at += size;
  }
  return made;
}
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
  constexpr Index kFar = Index(1) << 61;
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = c.b.slice(x, c.b.dimension(axes[i], x->rank()), std::clamp(begin[i], -kFar, kFar),
                  std::clamp(end[i], -kFar, kFar), steps[i]);
  return {x};
}
ModelValues onnxGather(const OnnxCall& c) {
  const Value x = c.x(), indices = c.given.neededInput(1);
  const int d = c.b.dimension(c.given.integer("axis", 0), x->rank());
  Shape shape(x->shape.begin(), x->shape.begin() + d);
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + d + 1, x->shape.end());
  if (!indices->isConstant())
    return {c.b.refuse("Gather by a tensor of indices",
                       "an operator of an index map (TenonLinearOpCreateGather) before the network",
                       shape)};
  return {c.b.reshape(c.b.gather(x, d, c.b.reshape(indices, {elements(indices->shape)})), shape)};
}
ModelValues onnxIndexed(const OnnxCall& c) {
  return {c.b.refuse(fmt::format("{} by a tensor of indices", c.given.operation().type),
                     "an operator of an index map (TenonLinearOpCreateGather) before the network",
                     c.x()->shape)};
}

ModelValues onnxGatherElements(const OnnxCall& c) {
  const Value x = c.x(), places = c.given.neededInput(1);
  const int d = c.b.dimension(c.given.integer("axis", 0), x->rank());
  Shape shape = x->shape;
  c.b.check(places->rank() == x->rank(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  const Value list = places->shape == shape ? c.b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{c.b.gather(x, d, list)} : onnxIndexed(c);
}
// Places of the first dimension, [n, 1]; null where it is something else.
Value listOf(const OnnxCall& c, Value places) {
  return places->isConstant() && places->rank() == 2 && places->shape[1] == 1
             ? c.b.reshape(places, {places->shape[0]})
             : nullptr;
}
ModelValues onnxGatherND(const OnnxCall& c) {
  const Value list = listOf(c, c.given.neededInput(1));
  return list && c.given.integer("batch_dims", 0) == 0 && c.x()->rank() > 0
             ? ModelValues{c.b.gather(c.x(), 0, list)}
             : onnxIndexed(c);
}
ModelValues scattered(const OnnxCall& c, int dim, Value list) {
  const std::string reduction = c.given.text("reduction", "none");
  if (!list || c.x()->rank() == 0 || (reduction != "none" && reduction != "add"))
    return onnxIndexed(c);
  const Value source = c.given.neededInput(2);
  return {reduction == "add" ? c.b.scatterAdd(c.x(), dim, list, source)
                             : c.b.scatter(c.x(), dim, list, source)};
}
// The indices of all elements of a box; null where they are something else.
Value boxWritten(const OnnxCall& c, Value places, Value source) {
  const Value x = c.x();
  const std::size_t rank = x->shape.size();
  Shape wanted = source->shape;
  wanted.push_back(x->rank());
  if (!places->isConstant() || source->shape.size() != rank || places->shape != wanted ||
      elements(wanted) == 0 || c.given.text("reduction", "none") != "none")
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
ModelValues onnxScatterND(const OnnxCall& c) {
  if (const Value made = boxWritten(c, c.given.neededInput(1), c.given.neededInput(2)))
    return {made};
  return scattered(c, 0, listOf(c, c.given.neededInput(1)));
}
ModelValues onnxScatterElements(const OnnxCall& c) {
  const Value places = c.given.neededInput(1);
  const int d = c.b.dimension(c.given.integer("axis", 0), c.x()->rank());
  const bool isWhole = places->shape == c.given.neededInput(2)->shape;
  return scattered(c, d, isWhole ? c.b.placesAlong(places, d) : nullptr);
}

ModelValues onnxReshape(const OnnxCall& c) {
  std::vector<Index> shape = c.integersAt(1, "a shape");
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 0 && !c.given.flag("allowzero", false)) {
      c.b.check(d < c.x()->shape.size(), "a reshape copies an extent that is not there");
      shape[d] = c.x()->shape[d];
    }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxFlatten(const OnnxCall& c) {
  const Shape& shape = c.x()->shape;
  const Index axis = c.given.integer("axis", 1);
  const auto k =
      axis == static_cast<Index>(shape.size()) ? axis : c.b.dimension(axis, c.x()->rank());
  return {c.b.reshape(c.x(), {elements(Shape(shape.begin(), shape.begin() + k)),
                              elements(Shape(shape.begin() + k, shape.end()))})};
}
ModelValues onnxUnsqueeze(const OnnxCall& c) {
  Shape shape = c.x()->shape;
  std::vector<int> dims;
  const std::vector<Index> axes = c.listAt(1, "axes");
  for (const Index d : axes)
    dims.push_back(
        c.b.dimension(d, c.x()->rank() + static_cast<int>(std::min<std::size_t>(axes.size(), 64))));
  std::sort(dims.begin(), dims.end());
  for (const int d : dims) {
    c.b.check(d <= static_cast<int>(shape.size()), "it puts dimensions in at one place twice");
    shape.insert(shape.begin() + d, 1);
  }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxSqueeze(const OnnxCall& c) {
  std::vector<int> dims;
  for (const Index d : c.listAt(1, "axes"))
    dims.push_back(c.b.dimension(d, c.x()->rank()));
  Shape shape;
  for (int d = 0; d < c.x()->rank(); ++d) {
    const Index extent = c.x()->shape[static_cast<std::size_t>(d)];
    const bool isNamed = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!(dims.empty() ? extent == 1 : isNamed))
      shape.push_back(extent);
  }
  return {c.b.reshape(c.x(), shape)};
}
ModelValues onnxTranspose(const OnnxCall& c) {
  std::vector<int> order;
  for (const Index d : c.given.integers("perm", {}))
    order.push_back(c.b.dimension(d, c.x()->rank()));
  for (int d = c.x()->rank(); order.size() < c.x()->shape.size() && !c.given.has("perm");)
    order.push_back(--d);
  return {c.b.transpose(c.x(), order)};
}
ModelValues onnxExpand(const OnnxCall& c) {
  return {c.b.expand(c.x(), c.integersAt(1, "a shape"))};
}
ModelValues onnxConstantOfShape(const OnnxCall& c) {
  const Value value = c.given.value("value");
  const Shape shape = c.b.integersOf(c.x(), "a shape");
  c.b.checkShape(shape);
  return {c.b.expand(value ? c.b.reshape(value, {}) : c.b.number(0), shape)};
}
ModelValues onnxTriangle(const OnnxCall& c) {
  return {c.b.triangle(c.x(), c.given.flag("upper", true), c.numberAt(1, 0))};
}
ModelValues onnxRange(const OnnxCall& c) {
  const double first = c.numberAt(0, 0), last = c.numberAt(1, 0), step = c.numberAt(2, 1);
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  c.b.check(count < 1e7 && count == count, "its number of steps is out of range");
  std::vector<double> numbers;
  for (double i = 0; i < count; ++i)
    numbers.push_back(first + i * step);
  return {c.b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers,
                                                c.b.numbersOf(c.x(), "a number").isInteger()))};
}

} // namespace

std::span<const OnnxRow> onnxStructure() {
  static constexpr OnnxRow rows[] = {{"Concat", onnxConcat},
                                     {"Constant", onnxConstant},
                                     {"ConstantOfShape", onnxConstantOfShape},
                                     {"CumSum", onnxCumSum},
                                     {"DepthToSpace", onnxDepthToSpace},
                                     {"Expand", onnxExpand},
                                     {"Flatten", onnxFlatten},
                                     {"Gather", onnxGather},
                                     {"GatherElements", onnxGatherElements},
                                     {"GatherND", onnxGatherND},
                                     {"Pad", onnxPad},
                                     {"Range", onnxRange},
                                     {"Reshape", onnxReshape},
                                     {"Resize", onnxResize},
                                     {"ScatterElements", onnxScatterElements},
                                     {"ScatterND", onnxScatterND},
                                     {"Shape", onnxShape},
                                     {"Size", onnxSize},
                                     {"Slice", onnxSlice},
                                     {"SpaceToDepth", onnxSpaceToDepth},
                                     {"Split", onnxSplit},
                                     {"Squeeze", onnxSqueeze},
                                     {"Transpose", onnxTranspose},
                                     {"Trilu", onnxTriangle},
                                     {"Unsqueeze", onnxUnsqueeze}};
  return rows;
}

} // namespace tenon
