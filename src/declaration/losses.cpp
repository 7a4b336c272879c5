// SPDX-License-Identifier: BSD-2-Clause
// Losses compare their input with a target. The value, [1], is a sum of one addend from each part of
// the input, P on the axes that split it -> B, on all ranks that hold the input; its dual is partial:
// seed it with 1 on coordinate 0 and 0 elsewhere. A loss is not differentiated by its target.
//
//   crossentropy      1/N sum over samples of log sum exp z - z[label],  labels n, c, B, R
//   meansquarederror  1/N sum (x - t)^2,                                 labels S0, S1, ..., B, R
#include "declaration/declaration_types.hpp"
#include "declaration/elementwise.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The input is used as in an elementwise map that is not linear; the value replaces the output.
class Loss : public Elementwise {
public:
  explicit Loss(const char* type) : Elementwise(type, {}) {}
  bool takesTarget() const override { return true; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    checkShape(x);
    if (std::ranges::any_of(x, [](Index extent) { return extent < 1; }))
      throw Error(TENON_ERR_SHAPE, fmt::format("the input has shape [{1}], but {0} needs at least "
                                               "1 element",
                                               title(), fmt::join(x, ",")));
    return {1};
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    Properties everywhere = form.uses.front().properties();
    for (Property& p : everywhere)
      if (p.isShard())
        p = Property::broadcast();
    form.output = makeLayout(shape, form.uses.front().meshPtr(), everywhere, {{}});
    return form;
  }

  Work work(const Form& form, int position) const override {
    return {.keptCells = cells(form.uses[0].box(position))};
  }

private:
  bool isLinear() const override { return false; }
  virtual void checkShape(const Shape&) const {}
};

class MeanSquaredError final : public Loss {
public:
  MeanSquaredError() : Loss("meansquarederror") {}

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    return {.settings = {}, .inputs = {shape}, .target = shape};
  }
};

class CrossEntropy final : public Loss {
public:
  CrossEntropy() : Loss("crossentropy") {}

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = elementwiseTable(2, false);
    table[0].letter = "n";
    table[1].letter = "c";
    return table;
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 2);
    return {.settings = {}, .inputs = {shape}, .target = {shape[0]}, .classes = shape[1]};
  }

private:
  void checkShape(const Shape& x) const override {
    if (x.size() != 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} needs logits [samples,classes]",
                              title(), fmt::join(x, ",")));
  }
};

} // namespace

std::unique_ptr<Declaration> declareCrossentropy() {
  return std::make_unique<CrossEntropy>();
}

std::unique_ptr<Declaration> declareMeansquarederror() {
  return std::make_unique<MeanSquaredError>();
}

} // namespace tenon
