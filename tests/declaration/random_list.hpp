// SPDX-License-Identifier: BSD-2-Clause
// Random map lists, the descriptions of the steps of a layer (declaration/core/map_list.hpp), for
// the tests of passes. All values are vectors of kCells numbers on one process. Beside the list, a
// RandomList has what its entries compute (functions of kernels, matrices of operators, weights of
// sources) and the expected results: each value, and its Jacobian with respect to all inputs and
// weights, computed by the chain rule while the list is drawn, without any pass.
#pragma once

#include "declaration/core/map_list.hpp"

#include <cmath>
#include <random>

namespace tenon::test {

inline constexpr int kCells = 4;
inline constexpr int kInputs = 2;
using Cells = std::vector<double>;
using Matrix = std::vector<Cells>; // rows

inline Layout someLayout() {
  return Layout(
      {.shape = {kCells}, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
}

// a x, or a^T x.
inline Cells times(const Matrix& a, const Cells& x, bool transposed) {
  Cells y(kCells, 0);
  for (int i = 0; i < kCells; ++i)
    for (int j = 0; j < kCells; ++j)
      y[i] += (transposed ? a[j][i] : a[i][j]) * x[j];
  return y;
}

// The functions of kernels, cell by cell. Sine, Tanh: of x. Product: of two vectors. Scale: weights
// of a source times x. FirstHalf, SecondHalf: 2 x, of which the kernel writes only one half of the
// cells. Statistic: x^2, not differentiated.
enum class Function { Sine, Tanh, Product, Scale, FirstHalf, SecondHalf, Statistic };

// A kernel of a random list, by its definition.
struct FakeKernel {
  Function function;
  int weights = -1; // number of the source of a Scale

  bool writes(int cell) const {
    return function == Function::FirstHalf    ? cell < kCells / 2
           : function == Function::SecondHalf ? cell >= kCells / 2
                                              : true;
  }
  double value(const std::vector<double>& x, double weight) const {
    switch (function) {
    case Function::Sine:
      return std::sin(x[0]);
    case Function::Tanh:
      return std::tanh(x[0]);
    case Function::Product:
      return x[0] * x[1];
    case Function::Scale:
      return weight * x[0];
    case Function::FirstHalf:
    case Function::SecondHalf:
      return 2 * x[0];
    case Function::Statistic:
      return x[0] * x[0];
    }
    return 0;
  }
  // The derivative by input i, which reads only the saved values: x of those kernels that save
  // their inputs, y of those that save their output.
  double derivative(int i, const std::vector<double>& x, double y, double weight) const {
    switch (function) {
    case Function::Sine:
      return std::cos(x[0]);
    case Function::Tanh:
      return 1 - y * y;
    case Function::Product:
      return x[1 - i];
    case Function::Scale:
      return weight;
    case Function::FirstHalf:
    case Function::SecondHalf:
      return 2;
    case Function::Statistic:
      break;
    }
    return 0;
  }
};

// A value with its derivative, by definition.
struct Dense {
  Cells value;
  Matrix jacobian; // a row for each cell; inputs, then weights
};

struct RandomList {
  MapList list;
  std::vector<FakeKernel> kernels;
  std::vector<Matrix> operators;
  std::vector<Cells> weights, constants;
  std::vector<Cells> inputs;
  std::vector<Dense> dense; // by value of the list; memory is reserved, so references stay valid

  // A list and its values at random inputs, or at `given` ones.
  explicit RandomList(unsigned seed, const std::vector<Cells>& given = {});

private:
  int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  Cells draw() {
    Cells x(kCells);
    for (double& cell : x)
      cell = std::uniform_real_distribution<double>(0.2, 1)(random_) * (upTo(1) ? 1 : -1);
    return x;
  }
  std::size_t columns() const { return (kInputs + weights.size()) * kCells; }
  Dense& at(ValueId v) {
    if (dense.size() <= static_cast<std::size_t>(v))
      dense.resize(v + 1);
    return dense[v];
  }
  // Begins the value and the Jacobian of v with zeros.
  ValueId made(ValueId v) {
    at(v) = {Cells(kCells, 0), Matrix(kCells, Cells(columns(), 0))};
    return v;
  }

  // A random value, which then counts as read.
  ValueId any() {
    const ValueId v = values_[upTo(static_cast<int>(values_.size()) - 1)];
    std::erase(unread_, v);
    return v;
  }
  // The same in contiguous memory, which a kernel reads.
  ValueId anyStaged() {
    const ValueId v = any(), staged = list.staged(v);
    at(staged) = at(v);
    return staged;
  }
  // Adds y += A x, with a new random matrix A or that of an earlier operator, to the list and to
  // the expected value and Jacobian of y.
  void addOperator(ValueId x, ValueId y);
  // Adds y = function(x), likewise. Properties of the kernel that do not change its results, such
  // as whether its adjoint adds the cotangent or a kernel can apply the function behind it, are
  // random.
  int addKernel(Function function, const std::vector<ValueId>& x, ValueId y);
  void addValue(); // a new value, which a kernel, two half ones, or a sum of operators computes
  void addOutput();

  std::mt19937 random_;
  std::vector<ValueId> values_, unread_; // all values; those that no map reads yet
  int scales_ = 0;                       // number of Scale kernels
};

inline void RandomList::addOperator(ValueId x, ValueId y) {
  const bool again = !operators.empty() && upTo(2) == 0; // a layer that is two nodes
  const bool local = upTo(3) == 0;
  int op = again ? upTo(static_cast<int>(operators.size()) - 1) : -1;
  if (again) {
    list.applyAgain(op, x, y);
  } else {
    op = list.apply(local ? OperatorKind::BoundaryValues : OperatorKind::Conversion, x, y);
    operators.push_back({draw(), draw(), draw(), draw()});
  }
  const Matrix& a = operators[op];
  for (int i = 0; i < kCells; ++i)
    for (int j = 0; j < kCells; ++j) {
      at(y).value[i] += a[i][j] * at(x).value[j];
      for (std::size_t c = 0; c < columns(); ++c)
        at(y).jacobian[i][c] += a[i][j] * at(x).jacobian[j][c];
    }
}

inline int RandomList::addKernel(Function function, const std::vector<ValueId>& x, ValueId y) {
  const bool isFixed = function == Function::Statistic;
  const bool isPart = function == Function::FirstHalf || function == Function::SecondHalf;
  KernelEntry entry{.name = "f",
                    .savesInputs = function == Function::Sine || function == Function::Product ||
                                   function == Function::Scale,
                    .savesOutput = function == Function::Tanh,
                    .addsCotangent = x.size() == 1 && upTo(1) == 0,
                    .isFunction = function == Function::Sine || function == Function::Tanh,
                    .appliesFunction = upTo(3) > 0};
  FakeKernel kernel{function};
  if (function == Function::Scale) {
    kernel.weights = scales_++ % static_cast<int>(weights.size());
    entry.gradients = upTo(1) ? Gradients::Within : Gradients::Separate;
    entry.sources = {kernel.weights};
  }
  kernels.push_back(kernel);
  for (int i = 0; i < kCells; ++i) {
    if (!kernel.writes(i))
      continue;
    const double weight = kernel.weights < 0 ? 0 : weights[kernel.weights][i];
    std::vector<double> point;
    for (ValueId v : x)
      point.push_back(at(v).value[i]);
    at(y).value[i] = kernel.value(point, weight);
    for (std::size_t k = 0; k < x.size() && !isFixed; ++k)
      for (std::size_t c = 0; c < columns(); ++c)
        at(y).jacobian[i][c] +=
            kernel.derivative(static_cast<int>(k), point, at(y).value[i], weight) *
            at(x[k]).jacobian[i][c];
    if (kernel.weights >= 0)
      at(y).jacobian[i][(kInputs + kernel.weights) * kCells + i] += point[0];
  }
  return isFixed  ? list.runFixed(entry, x, y)
         : isPart ? list.runPart(entry, x, y)
                  : list.run(entry, x, y);
}

inline void RandomList::addValue() {
  const ValueId y = made(list.value("v" + std::to_string(values_.size()), someLayout()));
  switch (upTo(6)) {
  case 0:
    addKernel(Function::Sine, {anyStaged()}, y);
    break;
  case 1:
    addKernel(Function::Tanh, {anyStaged()}, y);
    break;
  case 2:
    addKernel(Function::Product, {anyStaged(), anyStaged()}, y);
    break;
  case 3:
    addKernel(Function::Scale, {anyStaged()}, y);
    break;
  case 4:
    addKernel(Function::FirstHalf, {anyStaged()}, y);
    addKernel(Function::SecondHalf, {anyStaged()}, y);
    break;
  case 5: { // a statistic or a constant as a factor
    ValueId factor = kNoValue;
    if (upTo(1)) {
      factor = made(list.constant("c", someLayout(), 0));
      constants.push_back(draw());
      at(factor).value = constants.back();
    } else {
      factor = made(list.value("m", someLayout()));
      addKernel(Function::Statistic, {anyStaged()}, factor);
    }
    addKernel(Function::Product, {anyStaged(), factor}, y);
    break;
  }
  default:
    for (int more = upTo(2); more >= 0; --more)
      addOperator(any(), y);
  }
  values_.push_back(y);
  unread_.push_back(y);
}

// The output is the sum of all values that no map has read; half of the lists apply tanh to it.
inline void RandomList::addOutput() {
  const ValueId y = made(list.output("y", someLayout()));
  const bool viaKernel = upTo(1) == 1;
  const ValueId sum = viaKernel ? made(list.value("s", someLayout())) : y;
  for (ValueId v : std::vector<ValueId>(unread_))
    addOperator(v, sum);
  if (!viaKernel)
    return;
  const ValueId staged = made(list.stagedOutput());
  addKernel(Function::Tanh, {sum}, staged);
  list.unstage(staged);
  at(y) = at(staged);
}

inline RandomList::RandomList(unsigned seed, const std::vector<Cells>& given) : random_(seed) {
  dense.reserve(256);
  for (int i = 0; i < kInputs; ++i)
    values_.push_back(list.input("x" + std::to_string(i), someLayout()));
  for (int w = 0; w < 2; ++w) {
    weights.push_back(draw());
    list.source({.name = "w" + std::to_string(w), .use = someLayout()});
  }
  for (int i = 0; i < kInputs; ++i) {
    made(values_[i]);
    inputs.push_back(draw());
    if (!given.empty())
      inputs.back() = given[i];
    at(values_[i]).value = inputs.back();
    for (int c = 0; c < kCells; ++c)
      at(values_[i]).jacobian[c][i * kCells + c] = 1;
  }
  unread_ = values_;
  for (int maps = 1 + upTo(6); maps > 0; --maps)
    addValue();
  if (unread_.empty())
    unread_.push_back(values_.back());
  addOutput();
}

} // namespace tenon::test
