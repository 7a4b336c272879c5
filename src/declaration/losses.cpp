// SPDX-License-Identifier: BSD-2-Clause
// Losses compare their input with a target. The value, [1], is a sum of one addend from each part of
// the input, P on the axes that split it -> B, on all ranks that hold the input; its dual is partial:
// seed it with 1 on coordinate 0 and 0 elsewhere. A loss is not differentiated by its target.
//
//   crossentropy      1/N sum over samples of log sum exp z - z[label],  labels n, c, B, R
//   meansquarederror  1/N sum (x - t)^2,                                 labels S0, S1, ..., B, R
//
// As maps: the input where it is used, the target, what leads to each rank's addend, and their sum.
#include "declaration/declaration_types.hpp"
#include "declaration/elementwise.hpp"
#include "geometry/holding.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// [1], with the properties of `use` but for `split` on the axes that split it.
Layout scalarLayout(const Layout& use, Property split) {
  Properties properties = use.properties();
  for (Property& p : properties)
    if (p.isShard())
      p = split;
  return makeLayout({1}, use.meshPtr(), properties, {CutSource()});
}

// The input is used as in an elementwise map that is not linear; the value replaces the output.
class Loss : public Elementwise {
public:
  // `used` names the input in its use layout.
  Loss(const char* type, const char* used) : Elementwise(type, {}), used_(used) {}
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
    outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    form.output = scalarLayout(form.uses.front(), Property::broadcast());
    return form;
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front());
    list.source(target(use));
    const ValueId z =
        sameHolding(form.inputs.front(), use) ? list.staged(x) : list.convert(used_, x, use);
    const ValueId addend = addAddend(list, z, use);
    list.apply(OperatorKind::Conversion, addend, list.output("y", form.output));
    return list;
  }

private:
  bool isLinear() const override { return false; }
  virtual void checkShape(const Shape&) const {}
  virtual SourceEntry target(const Layout& use) const = 0;
  // The kernels from z, which lies as `use` does, to this rank's addend.
  virtual ValueId addAddend(MapList& list, ValueId z, const Layout& use) const = 0;

  const char* used_;
};

// A kernel that reads the target.
KernelEntry comparing(std::string name, Workspace workspace = {}) {
  KernelEntry kernel{.name = std::move(name), .workspace = std::move(workspace)};
  kernel.sources = {0};
  return kernel;
}

ValueId addendValue(MapList& list, const Layout& use) {
  return list.value("a", scalarLayout(use, Property::partial()));
}

class MeanSquaredError final : public Loss {
public:
  MeanSquaredError() : Loss("meansquarederror", "u") {}

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    return {.settings = {}, .inputs = {shape}, .target = shape};
  }

private:
  SourceEntry target(const Layout& use) const override {
    return {.name = "target", .of = SourceEntry::Of::Target, .use = use};
  }
  // The difference is all that the derivative needs.
  ValueId addAddend(MapList& list, ValueId x, const Layout& use) const override {
    const ValueId a = addendValue(list, use);
    list.run(comparing(type(), {cellBytes(), use}), {x}, a);
    return a;
  }
};

constexpr int kSamples = 0;
constexpr int kClasses = 1;

// A layout whose dimension `dim` is the samples, cut as the logits are, with `classes` where an axis
// splits the classes; B and R stay.
Layout perSample(const Layout& logits, const Shape& shape, Property classes, int dim) {
  Properties properties = logits.properties();
  for (Property& p : properties)
    if (p == Property::shard(kSamples))
      p = Property::shard(dim);
    else if (p == Property::shard(kClasses))
      p = classes;
  std::vector<CutSource> cuts(shape.size());
  cuts[dim] = {&logits, kSamples};
  return makeLayout(shape, logits.meshPtr(), properties, cuts);
}

class CrossEntropy final : public Loss {
public:
  CrossEntropy() : Loss("crossentropy", "z") {}

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

  SourceEntry target(const Layout& use) const override {
    return {.name = "labels",
            .of = SourceEntry::Of::Labels,
            .use = perSample(use, {use.shape()[kSamples]}, Property::broadcast(), 0)};
  }

  // Of each sample the largest logit m, then the sum s of exp(z - m) and the logit of its label, each
  // over the classes that a rank has and then over all (M, S), in one exchange, which finds the
  // largest too. The labels are kept.
  ValueId addAddend(MapList& list, ValueId z, const Layout& use) const override {
    const Property P = Property::partial(), B = Property::broadcast();
    const Index samples = use.shape()[kSamples];
    const auto overClasses = [&](OperatorKind kind, ValueId local, const char* name,
                                 const Layout& to) {
      return sameHolding(list.values()[local].layout, to) ? local
                                                          : list.convert(name, local, to, kind);
    };
    const Layout labels = perSample(use, {samples}, B, 0);
    const ValueId m = list.value("m", perSample(use, {samples}, P, 0));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId maxima = overClasses(OperatorKind::Maximum, m, "M", labels);
    const ValueId s = list.value("s", perSample(use, {2, samples}, P, 1));
    list.runFixed(comparing("sums"), {z, maxima}, s);
    const ValueId sums =
        overClasses(OperatorKind::Exchange, s, "S", perSample(use, {2, samples}, B, 1));
    const ValueId a = addendValue(list, use);
    KernelEntry nll = comparing("nll", {sizeof(std::int64_t), labels});
    nll.keepsInputs = true;
    list.run(std::move(nll), {z, maxima, sums}, a);
    return a;
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
