// SPDX-License-Identifier: BSD-2-Clause
// PyTorch operators that slice, join or shift tensors along a dimension. Each function reads the
// arguments of an operation by name (Operands) and appends values to the canonical graph by the
// builder b; self() is the first argument. The table at the end has a row per family of operators:
// name, function, and the function's last argument `variant`, which selects what a shared function
// computes (operator_rows.hpp). Bounds of a slice can be out of range, an index cannot.
#include "import/pt2/operator_rows.hpp"

#include "sys/text/text.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// `variant`: the mode, for operators that have only one.
ModelValues pad(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value x = self(operands);
  const std::string mode = *variant ? variant : operands.text("mode", "constant");
  const char* boundary = mode == "constant"    ? "values"
                         : mode == "circular"  ? "periodic"
                         : mode == "reflect"   ? "reflect"
                         : mode == "replicate" ? "replicate"
                                               : nullptr;
  b.check(boundary != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = operands.integers(operands.has("pad") ? "pad" : "padding", {});
  b.check(pads.size() % 2 == 0 && static_cast<int>(pads.size()) <= 2 * x->ndim(),
          "it has another number of paddings");
  const double value = operands.real("value", 0);
  for (std::size_t i = 0; 2 * i < pads.size(); ++i)
    x = b.pad(x, x->ndim() - 1 - static_cast<int>(i), pads[2 * i], pads[2 * i + 1], boundary,
              value);
  return {x};
}
ModelValues concatenate(ModelBuilder& b, const Operands& operands, const char*) {
  const ModelValues values = operands.values("tensors");
  b.check(!values.empty() && std::none_of(values.begin(), values.end(), [](Value v) { return !v; }),
          "it concatenates nothing");
  return {b.concatenate(values, static_cast<int>(operands.integer("dim", 0)))};
}
// Consecutive slices of the given sizes, which can cover only part of the dimension.
ModelValues pieces(ModelBuilder& b, Value x, int d, const std::vector<Index>& sizes) {
  ModelValues result;
  Index at = 0;
  for (const Index size : sizes) {
    b.check(size >= 0 && size <= x->shape[static_cast<std::size_t>(d)] - at,
            "its pieces do not fit");
    result.push_back(b.slice(x, d, at, at + size));
    at += size;
  }
  return result;
}
// Pieces of `step` elements; the last one can be smaller.
ModelValues splitEvenly(ModelBuilder& b, Value x, int d, Index step) {
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(step >= 1 && n / step < 65536, "the size of its pieces is out of range");
  std::vector<Index> sizes;
  for (Index at = 0; at < n; at += std::min(step, n - at))
    sizes.push_back(std::min(step, n - at));
  return pieces(b, x, d, sizes);
}
// `split` has one size for all pieces or, as split_with_sizes, a list of sizes.
ModelValues splitBySizes(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", 0), x->ndim());
  const auto sizes =
      operands.integers(operands.has("split_sizes") ? "split_sizes" : "split_size", {});
  return operands.operation().type.find("with_sizes") != std::string::npos || sizes.size() != 1
             ? pieces(b, x, d, sizes)
             : splitEvenly(b, x, d, sizes[0]);
}
// At most `count` pieces of equal size, rounded up.
ModelValues chunk(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", 0), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], count = operands.integer("chunks");
  b.check(count >= 1, "it makes no pieces");
  return splitEvenly(b, x, d, std::max((n + count - 1) / count, Index(1)));
}
// A number of pieces, of which the first can have one element more, or the places of the cuts.
// `variant`: "1" and "2" for the second dimension (the first of a vector) and the third.
ModelValues splitAsEvenly(ModelBuilder& b, const Operands& operands, const char* variant) {
  const Value x = self(operands);
  const Index fixed = *variant == '\0' ? 0 : std::min(*variant - '0', std::max(x->ndim() - 1, 0));
  const int d = b.dimension(operands.integer("dim", fixed), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  if (operands.has("sections")) {
    const Index count = operands.integer("sections");
    b.check(count >= 1 && count < 65536, "the number of its pieces is out of range");
    std::vector<Index> sizes;
    for (Index i = 0; i < count; ++i)
      sizes.push_back(n / count + (i < n % count));
    return pieces(b, x, d, sizes);
  }
  std::vector<Index> cuts = operands.integers("indices", {});
  cuts.push_back(n);
  ModelValues values;
  for (std::size_t i = 0; i < cuts.size(); ++i)
    values.push_back(b.slice(x, d, i == 0 ? 0 : cuts[i - 1], cuts[i]));
  return values;
}
Shape without(Shape shape, int d) {
  shape.erase(shape.begin() + d);
  return shape;
}
Value without(ModelBuilder& b, Value x, int d) {
  return b.reshape(x, without(x->shape, d));
}
// One piece per index, without the dimension.
ModelValues unbind(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", 0), x->ndim());
  ModelValues values = splitEvenly(b, x, d, 1);
  for (Value& value : values)
    value = without(b, value, d);
  return values;
}
// One index of a dimension, without the dimension.
ModelValues select(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], i = operands.integer("index");
  b.check(i >= -n && i < n, "its index is out of range");
  const Index begin = i < 0 ? i + n : i;
  return {without(b, b.slice(x, d, begin, begin + 1), d)};
}
constexpr Index kEnd = Index(1) << 61; // bound of a slice that extends to the end
ModelValues slice(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  return {b.slice(x, b.dimension(operands.integer("dim", 0), x->ndim()),
                  std::clamp(operands.integer("start", 0), -kEnd, kEnd),
                  std::clamp(operands.integer("end", kEnd), -kEnd, kEnd),
                  operands.integer("step", 1))};
}
ModelValues narrow(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], start = operands.integer("start"),
              begin = start < 0 ? start + n : start, length = operands.integer("length");
  b.check(begin >= 0 && length >= 0 && length <= n - begin, "its elements are out of range");
  return {b.slice(x, d, begin, begin + length)};
}
// Concatenation along a new dimension.
ModelValues stack(ModelBuilder& b, const Operands& operands, const char*) {
  ModelValues values = operands.values("tensors");
  b.check(!values.empty() && values[0], "it stacks nothing");
  const int d = b.dimension(operands.integer("dim", 0), values[0]->ndim() + 1);
  for (Value& value : values) {
    b.check(value && value->ndim() >= d, "it stacks values of different shapes");
    Shape shape = value->shape;
    shape.insert(shape.begin() + d, 1);
    value = b.reshape(value, shape);
  }
  return {b.concatenate(values, d)};
}
// Without dimensions, the flattened tensor is rotated.
ModelValues roll(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const std::vector<Index> by = operands.integers("shifts", {}),
                           dims = operands.integers("dims", {});
  const Shape shape = x->shape;
  if (dims.empty())
    return {b.reshape(b.roll(b.reshape(x, {-1}), 0, by.empty() ? 0 : by[0]), shape)};
  b.check(by.size() == dims.size(), "its lists have different lengths");
  for (std::size_t i = 0; i < by.size(); ++i)
    x = b.roll(x, b.dimension(dims[i], x->ndim()), by[i]);
  return {x};
}
// `variant` is "upper" or "lower".
ModelValues triangle(ModelBuilder& b, const Operands& operands, const char* variant) {
  return {b.triangle(self(operands), *variant == 'u', operands.real("diagonal", 0))};
}
// Fewer repeats than dimensions apply to the last dimensions.
ModelValues tile(ModelBuilder& b, const Operands& operands, const char*) {
  std::vector<Index> times = operands.integers(operands.has("repeats") ? "repeats" : "dims", {});
  if (const auto rank = static_cast<std::size_t>(self(operands)->ndim()); times.size() < rank)
    times.insert(times.begin(), rank - times.size(), 1);
  return {b.tile(self(operands), times)};
}
// `variant`: the dimension, of operators that have only one.
ModelValues flip(ModelBuilder& b, const Operands& operands, const char* variant) {
  Value x = self(operands);
  if (*variant != '\0')
    return {b.flip(x, b.dimension(*variant - '0', x->ndim()))};
  for (const Index d : operands.integers("dims", {}))
    x = b.flip(x, b.dimension(d, x->ndim()));
  return {x};
}
// The new value of self for an operator that copies into it; the caller assigns it (in_place.cpp).
ModelValues copyInto(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.expand(operands.needed("src"), self(operands)->shape)};
}
ModelValues fillWith(ModelBuilder& b, const Operands& operands, const char*) {
  return {b.expand(operands.needed("value"), self(operands)->shape)};
}
// Repeats each element of a dimension, or of all of them, as often as the number says.
ModelValues repeated(ModelBuilder& b, const Operands& operands, const char*) {
  Value x = self(operands);
  const Index times = operands.integer("repeats");
  b.check(times >= 0 && times < kMaxModelWindow, "its number of repetitions is out of range");
  if (!operands.has("dim"))
    x = b.reshape(x, {elements(x->shape)});
  const auto d = static_cast<std::size_t>(b.dimension(operands.integer("dim", 0), x->ndim()));
  Shape inner = x->shape, shape = x->shape;
  inner.insert(inner.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
  x = b.reshape(x, inner);
  inner[d + 1] = times;
  shape[d] *= times;
  b.checkShape(inner);
  return {b.reshape(b.expand(x, inner), shape)};
}
// Returns a copy of self in which a slice is replaced.
ModelValues sliceScatter(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands);
  const int d = b.dimension(operands.integer("dim", 0), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  const auto bound = [&](Index at) { return std::clamp(at < 0 ? at + n : at, Index(0), n); };
  const Index begin = bound(operands.integer("start", 0)),
              end = bound(operands.integer("end", kEnd));
  return {b.replacedEvery(x, d, begin, std::max(begin, end), operands.integer("step", 1),
                          operands.needed("src"))};
}
// The same for one index of a dimension.
ModelValues selectScatter(ModelBuilder& b, const Operands& operands, const char*) {
  const Value x = self(operands), source = operands.needed("src");
  const int d = b.dimension(operands.integer("dim"), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)], i = operands.integer("index");
  b.check(i >= -n && i < n, "its index is out of range");
  const Index begin = i < 0 ? i + n : i;
  Shape shape = x->shape;
  shape[static_cast<std::size_t>(d)] = 1;
  return {
      b.replaced(x, d, begin, begin + 1, b.reshape(b.expand(source, without(shape, d)), shape))};
}

} // namespace

std::span<const Pt2Row> pt2Parts() {
  static constexpr Pt2Row rows[] = {{"cat", concatenate},
                                    {"chunk", chunk},
                                    {"concat", concatenate},
                                    {"concatenate", concatenate},
                                    {"constant_pad_nd", pad, "constant"},
                                    {"copy", copyInto},
                                    {"dsplit", splitAsEvenly, "2"},
                                    {"fill", fillWith},
                                    {"flip", flip},
                                    {"fliplr", flip, "1"},
                                    {"flipud", flip, "0"},
                                    {"hsplit", splitAsEvenly, "1"},
                                    {"narrow", narrow},
                                    {"pad", pad},
                                    {"reflection_pad", pad, "reflect"},
                                    {"repeat", tile},
                                    {"repeat_interleave", repeated},
                                    {"replication_pad", pad, "replicate"},
                                    {"roll", roll},
                                    {"select", select},
                                    {"select_scatter", selectScatter},
                                    {"slice", slice},
                                    {"slice_scatter", sliceScatter},
                                    {"split", splitBySizes},
                                    {"split_with_sizes", splitBySizes},
                                    {"stack", stack},
                                    {"tensor_split", splitAsEvenly},
                                    {"tile", tile},
                                    {"tril", triangle, "lower"},
                                    {"triu", triangle, "upper"},
                                    {"unbind", unbind},
                                    {"vsplit", splitAsEvenly}};
  return rows;
}

} // namespace tenon
