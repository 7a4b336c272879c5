// SPDX-License-Identifier: BSD-2-Clause
// What moves elements, makes constants or asks for extents in PyTorch, and what has no layer. The parts of a
// spectral convolution are put together by the builder.
#include "import/pt2_operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tenon {

namespace {

using Value = ModelBuilder::Value;

ModelValues size(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const auto d = static_cast<std::size_t>(b.dimension(given.integer("dim"), x->rank()));
  return {b.number(static_cast<double>(x->shape[d]), true)};
}

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
ModelValues split(ModelBuilder& b, const Operands& given, const char*) {
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
ModelValues reshape(ModelBuilder& b, const Operands& given, const char*) {
  return {b.reshape(self(given), given.integers(given.has("shape") ? "shape" : "size", {}))};
}
ModelValues flatten(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int first = b.dimension(given.integer("start_dim", 0), x->rank());
  const int last = b.dimension(given.integer("end_dim", -1), x->rank());
  b.check(first <= last, "its dimensions are in the wrong order");
  Shape shape(x->shape.begin(), x->shape.begin() + first);
  shape.push_back(elements(Shape(x->shape.begin() + first, x->shape.begin() + last + 1)));
  shape.insert(shape.end(), x->shape.begin() + last + 1, x->shape.end());
  return {b.reshape(x, shape)};
}
ModelValues unflatten(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  std::vector<Index> sizes = given.integers("sizes", {}), shape = x->shape;
  const Index all = x->shape[static_cast<std::size_t>(d)];
  Index known = 1;
  for (const Index n : sizes)
    if (n != -1)
      known = n > 0 && known <= all / n ? known * n : all + 1; // more than there is
  for (Index& n : sizes)
    n = n == -1 ? all / std::max(known, Index(1)) : n;
  shape.erase(shape.begin() + d);
  shape.insert(shape.begin() + d, sizes.begin(), sizes.end());
  return {b.reshape(x, shape)};
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
ModelValues expandAs(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(self(given), given.needed("other")->shape)};
}
ModelValues unsqueeze(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  Shape shape = x->shape;
  shape.insert(shape.begin() + b.dimension(given.integer("dim"), x->rank() + 1), 1);
  return {b.reshape(x, shape)};
}
ModelValues squeeze(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> dims;
  for (const Index d : given.integers("dim", {}))
    dims.push_back(b.dimension(d, x->rank()));
  Shape shape;
  for (int d = 0; d < x->rank(); ++d) {
    const bool isNamed = !given.has("dim") || std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!isNamed || x->shape[static_cast<std::size_t>(d)] != 1)
      shape.push_back(x->shape[static_cast<std::size_t>(d)]);
  }
  return {b.reshape(x, shape)};
}
ModelValues permute(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> order;
  for (const Index d : given.integers("dims", {}))
    order.push_back(b.dimension(d, x->rank()));
  return {b.transpose(x, order)};
}
ModelValues transpose(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<int> order;
  for (int d = 0; d < x->rank(); ++d)
    order.push_back(d);
  if (x->rank() > 0)
    std::swap(order[static_cast<std::size_t>(b.dimension(given.integer("dim0", -1), x->rank()))],
              order[static_cast<std::size_t>(b.dimension(given.integer("dim1", -2), x->rank()))]);
  return {b.transpose(x, order)};
}
// Dimensions to other places, and the rest in its order.
ModelValues moveDimensions(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const std::vector<Index> from = given.integers("source", {}),
                           to = given.integers("destination", {});
  b.check(from.size() == to.size(), "its lists have different lengths");
  std::vector<int> order(static_cast<std::size_t>(x->rank()), -1);
  std::vector<bool> isMoved(order.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int d = b.dimension(from[i], x->rank());
    order[static_cast<std::size_t>(b.dimension(to[i], x->rank()))] = d;
    isMoved[static_cast<std::size_t>(d)] = true;
  }
  int next = 0;
  for (int& d : order) {
    while (d < 0 && next < x->rank() && isMoved[static_cast<std::size_t>(next)])
      ++next;
    d = d < 0 ? next++ : d;
  }
  return {b.transpose(x, order)};
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
ModelValues narrow(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)], start = given.integer("start"),
              begin = start < 0 ? start + n : start, length = given.integer("length");
  b.check(begin >= 0 && length >= 0 && length <= n - begin, "its elements are out of range");
  return {b.slice(x, d, begin, begin + length)};
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
  constexpr Index kMostRows = 1024;
  if (given.integer("offset", 0) != 0 || x->shape[static_cast<std::size_t>(second)] != n ||
      n > kMostRows)
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
ModelValues likeOther(ModelBuilder& b, const Operands& given, const char*) {
  return {b.reshape(self(given), given.needed("other")->shape)};
}
ModelValues expand(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(self(given), given.integers("size", {}))};
}

// -- constants

ModelValues filled(ModelBuilder& b, const Operands& given, double number) {
  const Shape shape = given.has("size") ? given.integers("size", {}) : self(given)->shape;
  b.checkShape(shape);
  return {b.expand(b.number(number), shape)};
}
ModelValues triangle(ModelBuilder& b, const Operands& given, const char* of) {
  return {b.triangle(self(given), *of == 'u', given.real("diagonal", 0))};
}
ModelValues identity(ModelBuilder& b, const Operands& given, const char*) {
  const Index rows = given.integer("n"), columns = given.integer("m", rows);
  constexpr Index kMostRows = 4096;
  b.check(rows >= 0 && columns >= 0 && rows <= kMostRows && columns <= kMostRows,
          "an identity is too large");
  const Value all = b.expand(b.number(1), {rows, columns});
  return {b.triangle(b.triangle(all, true, 0), false, 0)};
}
ModelValues scalarTensor(ModelBuilder& b, const Operands& given, const char*) {
  return {b.number(given.real("s"))};
}
ModelValues zeros(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, 0);
}
ModelValues ones(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, 1);
}
ModelValues full(ModelBuilder& b, const Operands& given, const char*) {
  return filled(b, given, given.real("fill_value"));
}
ModelValues range(ModelBuilder& b, const Operands& given, const char*) {
  const double first = given.real("start", 0), last = given.real("end"),
               step = given.real("step", 1);
  const double count = step == 0 ? -1 : std::ceil((last - first) / step);
  b.check(count >= 0 && count <= double(Index(1) << 23), "its number of steps is out of range");
  std::vector<double> numbers;
  bool areIntegers = true;
  for (double i = 0; i < count; ++i) {
    numbers.push_back(first + i * step);
    areIntegers = areIntegers && numbers.back() == std::floor(numbers.back());
  }
  // The type is that of its arguments, or the one that is asked for.
  const Index type = given.integer("dtype", areIntegers ? 5 : 7);
  return {b.constant(ModelConstant::ofNumbers({static_cast<Index>(numbers.size())}, numbers,
                                              type >= 1 && type <= 5))};
}
// Of coordinates along each dimension, those of all points.
ModelValues meshOfPoints(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues axes = given.values("tensors");
  const bool isSwapped = given.text("indexing", "ij") == "xy" && axes.size() > 1;
  Shape all;
  for (const Value axis : axes) {
    b.check(axis && axis->rank() == 1, "its coordinates have not one dimension");
    all.push_back(axis->shape[0]);
  }
  ModelValues made;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    Shape shape(axes.size(), 1);
    shape[d] = all[d];
    Value value = b.expand(b.reshape(axes[d], shape), all);
    if (isSwapped) {
      std::vector<int> order(axes.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<int>(i);
      std::swap(order[0], order[1]);
      value = b.transpose(value, order);
    }
    made.push_back(value);
  }
  return made;
}
ModelValues linspace(ModelBuilder& b, const Operands& given, const char*) {
  const double first = given.real("start"), last = given.real("end");
  const Index steps = given.integer("steps");
  b.check(steps >= 1 && steps <= Index(1) << 23, "its number of steps is out of range");
  std::vector<double> numbers;
  for (Index i = 0; i < steps; ++i)
    numbers.push_back(steps == 1 ? first
                                 : first + (last - first) * static_cast<double>(i) /
                                               static_cast<double>(steps - 1));
  return {b.constant(ModelConstant::ofNumbers({steps}, std::move(numbers)))};
}
// The weight v g / |v|, the norm over all dimensions but one.
ModelValues weightNorm(ModelBuilder& b, const Operands& given, const char*) {
  const ModelConstant v = b.numbersOf(given.needed("v"), "a weight"),
                      g = b.numbersOf(given.needed("g"), "the norm of a weight");
  const int dim = b.dimension(given.integer("dim", 0), v.rank());
  const Index n = v.shape()[static_cast<std::size_t>(dim)];
  b.check(g.elements() == n, "it needs one norm for each output");
  std::vector<double> squares(static_cast<std::size_t>(n), 0), numbers = v.numbers();
  const auto at = [&](const std::vector<Index>& index) {
    return static_cast<std::size_t>(index[static_cast<std::size_t>(dim)]);
  };
  forEachPlace(v.shape(), [&](const auto& index, Index place) {
    squares[at(index)] +=
        v.numbers()[static_cast<std::size_t>(place)] * v.numbers()[static_cast<std::size_t>(place)];
  });
  forEachPlace(v.shape(), [&](const auto& index, Index place) {
    numbers[static_cast<std::size_t>(place)] *=
        g.numbers()[at(index)] / std::sqrt(squares[at(index)]);
  });
  return {b.constant(
      ModelConstant::ofNumbers(v.shape(), std::move(numbers)).fixed(v.isFixed() && g.isFixed()))};
}

// -- spectral convolutions, and what has no layer

// The dimensions of a transform, which are all of space in their order.
std::vector<int> transformed(ModelBuilder& b, const Operands& given, Value x) {
  const std::string& type = given.operation().type;
  const Index space = std::max(x->rank() - 2, 0);
  const Index usual = type.find("fftn") != type.npos   ? space
                      : type.find("fft2") != type.npos ? 2
                                                       : 1;
  std::vector<Index> asked = given.integers("dim", {});
  if (asked.empty())
    for (Index d = 0; d < usual; ++d)
      asked.push_back(x->rank() - usual + d);
  std::vector<int> dims;
  for (const Index d : asked)
    dims.push_back(b.dimension(d, x->rank()));
  for (std::size_t i = 0; i < dims.size(); ++i)
    b.check(
        static_cast<Index>(dims.size()) == space && dims[i] == static_cast<int>(i) + 2,
        "a Fourier transform of [batch, channels, space...] is over all of space, in its order");
  return dims;
}
ModelValues fourier(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  if (given.has("s") || given.has("n"))
    return {b.refuse("a Fourier transform with a size of its own", "one without", x->shape)};
  return {b.fourier(x, transformed(b, given, x).size(), given.text("norm", "backward"))};
}
ModelValues inverseFourier(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  std::vector<Index> size = given.integers(given.has("n") ? "n" : "s", {});
  const std::vector<int> dims = transformed(b, given, x);
  // Of an even number of points, where nothing is said.
  if (size.empty())
    for (const int dim : dims) {
      const Index n = x->shape[static_cast<std::size_t>(dim)];
      size.push_back(dim + 1 == x->rank() ? 2 * (n - 1) : n);
    }
  return {b.inverseFourier(x, size, given.text("norm", "backward"))};
}
ModelValues viewAsComplex(ModelBuilder& b, const Operands& given, const char*) {
  return {b.complex(self(given))};
}
// Pairs of real and imaginary parts.
ModelValues complexOf(ModelBuilder& b, const Operands& given, const char*) {
  ModelValues parts;
  for (const char* name : {"real", "imag"}) {
    const Value x = given.needed(name);
    Shape shape = x->shape;
    shape.push_back(1);
    parts.push_back(b.reshape(x, shape));
  }
  return {b.complex(b.concatenate(parts, parts[0]->rank() - 1))};
}
// What self becomes when something is written into it; whoever walks the operations writes it there.
ModelValues copyInto(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(given.needed("src"), self(given)->shape)};
}
ModelValues fillWith(ModelBuilder& b, const Operands& given, const char*) {
  return {b.expand(given.needed("value"), self(given)->shape)};
}
// Where flags hold; or added at constant places of the first dimension.
ModelValues putAt(ModelBuilder& b, const Operands& given, const char*) {
  const ModelValues indices = given.values("indices");
  const Value x = self(given), source = given.needed("values");
  if (indices.size() == 1 && indices[0] && indices[0]->isConstant() && indices[0]->rank() == 1 &&
      !given.isFlagItem("indices", 0) && given.flag("accumulate", false) && x->rank() > 0) {
    Shape shape = x->shape;
    shape[0] = indices[0]->shape[0];
    return {b.scatterAdd(x, 0, indices[0], b.expand(source, shape))};
  }
  if (indices.size() != 1 || !indices[0] || !given.isFlagItem("indices", 0) ||
      indices[0]->shape != x->shape || elements(source->shape) != 1 ||
      given.flag("accumulate", false))
    return {b.refuse(fmt::format("{} by a tensor of indices", given.operation().type),
                     "flags of the tensor's shape, and one number", x->shape)};
  return {b.where(indices[0], b.reshape(source, {}), x)};
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
// "bixy,ioxy->boxy" by any letters, in one to three dimensions of space.
bool isOfModes(const std::string& equation) {
  for (std::size_t dims = 1; dims <= 3; ++dims) {
    const std::size_t n = dims + 2;
    if (equation.size() != 3 * n + 3)
      continue;
    const std::string a = equation.substr(0, n), w = equation.substr(n + 1, n),
                      y = equation.substr(2 * n + 3), space = a.substr(2);
    const std::string all = a.substr(0, 2) + w[1] + space;
    return equation[n] == ',' && equation.substr(2 * n + 1, 2) == "->" &&
           std::set<char>(all.begin(), all.end()).size() == all.size() && w[0] == a[1] &&
           w.substr(2) == space && y == std::string{a[0], w[1]} + space;
  }
  return false;
}
ModelValues einsum(ModelBuilder& b, const Operands& given, const char*) {
  const std::string equation = given.text("equation", "");
  const ModelValues factors = given.values("tensors");
  b.check(std::none_of(factors.begin(), factors.end(), [](Value v) { return !v; }),
          "it has no factors");
  if (factors.size() == 2 && factors[1]->op == ModelOp::Complex && isOfModes(equation))
    return {b.modes(factors[0], factors[1])};
  // The weight may come first.
  const std::size_t comma = equation.find(','), arrow = equation.find("->");
  if (factors.size() == 2 && factors[0]->op == ModelOp::Complex && comma < arrow &&
      arrow != equation.npos &&
      isOfModes(equation.substr(comma + 1, arrow - comma - 1) + "," + equation.substr(0, comma) +
                equation.substr(arrow)))
    return {b.modes(factors[1], factors[0])};
  return {b.einsum(equation, factors)};
}
ModelValues indexed(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  return {b.refuse(fmt::format("{} by a tensor of indices", given.operation().type),
                   "an operator of an index map (TenonLinearOpCreateGather) before the network",
                   x->shape)};
}
// What has no layer, though there is another way.
ModelValues otherwise(ModelBuilder& b, const Operands& given, const char* advice) {
  const ModelOperation& operation = given.operation();
  return ModelValues(
      operation.results.size(),
      b.refuse(fmt::format("the operator {}", operation.type), advice, self(given)->shape));
}
// By constant indices in one dimension.
ModelValues index(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given);
  const ModelValues indices = given.values("indices");
  const auto is = [](Value v) { return v != nullptr; };
  const auto one = std::find_if(indices.begin(), indices.end(), is);
  if (std::count_if(indices.begin(), indices.end(), is) == 1 && (*one)->isConstant() &&
      (*one)->rank() == 1 && !given.isFlagItem("indices", one - indices.begin()))
    return {b.gather(x, static_cast<int>(one - indices.begin()), *one)};
  return indexed(b, given, "");
}
ModelValues addAt(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  Value source = given.needed("source");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, given, "");
  if (given.has("alpha"))
    source = b.binary("mul", source, given.value("alpha"));
  return {b.scatterAdd(x, b.dimension(given.integer("dim"), x->rank()), places, source)};
}
// Places that are the same in all other dimensions.
ModelValues scatterAdd(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index"), source = given.needed("src");
  const int d = b.dimension(given.integer("dim"), x->rank());
  const Value list = places->shape == source->shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.scatterAdd(x, d, list, source)} : indexed(b, given, "");
}
ModelValues gather(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  const int d = b.dimension(given.integer("dim"), x->rank());
  Shape shape = x->shape;
  b.check(places->rank() == x->rank(), "its indices have another number of dimensions");
  shape[static_cast<std::size_t>(d)] = places->shape[static_cast<std::size_t>(d)];
  const Value list = places->shape == shape ? b.placesAlong(places, d) : nullptr;
  return list ? ModelValues{b.gather(x, d, list)} : indexed(b, given, "");
}
ModelValues indexSelect(ModelBuilder& b, const Operands& given, const char*) {
  const Value x = self(given), places = given.needed("index");
  if (!places->isConstant() || places->rank() != 1)
    return indexed(b, given, "");
  return {b.gather(x, b.dimension(given.integer("dim"), x->rank()), places)};
}

} // namespace

std::span<const Pt2Row> pt2Structure() {
  static constexpr Pt2Row rows[] = {{"arange", range},
                                    {"cat", concatenate},
                                    {"chunk", chunk},
                                    {"complex", complexOf},
                                    {"constant_pad_nd", pad, "constant"},
                                    {"copy", copyInto},
                                    {"cumsum", cumulativeSum},
                                    {"diagonal", diagonal},
                                    {"diff", differences},
                                    {"einsum", einsum},
                                    {"expand", expand},
                                    {"expand_as", expandAs},
                                    {"eye", identity},
                                    {"fft_irfft", inverseFourier},
                                    {"fft_irfft2", inverseFourier},
                                    {"fft_irfftn", inverseFourier},
                                    {"fft_rfft", fourier},
                                    {"fft_rfft2", fourier},
                                    {"fft_rfftn", fourier},
                                    {"fill", fillWith},
                                    {"flatten", flatten},
                                    {"flip", flip},
                                    {"full", full},
                                    {"full_like", full},
                                    {"gather", gather},
                                    {"im2col", otherwise, "a convolution"},
                                    {"index", index},
                                    {"index_add", addAt},
                                    {"index_put", putAt},
                                    {"index_select", indexSelect},
                                    {"linspace", linspace},
                                    {"meshgrid", meshOfPoints},
                                    {"moveaxis", moveDimensions},
                                    {"movedim", moveDimensions},
                                    {"mT", transpose},
                                    {"narrow", narrow},
                                    {"new_full", full},
                                    {"new_ones", ones},
                                    {"new_zeros", zeros},
                                    {"ones", ones},
                                    {"ones_like", ones},
                                    {"pad", pad},
                                    {"permute", permute},
                                    {"reflection_pad", pad, "reflect"},
                                    {"repeat", tile},
                                    {"replication_pad", pad, "replicate"},
                                    {"reshape", reshape},
                                    {"reshape_as", likeOther},
                                    {"roll", roll},
                                    {"scalar_tensor", scalarTensor},
                                    {"scatter_add", scatterAdd},
                                    {"select", select},
                                    {"select_scatter", selectScatter},
                                    {"slice", slice},
                                    {"slice_scatter", sliceScatter},
                                    {"split", split},
                                    {"split_with_sizes", split},
                                    {"squeeze", squeeze},
                                    {"stack", stack},
                                    {"swapaxes", transpose},
                                    {"sym_size", size},
                                    {"t", transpose},
                                    {"tile", tile},
                                    {"transpose", transpose},
                                    {"tril", triangle, "lower"},
                                    {"triu", triangle, "upper"},
                                    {"unbind", unbind},
                                    {"unflatten", unflatten},
                                    {"_unsafe_view", reshape},
                                    {"unsqueeze", unsqueeze},
                                    {"view", reshape},
                                    {"view_as", likeOther},
                                    {"view_as_complex", viewAsComplex},
                                    {"_weight_norm", weightNorm},
                                    {"zeros", zeros},
                                    {"zeros_like", zeros}};
  return rows;
}

} // namespace tenon
