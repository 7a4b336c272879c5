// SPDX-License-Identifier: BSD-2-Clause
// Declares elementwise types of two or three inputs, which are broadcast along extents of 1 as in
// NumPy (broadcast.hpp). The kernels are in layer/types/multiply.cpp and layer/types/selection.cpp.
//
//   multiply   y = x_0 x_1
//   divide     y = x_0 / x_1, the product with the reciprocal of x_1
//   compare    y = 1 where a relation of x_0 and x_1 holds, else 0
//   where      y = x_1 where x_0 is not 0, else x_2
//
// Labels, which state what an axis of the process grid does to the inputs and y: S0, S1, ...
// (splits a dimension), B (replicates them), R (holds them on its root only). multiply also has Pa
// and Pb, if x_0 or x_1 is a partial sum and the other is replicated. Both cannot be partial sums:
// (a + b)(c + d) is not ac + bd. A divisor cannot be one either, since a reciprocal is not linear.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/types/broadcast.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// Inputs of the same random shape, except for some extents of 1.
Example broadcastExample(ExampleDraw& draw, int count) {
  std::vector<Shape> inputs(static_cast<std::size_t>(count), draw.shape(1, 3));
  for (Shape& input : inputs)
    for (Index& extent : input)
      if (draw.chance(15))
        extent = 1;
  return {{}, inputs};
}

class Multiply : public Declaration {
public:
  Multiply() : Declaration("multiply", {}) {}
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override { return "; it multiplies its first by its second"; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    return broadcastShape(inputs, title());
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), P = Property::partial();
    SignatureTable table = broadcastTable(inputs, outputShape(inputs), /*linear=*/false);
    // The columns are the label and the properties of {x_0, x_1}, of no parameters, and of y.
    table.push_back({"Pa", Properties{P, B}, {}, P});
    table.push_back({"Pb", Properties{B, P}, {}, P});
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const std::vector<Shape> shapes = {inputs[0].shape(), inputs[1].shape()};
    return broadcastForm(inputs, choice, rows(shapes), outputShape(shapes), title());
  }

  Work work(const Form& form, int position) const override {
    // The adjoint has one product per element for each of the two inputs.
    const double products = double(elements(form.output.box(position)));
    return {.forward = products, .adjoint = 2 * products, .adjointParameters = 0};
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .savesInputs = true}; }
  std::string summary() const override { return "element by element"; }

  Example example(ExampleDraw& draw) const override { return broadcastExample(draw, 2); }

protected:
  explicit Multiply(const char* type) : Declaration(type, {}) {}
};

class Divide final : public Multiply {
public:
  Divide() : Multiply("divide") {}
  std::string inputAdvice() const override { return "; it divides its first by its second"; }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = Multiply::rows(inputs);
    table.pop_back(); // Pb: the divisor cannot be a partial sum
    table.back().label = "P";
    return table;
  }

  Example example(ExampleDraw& draw) const override {
    Example example = Multiply::example(draw);
    example.makePositive();
    return example;
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const ValueId a = list.input("x0", form.inputs[0]), b = list.input("x1", form.inputs[1]);
    list.output("y", form.output);
    const ValueId u = addUse(list, a, "u0", form.uses[0], /*anyStrides=*/false),
                  v = addUse(list, b, "u1", form.uses[1], /*anyStrides=*/false);
    const ValueId r = list.value("r", form.uses[1]), y = list.stagedOutput();
    list.run({.name = "reciprocal", .savesOutput = true}, {v}, r);
    list.run({.name = "multiply", .savesInputs = true}, {u, r}, y);
    list.unstage(y);
    return list;
  }
};

} // namespace

std::unique_ptr<Declaration> declareMultiply() {
  return std::make_unique<Multiply>();
}

std::unique_ptr<Declaration> declareDivide() {
  return std::make_unique<Divide>();
}

// Selection: compare, which has no derivative, and where, whose condition x_0 has none. Labels are
// S0, S1, ..., B and R. where also has P: both choices are partial sums, and the condition is
// replicated.

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kRelation[] = {{"relation", OptionSpec::Choice, "greater",
                                     "what is asked of the first and the second input",
                                     "greater|greater_equal|less|less_equal|equal|not_equal"}};

// Base of both types. All inputs are used in the layout of the first input of the output's shape.
class Selection : public Declaration {
public:
  using Declaration::Declaration;
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    return broadcastShape(inputs, title());
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    std::vector<Shape> shapes;
    for (const Layout& input : inputs)
      shapes.push_back(input.shape());
    return broadcastForm(inputs, choice, rows(shapes), outputShape(shapes), title());
  }
  Example example(ExampleDraw& draw) const override { return broadcastExample(draw, inputCount()); }

protected:
  // An input, repeated to the output's shape if necessary. A fixed one has no cotangent.
  static ValueId spread(MapList& list, const Form& form, int input, bool isFixed) {
    const ValueId u = addUse(list, list.inputs()[input], fmt::format("u{}", input),
                             form.uses[input], /*anyStrides=*/false);
    if (form.uses[input].shape() == form.output.shape())
      return u;
    const ValueId v = list.value(fmt::format("v{}", input), form.output);
    const KernelEntry entry{.name = fmt::format("spread {}", input)};
    if (isFixed)
      list.runFixed(entry, {u}, v);
    else
      list.run(entry, {u}, v);
    return v;
  }
  void addInputs(MapList& list, const Form& form) const {
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(fmt::format("x{}", i), form.inputs[i]);
    list.output("y", form.output);
  }
};

class Compare final : public Selection {
public:
  Compare() : Selection("compare", kRelation) {}
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override { return "; it compares its first with its second"; }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return broadcastTable(inputs, outputShape(inputs), /*linear=*/false);
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    addInputs(list, form);
    const ValueId a = spread(list, form, 0, /*isFixed=*/true),
                  b = spread(list, form, 1, /*isFixed=*/true), y = list.stagedOutput();
    list.runFixed({.name = type()}, {a, b}, y);
    list.unstage(y);
    return list;
  }
  std::string summary() const override { return text("relation"); }
  Example example(ExampleDraw& draw) const override {
    Example example = Selection::example(draw);
    example.settings.emplace_back("relation",
                                  std::string(draw.of({"greater", "greater_equal", "less",
                                                       "less_equal", "equal", "not_equal"})));
    return example;
  }
};

class Where final : public Selection {
public:
  Where() : Selection("where", {}) {}
  int inputCount() const override { return 3; }
  std::string inputAdvice() const override {
    return "; it takes its second where its first is not 0, and its third elsewhere";
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), P = Property::partial();
    SignatureTable table = broadcastTable(inputs, outputShape(inputs), /*linear=*/false);
    table.push_back({"P", Properties{B, P, P}, {}, P});
    return table;
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    addInputs(list, form);
    const ValueId condition = spread(list, form, 0, /*isFixed=*/true),
                  a = spread(list, form, 1, /*isFixed=*/false),
                  b = spread(list, form, 2, /*isFixed=*/false), y = list.stagedOutput();
    list.run({.name = type(), .savesInputs = true}, {condition, a, b}, y);
    list.unstage(y);
    return list;
  }
  std::string summary() const override { return "element by element"; }
};

} // namespace

std::unique_ptr<Declaration> declareCompare() {
  return std::make_unique<Compare>();
}

std::unique_ptr<Declaration> declareWhere() {
  return std::make_unique<Where>();
}

} // namespace tenon
