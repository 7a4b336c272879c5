// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's operators that cut tensors, put them together or move their elements along a dimension.
// Bounds of a slice may lie beyond the end, and an index may not.
#include "import/pt2/operator_rows.hpp"

#include "sys/text/text.hpp"

#include <algorithm>
#include <span>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

// `of`: the mode, where its operator has but one.
ModelValues pad(ModelBuilder& b, const Operands& given, const char* of) {
  Value x = self(given);
  const std::string mode = *of ? of : given.text("mode", "constant");
  const char* ours = mode == "constant"    ? "values"
                     : mode == "circular"  ? "periodic"
                     : mode == "reflect"   ? "reflect"
                     : mode == "replicate" ? "replicate"
                                           : nullptr;
  b.check(ours != nullptr, "its mode of padding is not known");
  const std::vector<Index> pads = given.integers(given.has("pad") ? "pad" : "padding", {});
  b.check(pads.size() % 2 == 0 && static_cast<int>(pads.size()) <= 2 * x->rank(),
          "it has another number of paddings");
  for (std::size_t i = 0; 2 * i < pads.size(); ++i)
    x = b.pad(x, x->rank() - 1 - static_cast<int>(i), pads[2 * i], pads[2 * i + 1], ours,
              given.real("value", 0));
  return {x};
}
ModelValues concatenate(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues values = given.values("tensors");
  b.check(!values.empty() && std::none_of(values.begin(), values.end(), [](Value v) { return !v; }),
          "it concatenates nothing");
  return {b.concatenate(values, static_cast<int>(given.integer("dim", 0)))};
}
ModelValues pieces(ModelBuilder& b, Value x, int d, const std::vector<Index>& sizes) {
  ModelValues made;
  Index at = 0;
  for (const Index size : sizes) {
    b.check(size >= 0 && size <= x->shape[static_cast<std::size_t>(d)] - at,
            "its pieces do not fit");
    made.push_back(b.slice(x, d, at, at + size));
    at += size;
  }
  return made;
}
ModelValues splitEvenly(ModelBuilder& b, Value x, int d, Index step) {
  const Index n = x->shape[static_cast<std::size_t>(d)];
  b.check(step >= 1 && n / step < 65536, "the size of its pieces is out of range");
  std::vector<Index> sizes;
  for (Index at = 0; at < n; at += std::min(step, n - at))
    sizes.push_back(std::min(step, n - at));
  return pieces(b, x, d, sizes);
}
ModelValues splitBySizes(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  const auto sizes = given.integers(given.has("split_sizes") ? "split_sizes" : "split_size", {});
  return given.operation().type.find("with_sizes") != std::string::npos || sizes.size() != 1
             ? pieces(b, x, d, sizes)
             : splitEvenly(b, x, d, sizes[0]);
}
ModelValues chunk(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], count = given.integer("chunks");
  b.check(count >= 1, "it makes no pieces");
  return splitEvenly(b, x, d, std::max((n + count - 1) / count, Index(1)));
}
Shape without(Shape shape, int d) {
  shape.erase(shape.begin() + d);
  return shape;
}
Value without(ModelBuilder& b, Value x, int d) {
  return b.reshape(x, without(x->shape, d));
}
ModelValues unbind(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  ModelValues made = splitEvenly(b, x, d, 1);
  for (Value& value : made)
    value = without(b, value, d);
  return made;
}
ModelValues select(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], i = given.integer("index");
  b.check(i >= -n && i < n, "its index is out of range");
  const Index begin = i < 0 ? i + n : i;
  return {without(b, b.slice(x, d, begin, begin + 1), d)};
}
constexpr Index kEnd = Index(1) << 61; // a slice goes to the end
ModelValues slice(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.slice(x, b.dimension(given.integer("dim", 0), x->rank()),
                  std::clamp(given.integer("start", 0), -kEnd, kEnd),
                  std::clamp(given.integer("end", kEnd), -kEnd, kEnd), given.integer("step", 1))};
}
ModelValues narrow(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], start = given.integer("start"),
              begin = start < 0 ? start + n : start, length = given.integer("length");
  b.check(begin >= 0 && length >= 0 && length <= n - begin, "its elements are out of range");
  return {b.slice(x, d, begin, begin + length)};
}
ModelValues stack(ModelBuilder& b, const Operands& given, const char*) {
  ModelValues values = given.values("tensors");
  b.check(!values.empty() && values[0], "it stacks nothing");
  const int d = b.dimension(given.integer("dim", 0), values[0]->rank() + 1);
  for (Value& value : values) {
    b.check(value && value->rank() >= d, "it stacks values of different shapes");
    Shape shape = value->shape;
    shape.insert(shape.begin() + d, 1);
    value = b.reshape(value, shape);
  }
  return {b.concatenate(values, d)};
}
ModelValues roll(ModelBuilder& b, const Operands& given, const char*) {
  Value x = self(given);
  const std::vector<Index> by = given.integers("shifts", {}), dims = given.integers("dims", {});
  const Shape shape = x->shape;
  if (dims.empty())
    return {b.reshape(b.roll(b.reshape(x, {-1}), 0, by.empty() ? 0 : by[0]), shape)};
  b.check(by.size() == dims.size(), "its lists have different lengths");
  for (std::size_t i = 0; i < by.size(); ++i)
    x = b.roll(x, b.dimension(dims[i], x->rank()), by[i]);
  return {x};
}
ModelValues differences(ModelBuilder& b, const Operands& given, const char*) {
  Value x = self(given);
  const int d = b.dimension(given.integer("dim", -1), x->rank());
  const Index times = given.integer("n", 1);
  if (given.has("prepend") || given.has("append") || times < 0 || times > 16)
    return {b.refuse("differences with further elements", "a concatenation before them", x->shape)};
  for (Index i = 0; i < times; ++i) {
    const Index n = x->shape[static_cast<std::size_t>(d)];
    x = b.binary("sub", b.slice(x, d, 1, n), b.slice(x, d, 0, std::max(n - 1, Index(0))));
  }
  return {x};
}
// Of square matrices: times the identity, and summed by rows.
ModelValues diagonal(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int first = b.dimension(given.integer("dim1", 0), x->rank()),
            second = b.dimension(given.integer("dim2", 1), x->rank());
  b.check(first != second, "it has the same dimension twice");
  const Index n = x->shape[static_cast<std::size_t>(first)];
  constexpr Index kMaxRows = 1024;
  if (given.integer("offset", 0) != 0 || x->shape[static_cast<std::size_t>(second)] != n ||
      n > kMaxRows)
    return {b.refuse("a diagonal beside the main one, or of a matrix that is not square",
                     "the main diagonal of square matrices", x->shape)};
  std::vector<int> order;
  for (int d = 0; d < x->rank(); ++d)
    if (d != first && d != second)
      order.push_back(d);
  order.insert(order.end(), {first, second});
  std::vector<double> identity(static_cast<std::size_t>(n * n), 0);
  for (Index i = 0; i < n; ++i)
    identity[static_cast<std::size_t>(i * (n + 1))] = 1;
  const Value one = b.constant(ModelConstant::ofNumbers({n, n}, std::move(identity)));
  return {b.reduce("sum", b.binary("mul", b.transpose(x, order), one), {x->rank() - 1}, false)};
}
ModelValues triangle(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.triangle(self(given), *of == 'u', given.real("diagonal", 0))};
}
ModelValues tile(ModelBuilder& b, const Operands& given, const char*) {
  std::vector<Index> times = given.integers(given.has("repeats") ? "repeats" : "dims", {});
  if (const auto rank = static_cast<std::size_t>(self(given)->rank()); times.size() < rank)
    times.insert(times.begin(), rank - times.size(), 1);
  return {b.tile(self(given), times)};
}
ModelValues flip(ModelBuilder& b, const Operands& given, const char*) {
  Value x = self(given);
  for (const Index d : given.integers("dims", {}))
    x = b.flip(x, b.dimension(d, x->rank()));
  return {x};
}
ModelValues cumulativeSum(ModelBuilder& b, const Operands& given, const char*) {
  return {b.cumulativeSum(self(given), b.dimension(given.integer("dim"), self(given)->rank()))};
}
// What self becomes when something is written into it; whoever walks the operations writes it
// there.
ModelValues copyInto(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(given.needed("src"), self(given)->shape)};
}
ModelValues fillWith(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(given.needed("value"), self(given)->shape)};
}
// A copy of self with other elements in a part of one dimension.
ModelValues sliceScatter(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim", 0), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  const auto bound = [&](Index at) { return std::clamp(at < 0 ? at + n : at, Index(0), n); };
  const Index begin = bound(given.integer("start", 0)), end = bound(given.integer("end", kEnd));
  if (given.integer("step", 1) != 1)
    return {b.refuse("elements that are written with a step", "a step of 1", x->shape)};
  return {b.replaced(x, d, begin, std::max(begin, end), given.needed("src"))};
}
ModelValues selectScatter(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), source = given.needed("src");
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], i = given.integer("index");
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
                                    {"constant_pad_nd", pad, "constant"},
                                    {"copy", copyInto},
                                    {"cumsum", cumulativeSum},
                                    {"diagonal", diagonal},
                                    {"diff", differences},
                                    {"fill", fillWith},
                                    {"flip", flip},
                                    {"narrow", narrow},
                                    {"pad", pad},
                                    {"reflection_pad", pad, "reflect"},
                                    {"repeat", tile},
                                    {"replication_pad", pad, "replicate"},
                                    {"roll", roll},
                                    {"select", select},
                                    {"select_scatter", selectScatter},
                                    {"slice", slice},
                                    {"slice_scatter", sliceScatter},
                                    {"split", splitBySizes},
                                    {"split_with_sizes", splitBySizes},
                                    {"stack", stack},
                                    {"tile", tile},
                                    {"tril", triangle, "lower"},
                                    {"triu", triangle, "upper"},
                                    {"unbind", unbind}};
  return rows;
}

} // namespace tenon
