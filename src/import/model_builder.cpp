// SPDX-License-Identifier: BSD-2-Clause
// Shapes and structure of the canonical graph: what every operator makes of its inputs, checked, for
// the file is not trusted. Patterns over several operators are in model_patterns.cpp.
#include "import/model_builder.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon {

namespace {

// A value of which a layer computes more elements than this is a mistake in the file: no array of any
// process has as many.
constexpr Index kMostValueElements = Index(1) << 50;
constexpr Index kMostNumbers = Index(1) << 24; // of computed constants, all together
constexpr Index kMostWindow = Index(1) << 24;  // kernel, stride, dilation, padding
constexpr std::size_t kMostRuns = 256;         // slices that a list of indices becomes
constexpr Index kMostCopies = 4096;            // of a dimension of more than one element
constexpr Index kMostRows = 1024;              // of a matrix that stands for a sum or a new order

} // namespace

void checkRefusals(const ModelGraph& graph, const std::string& file, std::size_t operators) {
  if (graph.refusals.empty())
    return;
  std::string text = fmt::format("{}: {} of its {} operators cannot be imported:", file,
                                 graph.refusals.size(), operators);
  for (const ModelRefusal& refusal : graph.refusals) {
    std::vector<std::string> shapes;
    for (const Shape& shape : refusal.inputs)
      shapes.push_back(fmt::format("[{}]", fmt::join(shape, ",")));
    text += fmt::format("\n  {}: {}{}\n    {}\n    what works: {}", refusal.label, refusal.what,
                        shapes.empty() ? "" : ", with inputs " + joined(shapes, ", "),
                        refusal.where.empty() ? "(the file has no source line)" : refusal.where,
                        refusal.advice);
  }
  throw Error(TENON_ERR_SUPPORT, text);
}

void ModelBuilder::begin(const ModelOperation& operation, std::vector<Shape> inputs) {
  label_ = operation.label;
  where_ = operation.where;
  inputs_ = std::move(inputs);
}

void ModelBuilder::fail(const std::string& why) const {
  throw Error(TENON_ERR_FORMAT, fmt::format("operation '{}': {}", label_, why));
}

void ModelBuilder::misfit(const std::string& why) const {
  bool isFree = false;
  for (const ModelInput& input : weights_.program().inputs)
    for (const auto& extent : input.shape)
      isFree = isFree || !extent;
  if (!isFree)
    fail(why);
  std::vector<std::string> shapes;
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
    shapes.push_back(
        fmt::format("{} of [{}]", graph_.inputNames[i], fmt::join(graph_.inputs[i]->shape, ",")));
  throw Error(TENON_ERR_SHAPE,
              fmt::format("operation '{}'{}: {}, with {}; the file leaves extents free that the "
                          "model's code may fix: give those with which it was exported",
                          label_, where_.empty() ? "" : " (" + where_ + ")", why, joined(shapes)));
}

int ModelBuilder::dimension(Index d, int rank) const {
  const Index counted = d < 0 ? d + rank : d;
  if (counted < 0 || counted >= rank)
    fail(fmt::format("there is no dimension {} among {}", d, rank));
  return static_cast<int>(counted);
}

void ModelBuilder::checkShape(const Shape& shape) const {
  if (shape.size() > kMostModelDimensions)
    fail(fmt::format("a value has {} dimensions; at most {} are possible", shape.size(),
                     kMostModelDimensions));
  Index all = 1;
  for (const Index extent : shape) {
    if (extent < 0)
      misfit(fmt::format("a value would have shape [{}]; the input is too small for this operation",
                         fmt::join(shape, ",")));
    if (__builtin_mul_overflow(all, std::max(extent, Index(1)), &all) || all > kMostValueElements)
      fail(fmt::format("a value of shape [{}] is too large", fmt::join(shape, ",")));
  }
}

ModelValue* ModelBuilder::make(ModelOp op, ModelValues inputs, Shape shape) {
  checkShape(shape);
  if (graph_.values.size() >= 8 * kMostOperations)
    fail("the network has too many operations");
  ModelValue& value = graph_.values.emplace_back();
  value.op = op;
  value.inputs = std::move(inputs);
  value.shape = std::move(shape);
  value.label = label_;
  value.where = where_;
  return &value;
}

ModelBuilder::Value ModelBuilder::refuse(const std::string& what, const std::string& advice,
                                         Shape shape) {
  graph_.refusals.push_back({label_, where_, what, advice, inputs_});
  return make(ModelOp::Refused, {}, std::move(shape));
}

ModelBuilder::Value ModelBuilder::input(const std::string& name, const Shape& shape) {
  ModelValue* made = make(ModelOp::Input, {}, shape);
  made->label = name;
  graph_.inputs.push_back(made);
  graph_.inputNames.push_back(name);
  return made;
}

ModelBuilder::Value ModelBuilder::constant(ModelConstant constant) {
  ModelValue* made = make(ModelOp::Constant, {}, constant.shape());
  if (constant.isNumbers() && (numbers_ += constant.elements()) > kMostNumbers)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}': constants that the model computes have more than {} "
                            "numbers together",
                            label_, kMostNumbers));
  // Integers are sizes and indices, never weights.
  made->constant = constant.isInteger() ? weights_.folded(constant) : std::move(constant);
  return made;
}

void ModelBuilder::spend(Index operations) {
  constexpr Index kMostSpent = Index(1) << 28;
  if (operations > kMostSpent - spent_)
    throw Error(TENON_ERR_SUPPORT,
                fmt::format("operation '{}': the model computes too much with constants", label_));
  spent_ += operations;
}

ModelBuilder::Value ModelBuilder::number(double value, bool isInteger) {
  return constant(ModelConstant::ofNumbers({}, {value}, isInteger));
}

ModelBuilder::Value ModelBuilder::integers(const std::vector<Index>& values) {
  return constant(ModelConstant::ofNumbers({static_cast<Index>(values.size())},
                                           {values.begin(), values.end()}, true));
}

ModelConstant ModelBuilder::numbersOf(Value value, const char* what) const {
  if (!value || !value->isConstant())
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("operation '{}'{}: {} is computed from an input of the network, and must "
                    "be a constant",
                    label_, where_.empty() ? "" : " (" + where_ + ")", what));
  return fold(value);
}

std::vector<Index> ModelBuilder::integersOf(Value value, const char* what) const {
  std::vector<Index> made;
  const ModelConstant numbers = numbersOf(value, what);
  for (const double number : numbers.numbers()) {
    check(number == number, "a size is no number");
    // The largest integers stand for "to the end".
    made.push_back(static_cast<Index>(std::clamp(number, -4e18, 4e18)));
  }
  return made;
}

ModelBuilder::Value ModelBuilder::transpose(Value x, std::vector<int> permutation) {
  check(static_cast<int>(permutation.size()) == x->rank(),
        "it permutes another number of dimensions");
  std::vector<bool> seen(permutation.size(), false);
  for (int& d : permutation) {
    d = dimension(d, x->rank());
    check(!seen[static_cast<std::size_t>(d)], "it permutes a dimension twice");
    seen[static_cast<std::size_t>(d)] = true;
  }
  if (x->isConstant())
    return constant(x->constant->transposed(permutation));
  if (x->op == ModelOp::Complex) {
    permutation.push_back(x->rank());
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
  ModelValue* made = make(ModelOp::Transpose, {x}, shape);
  made->dims = permutation;
  return made;
}

ModelBuilder::Value ModelBuilder::reshape(Value x, std::vector<Index> shape) {
  check(std::count(shape.begin(), shape.end(), -1) <= 1, "a reshape has two open extents");
  if (const auto open = std::find(shape.begin(), shape.end(), -1); open != shape.end()) {
    *open = 1;
    checkShape(shape);
    const Index rest = elements(shape);
    check(rest > 0 && elements(x->shape) % rest == 0, "a reshape does not fit the value");
    *open = elements(x->shape) / rest;
  }
  checkShape(shape);
  if (elements(shape) != elements(x->shape))
    misfit(fmt::format("a reshape of [{}] to [{}] changes the number of elements",
                       fmt::join(x->shape, ","), fmt::join(shape, ",")));
  if (shape == x->shape)
    return x;
  if (x->isConstant()) {
    const auto made = x->constant->reshaped(shape);
    return constant(made ? *made : *fold(x).reshaped(shape));
  }
  // [n, c, ...] -> [n, groups, -1] -> instance norm -> [n, c, ...].
  if (x->op == ModelOp::InstanceNorm && x->inputs[0]->op == ModelOp::Reshape &&
      x->inputs[0]->inputs[0]->shape == shape && x->shape.size() == 3 && shape.size() > 2 &&
      x->shape[1] != shape[1] && x->shape[0] == shape[0] && shape[1] % x->shape[1] == 0 &&
      (x->inputs.size() == 1 || (isFilledWith(x->inputs[1], 1) && isFilledWith(x->inputs[2], 0)))) {
    ModelValue* made = make(ModelOp::GroupNorm, {x->inputs[0]->inputs[0]}, shape);
    made->groups = x->shape[1];
    made->epsilon = x->epsilon;
    return made;
  }
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

ModelBuilder::Value ModelBuilder::slice(Value x, int dim, Index begin, Index end, Index step) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  const Index n = x->shape[d];
  check(step != 0, "a slice has step 0");
  if (step < 0) {
    check(step > -kMostWindow, "a slice has a step that is too large");
    begin = std::clamp(begin < 0 ? begin + n : begin, Index(-1), n - 1);
    end = std::clamp(end < 0 && end >= -n ? end + n : end, Index(-1), n);
    if (x->isConstant())
      return constant(*fold(x).sliced(static_cast<int>(d), begin, end, step));
    if (begin <= end)
      return slice(x, dim, 0, 0);
    return flip(slice(x, dim, begin + (begin - end - 1) / -step * step, begin + 1, -step), dim);
  }
  check(step < kMostWindow, "a slice has a step that is too large");
  begin = std::clamp(begin < 0 ? begin + n : begin, Index(0), n);
  end = std::clamp(end < 0 ? end + n : end, begin, n);
  if (x->isConstant()) {
    const auto made = x->constant->sliced(static_cast<int>(d), begin, end, step);
    return constant(made ? *made : *fold(x).sliced(static_cast<int>(d), begin, end, step));
  }
  Shape shape = x->shape;
  shape[d] = (end - begin + step - 1) / step;
  if (shape[d] == n)
    return x;
  if (x->op == ModelOp::Zeros)
    return zeros(shape);
  if (x->op == ModelOp::Complex)
    return complex(slice(x->inputs[0], static_cast<int>(d), begin, end, step));
  if (step == 1 && x->dim == static_cast<int>(d))
    if (const Value part = partOfJoined(x, begin, end))
      return part;
  ModelValue* made = make(ModelOp::Slice, {x}, shape);
  made->dim = static_cast<int>(d);
  made->begin = begin;
  made->end = end;
  made->step = step;
  return made;
}

// A slice of what was padded or concatenated along its dimension; null where that must be made whole.
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
  // What exporters cut off of what they padded.
  if (begin == low && end == low + n)
    return x->inputs[0];
  if (x->modes[0] != "values" || *x->padValue != 0 || begin == end)
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

ModelBuilder::Value ModelBuilder::replaced(Value x, int dim, Index begin, Index end, Value part) {
  const Index n = x->shape[static_cast<std::size_t>(dimension(dim, x->rank()))];
  ModelValues parts;
  if (begin > 0)
    parts.push_back(slice(x, dim, 0, begin));
  parts.push_back(part);
  if (end < n)
    parts.push_back(slice(x, dim, end, n));
  const Value made = concatenate(parts, dim);
  check(made->shape == x->shape, "what it writes has another shape");
  return made;
}

ModelBuilder::Value ModelBuilder::along(Value x, int dim, Index rows,
                                        const std::function<double(Index, Index)>& matrix) {
  const int d = dimension(dim, x->rank());
  const Index columns = x->shape[static_cast<std::size_t>(d)];
  if (std::max(rows, columns) > kMostRows) {
    Shape shape = x->shape;
    shape[static_cast<std::size_t>(d)] = rows;
    return refuse(
        fmt::format("a product with a matrix [{},{}] along dimension {}", rows, columns, d),
        fmt::format("at most {} elements in this dimension", kMostRows), shape);
  }
  std::vector<double> numbers;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      numbers.push_back(matrix(i, j));
  const Value weight = constant(ModelConstant::ofNumbers({rows, columns}, std::move(numbers)));
  std::vector<int> order(static_cast<std::size_t>(x->rank())), back = order;
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + d);
  order.push_back(d);
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  const Value last = transpose(x, order);
  if (!x->isConstant() || x->constant->isTrained())
    return transpose(linear(last, weight, nullptr), back);
  Shape shape = last->shape;
  shape.back() = rows;
  const Value flat = reshape(last, {elements(x->shape) / std::max(columns, Index(1)), columns});
  return transpose(reshape(foldedMatmul(flat, transpose(weight, {1, 0})), shape), back);
}

ModelBuilder::Value ModelBuilder::flip(Value x, int dim) {
  const int d = dimension(dim, x->rank());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  if (x->isConstant())
    return slice(x, d, n - 1, -1 - n, -1);
  return n < 2 ? x : along(x, d, n, [n](Index i, Index j) { return double(i + j == n - 1); });
}

ModelBuilder::Value ModelBuilder::cumulativeSum(Value x, int dim, bool isExclusive,
                                                bool isFromEnd) {
  const Index n = x->shape[static_cast<std::size_t>(dimension(dim, x->rank()))];
  return along(x, dim, n, [=](Index i, Index j) {
    return double(i == j ? !isExclusive : isFromEnd ? j > i : j < i);
  });
}

ModelBuilder::Value ModelBuilder::triangle(Value x, bool isUpper, double diagonal) {
  check(x->rank() >= 2, "a triangle needs a matrix");
  const Shape matrix(x->shape.end() - 2, x->shape.end());
  check(elements(matrix) <= kMostNumbers, "a triangle is too large");
  std::vector<double> flags;
  forEachPlace(matrix, [&](const std::vector<Index>& index, Index) {
    const auto above = static_cast<double>(index[1] - index[0]);
    flags.push_back(double(isUpper ? above >= diagonal : above <= diagonal));
  });
  const bool isInteger = x->isConstant() && x->constant->isInteger();
  return where(constant(ModelConstant::ofNumbers(matrix, std::move(flags))), x,
               number(0, isInteger));
}

ModelBuilder::Value ModelBuilder::pad(Value x, int dim, Index low, Index high,
                                      const std::string& mode, double value) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  if (low == 0 && high == 0)
    return x;
  check(std::abs(low) < kMostWindow && std::abs(high) < kMostWindow, "a padding is too large");
  if (low < 0 || high < 0) {
    x = slice(x, static_cast<int>(d), std::max(-low, Index(0)),
              x->shape[d] - std::max(-high, Index(0)));
    return pad(x, static_cast<int>(d), std::max(low, Index(0)), std::max(high, Index(0)), mode,
               value);
  }
  Shape shape = x->shape;
  shape[d] += low + high;
  ModelValue* made = make(ModelOp::Pad, {x}, shape);
  made->dim = static_cast<int>(d);
  made->low = {low};
  made->high = {high};
  made->modes = {mode};
  made->padValue = value;
  return made;
}

ModelBuilder::Value ModelBuilder::concatenate(ModelValues values, int dim) {
  check(!values.empty(), "it concatenates nothing");
  const auto d = static_cast<std::size_t>(dimension(dim, values[0]->rank()));
  Shape shape = values[0]->shape;
  shape[d] = 0;
  for (const Value value : values) {
    Shape other = value->shape;
    check(other.size() == shape.size(), "it concatenates values of different dimensions");
    shape[d] += other[d];
    checkShape(shape);
    other[d] = shape[d];
    check(other == shape, "it concatenates values whose other extents differ");
  }
  if (shape[d] > 0)
    std::erase_if(values, [&](Value value) { return value->shape[d] == 0; });
  if (values.size() == 1)
    return values[0];
  if (std::all_of(values.begin(), values.end(), [](Value v) { return v->isConstant(); })) {
    std::vector<ModelConstant> parts;
    for (const Value value : values)
      parts.push_back(*value->constant);
    if (const auto made = ModelConstant::concatenated(parts, static_cast<int>(d)))
      return constant(*made);
    for (std::size_t i = 0; i < values.size(); ++i)
      parts[i] = fold(values[i]);
    return constant(*ModelConstant::concatenated(parts, static_cast<int>(d)));
  }
  if (const Value padded = paddedByZeros(values, static_cast<int>(d)))
    return padded;
  if (const Value padded = foldedPadding(values, static_cast<int>(d)))
    return padded;
  if (const Value rolled = foldedRoll(values, static_cast<int>(d)))
    return rolled;
  ModelValue* made = make(ModelOp::Concatenate, values, shape);
  made->dim = static_cast<int>(d);
  return made;
}

Shape ModelBuilder::broadcast(const Shape& a, const Shape& b) const {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const Index p = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const Index q = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (p != q && p != 1 && q != 1)
      misfit(fmt::format("shapes [{}] and [{}] do not fit each other", fmt::join(a, ","),
                         fmt::join(b, ",")));
    shape[d] = p == 1 ? q : p;
  }
  return shape;
}

ModelBuilder::Value ModelBuilder::expand(Value x, std::vector<Index> shape) {
  for (Index& extent : shape)
    extent = extent < 0 ? 1 : extent;
  const Shape wanted = broadcast(x->shape, shape);
  checkShape(wanted);
  if (wanted == x->shape)
    return x;
  // What is trained stays what it is: a class token for all of a batch.
  if (!x->isConstant() || x->constant->isTrained())
    return make(ModelOp::Expand, {x}, wanted);
  const ModelConstant source = fold(x);
  const Shape& from = source.shape();
  const std::size_t extra = wanted.size() - from.size();
  std::vector<double> numbers;
  check(elements(wanted) <= Index(1) << 23, "an enlarged constant is too large");
  forEachPlace(wanted, [&](const std::vector<Index>& index, Index) {
    Index at = 0;
    for (std::size_t d = 0; d < from.size(); ++d)
      at = at * from[d] + (from[d] == 1 ? 0 : index[d + extra]);
    numbers.push_back(source.numbers()[static_cast<std::size_t>(at)]);
  });
  return constant(ModelConstant::ofNumbers(wanted, std::move(numbers), source.isInteger())
                      .fixed(source.isFixed()));
}

// Padding that takes away at one end what it puts in at the other.
ModelBuilder::Value ModelBuilder::roll(Value x, int dim, Index by) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  const Index n = x->shape[d];
  if (n == 0 || by % n == 0)
    return x;
  by = (by % n + n) % n;
  if (x->isConstant()) {
    const ModelConstant whole = fold(x);
    return constant(*ModelConstant::concatenated({*whole.sliced(static_cast<int>(d), n - by, n, 1),
                                                  *whole.sliced(static_cast<int>(d), 0, n - by, 1)},
                                                 static_cast<int>(d)));
  }
  if (by > n - by)
    by -= n;
  ModelValue* made = make(ModelOp::Pad, {x}, x->shape);
  made->dim = static_cast<int>(d);
  made->low = {by};
  made->high = {-by};
  made->modes = {"periodic"};
  made->padValue = 0;
  return made;
}

ModelBuilder::Value ModelBuilder::gather(Value x, int dim, Value places) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  const Index n = x->shape[d];
  check(places->rank() == 1, "its indices have not one dimension");
  std::vector<Index> order = integersOf(places, "a list of indices");
  if (order.empty())
    return slice(x, static_cast<int>(d), 0, 0);
  for (Index& place : order) {
    place += place < 0 ? n : 0;
    check(place >= 0 && place < n, "an index is out of range");
  }
  if (x->isConstant() && x->constant->isNumbers())
    spend(static_cast<Index>(order.size()) * (elements(x->shape) / n));
  ModelValues runs;
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && order[end] == order[end - 1] + 1)
      ++end;
    runs.push_back(slice(x, static_cast<int>(d), order[i], order[end - 1] + 1));
    i = end;
    if (!x->isConstant() && runs.size() > kMostRuns) {
      Shape shape = x->shape;
      shape[d] = static_cast<Index>(order.size());
      return refuse(fmt::format("indices in more than {} pieces", kMostRuns),
                    "an operator of an index map (TenonLinearOpCreateGather) before the network",
                    shape);
    }
  }
  return concatenate(runs, static_cast<int>(d));
}

ModelBuilder::Value ModelBuilder::scatterAdd(Value x, int dim, Value places, Value source) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  const std::vector<Index> to = integersOf(places, "a list of indices");
  const Index n = x->shape[d];
  Shape wanted = x->shape;
  wanted[d] = static_cast<Index>(to.size());
  check(places->rank() == 1 && source->shape == wanted, "its indices do not fit what it adds");
  check(std::ranges::all_of(to, [n](Index i) { return i >= -n && i < n; }),
        "an index is out of range");
  const Value sum = along(source, dim, n, [&](Index i, Index j) {
    const Index at = to[static_cast<std::size_t>(j)];
    return double((at < 0 ? at + n : at) == i);
  });
  const bool isZero = x->op == ModelOp::Zeros || (x->isConstant() && isFilledWith(x, 0));
  return isZero && (!x->isConstant() || !x->constant->isTrained()) ? sum : binary("add", x, sum);
}

ModelBuilder::Value ModelBuilder::scatter(Value x, int dim, Value places, Value source) {
  const auto d = static_cast<std::size_t>(dimension(dim, x->rank()));
  const Index n = x->shape[d];
  std::vector<Index> to = integersOf(places, "a list of indices"), sorted;
  for (Index& place : to) {
    place += place < 0 ? n : 0;
    check(place >= 0 && place < n, "an index is out of range");
  }
  sorted = to;
  std::ranges::sort(sorted);
  check(std::ranges::adjacent_find(sorted) == sorted.end(), "it writes to one place twice");
  if (to.empty())
    return x;
  if (to == sorted && to.back() - to.front() + 1 == static_cast<Index>(to.size()))
    return replaced(x, static_cast<int>(d), to.front(), to.back() + 1, source);
  Shape shape(x->shape.size() - d, 1);
  shape[0] = n;
  std::vector<double> flags(static_cast<std::size_t>(n), 0);
  for (const Index place : to)
    flags[static_cast<std::size_t>(place)] = 1;
  return where(constant(ModelConstant::ofNumbers(shape, std::move(flags))),
               scatterAdd(zeros(x->shape), static_cast<int>(d), places, source), x);
}

ModelBuilder::Value ModelBuilder::placesAlong(Value places, int dim) {
  if (!places->isConstant())
    return nullptr;
  const auto d = static_cast<std::size_t>(dimension(dim, places->rank()));
  const ModelConstant all = fold(places);
  std::vector<Index> list(static_cast<std::size_t>(all.shape()[d]), 0);
  bool isOne = true;
  forEachPlace(all.shape(), [&](const std::vector<Index>& index, Index place) {
    Index& its = list[static_cast<std::size_t>(index[d])];
    const auto number = static_cast<Index>(all.numbers()[static_cast<std::size_t>(place)]);
    const bool isFirst = std::accumulate(index.begin(), index.end(), Index(0)) == index[d];
    isOne = isOne && (isFirst || its == number);
    its = isFirst ? number : its;
  });
  return isOne ? integers(list) : nullptr;
}

ModelBuilder::Value ModelBuilder::tile(Value x, const std::vector<Index>& times) {
  check(static_cast<int>(times.size()) >= x->rank(), "it repeats fewer dimensions than there are");
  std::vector<Index> shape(times.size() - x->shape.size(), 1);
  shape.insert(shape.end(), x->shape.begin(), x->shape.end());
  x = reshape(x, shape);
  if (x->isConstant()) {
    Index all = elements(x->shape);
    for (const Index count : times)
      spend(all *= std::clamp(count, Index(1), kMostCopies));
  }
  // Extents of 1 grow; the others are copied.
  for (std::size_t d = 0; d < times.size(); ++d) {
    check(times[d] >= 0 && times[d] < kMostWindow, "it repeats a dimension too often");
    if (shape[d] == 1)
      shape[d] = times[d];
    else if (times[d] == 0)
      x = slice(x, static_cast<int>(d), 0, 0);
    else
      check(times[d] < kMostCopies, "it repeats a dimension too often");
  }
  for (std::size_t d = 0; d < times.size(); ++d)
    if (x->shape[d] != 1 && times[d] > 1)
      x = concatenate(ModelValues(static_cast<std::size_t>(times[d]), x), static_cast<int>(d));
  for (std::size_t d = 0; d < times.size(); ++d)
    shape[d] = x->shape[d] == 1 ? shape[d] : x->shape[d];
  return expand(x, shape);
}

std::vector<Index> ModelBuilder::outputs(Value x, const Windows& w, bool ceil) const {
  const auto spatial = static_cast<std::size_t>(x->rank() - 2);
  for (const auto* list : {&w.kernel, &w.stride, &w.dilation, &w.low, &w.high})
    check(list->size() == spatial, "its windows have another number of dimensions than its input");
  std::vector<Index> extents;
  for (std::size_t s = 0; s < spatial; ++s) {
    const Index k = w.kernel[s], step = w.stride[s], spacing = w.dilation[s];
    for (const Index size : {k, step, spacing})
      check(size >= 1 && size < kMostWindow, "a window's size is out of range");
    for (const Index size : {w.low[s], w.high[s]})
      check(size >= 0 && size < kMostWindow, "a window's padding is out of range");
    const Index n = x->shape[s + 2], span = n + w.low[s] + w.high[s] - spacing * (k - 1) - 1;
    if (w.isTransposed) {
      const Index more = w.outputPadding.empty() ? 0 : w.outputPadding[s];
      check(more >= 0 && more < kMostWindow, "a window's padding is out of range");
      extents.push_back((n - 1) * step - w.low[s] - w.high[s] + spacing * (k - 1) + 1 + more);
      continue;
    }
    if (span < 0)
      fail(fmt::format("its window of {} elements is larger than its input of {}",
                       spacing * (k - 1) + 1, n + w.low[s] + w.high[s]));
    Index count = (ceil ? (span + step - 1) / step : span / step) + 1;
    if (ceil && (count - 1) * step >= n + w.low[s])
      --count;
    extents.push_back(count);
  }
  return extents;
}

ModelBuilder::Value ModelBuilder::convolution(Value x, Value weight, Value bias, Windows w) {
  check(x->rank() >= 3 && x->rank() <= 5 && weight->rank() == x->rank(),
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
  // What was padded before belongs to the window.
  while (!w.isTransposed && x->op == ModelOp::Pad && x->dim >= 2) {
    const auto s = static_cast<std::size_t>(x->dim - 2);
    check(w.low.size() == modes.size() && w.high.size() == modes.size(),
          "its windows have another number of dimensions than its input");
    bool fits = w.low[s] == 0 && w.high[s] == 0 && x->low[0] >= 0 && x->high[0] >= 0;
    // Padding by the window itself is of zeros, around what was padded.
    for (std::size_t e = 0; e < modes.size(); ++e)
      fits = fits && !(modes[e] == "none" && (w.low[e] != 0 || w.high[e] != 0));
    const bool hasValue = x->modes[0] == "values" && *x->padValue != 0;
    if (!fits || (hasValue && value && *value != *x->padValue))
      break;
    w.low[s] = x->low[0];
    w.high[s] = x->high[0];
    modes[s] = x->modes[0] == "values" && !hasValue ? "zero" : x->modes[0];
    if (hasValue)
      value = x->padValue;
    x = x->inputs[0];
  }
  Shape shape = {x->shape[0], channels};
  for (const Index extent : outputs(x, w, false))
    shape.push_back(extent);
  if (!weight->isConstant() || (bias && !bias->isConstant()))
    return refuse("a convolution whose weight is computed from an input",
                  "a weight that is a parameter", shape);
  ModelValue* made = make(ModelOp::Convolution, {x, weight}, shape);
  if (bias)
    made->inputs.push_back(bias);
  made->kernel = w.kernel;
  made->stride = w.stride;
  made->dilation = w.dilation;
  made->low = w.low;
  made->high = w.high;
  made->outputPadding = w.outputPadding;
  made->groups = w.groups;
  made->isTransposed = w.isTransposed;
  made->modes = modes;
  made->padValue = value;
  return made;
}

ModelBuilder::Value ModelBuilder::pooling(Value x, Pool kind, const Windows& w, bool ceil) {
  check(x->rank() >= 3 && x->rank() <= 5, "a pooling needs an input [batch, channels, space...]");
  Shape shape = {x->shape[0], x->shape[1]};
  for (const Index extent : outputs(x, w, ceil))
    shape.push_back(extent);
  ModelValue* made = make(ModelOp::Pooling, {x}, shape);
  made->kernel = w.kernel;
  made->stride = w.stride;
  made->dilation = w.dilation;
  made->low = w.low;
  made->high = w.high;
  made->ceil = ceil;
  made->isMaximum = kind == Pool::Maximum;
  made->includesPadding = kind != Pool::AverageInside;
  return made;
}

ModelBuilder::Value ModelBuilder::adaptivePooling(Value x, const std::vector<Index>& size) {
  check(
      x->rank() >= 3 && static_cast<int>(size.size()) == x->rank() - 2,
      "a pooling needs an input [batch, channels, space...] and a size for each spatial dimension");
  if (std::all_of(size.begin(), size.end(), [](Index n) { return n == 1; })) {
    std::vector<int> dims(size.size());
    std::iota(dims.begin(), dims.end(), 2);
    return reduce("mean", x, dims, true);
  }
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  return make(ModelOp::AdaptivePooling, {x}, shape);
}

ModelBuilder::Value ModelBuilder::reduce(const std::string& method, Value x, std::vector<int> dims,
                                         bool keeps) {
  for (int& d : dims)
    d = dimension(d, x->rank());
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
  Shape kept = x->shape, left;
  for (int d = 0; d < x->rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(x->shape[static_cast<std::size_t>(d)]);
    else
      kept[static_cast<std::size_t>(d)] = 1;
  if (x->isConstant())
    return foldedReduction(method, x, kept, keeps ? kept : left);
  if (method == "product")
    return refuse("a product over a dimension", "a sum, mean or maximum", keeps ? kept : left);
  if (method == "min")
    return affine(reduce("max", affine(x, {-1}, {0}), dims, keeps), {-1}, {0});
  if (kept == x->shape)
    return keeps ? x : reshape(x, left);
  ModelValue* made = make(ModelOp::Reduce, {x}, kept);
  made->function = method;
  made->dims = dims;
  return keeps ? made : reshape(made, left);
}

ModelBuilder::Value ModelBuilder::resize(Value x, const std::vector<Index>& size, bool isLinear,
                                         bool alignsCorners) {
  check(x->rank() >= 3 && static_cast<int>(size.size()) == x->rank() - 2,
        "a change of resolution needs an input [batch, channels, space...] and as many sizes");
  Shape shape = {x->shape[0], x->shape[1]};
  shape.insert(shape.end(), size.begin(), size.end());
  if (shape == x->shape)
    return x;
  ModelValue* made = make(ModelOp::Resize, {x}, shape);
  made->isLinear = isLinear;
  made->alignsCorners = alignsCorners;
  return made;
}

ModelBuilder::Value ModelBuilder::batchNorm(Value x, Value weight, Value bias, Value mean,
                                            Value variance, double epsilon) {
  check(x->rank() >= 2, "a batch norm needs an input [batch, channels, ...]");
  const Shape channels = {x->shape[1]};
  if (!mean || !variance)
    return refuse("a batch norm that takes the statistics of the batch", "the model in eval mode",
                  x->shape);
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        channels, std::vector<double>(static_cast<std::size_t>(channels[0]), number)));
  };
  weight = weight ? weight : filled(1);
  bias = bias ? bias : filled(0);
  for (const Value value : {weight, bias, mean, variance})
    check(
        value->isConstant() && value->shape == channels,
        "the weights and statistics of a batch norm must be constants with one number per channel");
  ModelValue* made = make(ModelOp::BatchNorm, {x, weight, bias, mean, variance}, x->shape);
  made->epsilon = epsilon;
  return made;
}

ModelBuilder::Value ModelBuilder::norm(ModelOp op, Value x, Value weight, Value bias,
                                       double epsilon, Index detail) {
  check(x->rank() >= (op == ModelOp::LayerNorm ? 1 : 2),
        "a norm needs an input [batch, channels, ...]");
  Shape shape;
  if (op == ModelOp::LayerNorm) {
    check(detail >= 1 && detail <= x->rank(), "a layer norm has too many dimensions");
    shape.assign(x->shape.end() - detail, x->shape.end());
  } else {
    shape = {x->shape[1]};
    check(detail >= 1 && detail <= x->shape[1] && x->shape[1] % detail == 0,
          "the groups of a norm do not divide its channels");
  }
  const auto filled = [&](double number) {
    return constant(ModelConstant::ofNumbers(
        shape, std::vector<double>(static_cast<std::size_t>(elements(shape)), number)));
  };
  if (weight || bias) {
    weight = weight ? weight : filled(1);
    bias = bias ? bias : filled(0);
    for (const Value value : {weight, bias})
      check(value->isConstant() && value->shape == shape,
            "the weights of a norm must be constants of the shape that it normalises");
    if (weight->constant->name().empty() && isFilledWith(weight, 1) && isFilledWith(bias, 0))
      weight = bias = nullptr;
  }
  ModelValue* made = make(op, {x}, x->shape);
  if (weight)
    made->inputs.insert(made->inputs.end(), {weight, bias});
  made->epsilon = epsilon;
  made->groups = op == ModelOp::GroupNorm ? detail : 1;
  made->count = op == ModelOp::LayerNorm ? static_cast<int>(detail) : 0;
  return made;
}

// x / sqrt(mean of squares + epsilon), times a weight.
ModelBuilder::Value ModelBuilder::rmsNorm(Value x, int count, Value weight, double epsilon) {
  check(count >= 1 && count <= x->rank(), "it normalises more dimensions than there are");
  std::vector<int> dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), x->rank() - count);
  const Value square = reduce("mean", binary("mul", x, x), dims, true);
  const Value made = binary("div", x, unary("sqrt", affine(square, {1}, {epsilon})));
  return weight ? binary("mul", made, weight) : made;
}

// The exponentials are of what differs from the largest.
ModelBuilder::Value ModelBuilder::logSumExp(Value x, const std::vector<int>& dims, bool keeps) {
  const Value most = reduce("max", x, dims, true);
  const Value sum = reduce("sum", unary("exp", binary("sub", x, most)), dims, true);
  const Value made = binary("add", unary("log", sum), most);
  Shape left;
  for (int d = 0; d < x->rank(); ++d)
    if (keeps || std::find(dims.begin(), dims.end(), d) == dims.end())
      left.push_back(made->shape[static_cast<std::size_t>(d)]);
  return reshape(made, left);
}

ModelBuilder::Value ModelBuilder::softmax(Value x, int dim) {
  ModelValue* made = make(ModelOp::Softmax, {x}, x->shape);
  made->dim = dimension(dim, x->rank());
  return made;
}

ModelBuilder::Value ModelBuilder::pixelShuffle(Value x, Index factor) {
  check(x->rank() >= 3 && x->rank() <= 5 && factor >= 1 && factor < 1024,
        "a pixel shuffle needs an input [batch, channels, space...]");
  Shape shape = x->shape;
  Index cells = 1;
  for (std::size_t d = 2; d < shape.size(); ++d) {
    cells *= factor;
    shape[d] *= factor;
  }
  check(shape[1] % cells == 0, "the channels of a pixel shuffle are no multiple of its cells");
  shape[1] /= cells;
  ModelValue* made = make(ModelOp::PixelShuffle, {x}, shape);
  made->factor = factor;
  return made;
}

ModelBuilder::Value ModelBuilder::depthToSpace(Value x, Index r) {
  check(x->rank() == 4 && r >= 1 && r < 1024 && x->shape[1] % (r * r) == 0,
        "a change of depth to space needs an input [batch, channels, y, x] with a multiple of its "
        "cells of channels");
  const Index n = x->shape[0], c = x->shape[1] / (r * r), h = x->shape[2], w = x->shape[3];
  return reshape(transpose(reshape(x, {n, r, r, c, h, w}), {0, 3, 4, 1, 5, 2}),
                 {n, c, h * r, w * r});
}

ModelBuilder::Value ModelBuilder::spaceToDepth(Value x, Index r, bool blockFirst) {
  check(x->rank() == 4 && r >= 1 && r < 1024 && x->shape[2] % r == 0 && x->shape[3] % r == 0,
        "a change of space to depth needs an input [batch, channels, y, x] of whole cells");
  const Index n = x->shape[0], c = x->shape[1], h = x->shape[2] / r, w = x->shape[3] / r;
  const std::vector<int> order =
      blockFirst ? std::vector<int>{0, 3, 5, 1, 2, 4} : std::vector<int>{0, 1, 3, 5, 2, 4};
  return reshape(transpose(reshape(x, {n, c, h, r, w, r}), order), {n, c * r * r, h, w});
}

} // namespace tenon
