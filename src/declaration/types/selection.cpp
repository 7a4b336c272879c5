// SPDX-License-Identifier: BSD-2-Clause
// Declares selection, element by element, with inputs that are broadcast along extents of 1 as in
// NumPy (broadcast.hpp):
//
//   compare   y = 1 where a relation of x_0 and x_1 holds, else 0; it has no derivative
//   where     y = x_1 where x_0 is not 0, else x_2 or a number (the setting `otherwise`); the
//             condition x_0 has no derivative
//
// The kernels work on contiguous arrays of the same shape. If an input has extent 1 in a dimension
// in which the output is larger, a first kernel ("spread <number of the input>") repeats it to the
// output's shape.
//
// Labels, which state what an axis of the process grid does to the inputs and y: S0, S1, ...
// (splits a dimension), B (replicates them), R (holds them on its root only). where also has P:
// both choices are partial sums, and the condition is replicated; a number counts on each rank, so
// it must be 0 then.
#include "kernels/elementwise/selection.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/broadcast.hpp"
#include "declaration/types/broadcast_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kRelation[] = {{"relation", OptionSpec::Choice, "greater",
                                     "what is asked of the first and the second input",
                                     "greater|greater_equal|less|less_equal|equal|not_equal"}};

constexpr OptionSpec kOtherwise[] = {{"otherwise", OptionSpec::Real, nullptr,
                                      "value where the first input, a mask, is 0, in place of a "
                                      "third input; what the mask excludes, "
                                      "such as NaN, reaches neither results nor gradients"}};

// The relation by its name, which is one of these: the setting allows no other.
Relation relationOf(const std::string& name) {
  constexpr std::pair<const char*, Relation> kNames[] = {
      {"greater", Relation::Greater}, {"greater_equal", Relation::GreaterOrEqual},
      {"less", Relation::Less},       {"less_equal", Relation::LessOrEqual},
      {"equal", Relation::Equal},     {"not_equal", Relation::NotEqual}};
  return std::ranges::find(kNames, name, &std::pair<const char*, Relation>::first)->second;
}

// Repeats an input to the shape of the output (broadcasting).
template <class T>
class LocalBroadcast final : public LinearKernel {
public:
  explicit LocalBroadcast(BroadcastMap broadcast) : broadcast_(std::move(broadcast)) {}
  void map(const LocalArray& x, LocalArray& y) override {
    broadcast_.spread<T>(/*factor=*/1, x, y);
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    broadcast_.sum<T>(/*factor=*/1, dy, dx);
  }
  std::string describe() const override { return "spread"; }

private:
  BroadcastMap broadcast_;
};

// y = 1 where the relation holds, else 0. Not differentiated, as it is piecewise constant.
template <class T>
class LocalComparison final : public FixedKernel {
public:
  explicit LocalComparison(Relation relation) : relation_(relation) {}
  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    compareElements<T>(y.context(), relation_, y.elements(), x[0].data<T>(), x[1].data<T>(),
                       y.mutableData<T>());
  }
  std::string describe() const override { return "element by element"; }

private:
  Relation relation_;
};

// y = a where the condition is not 0, else b, or a number in place of b. The cotangent of the
// condition is 0; dy goes to the cotangent of the selected input, and the other one gets 0 there.
template <class T>
class LocalChoice final : public ArrayKernel {
public:
  explicit LocalChoice(std::optional<double> otherwise) : otherwise_(otherwise) {}
  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    choose(x[0], x[1], otherwise_ ? LocalArray() : x[2], y, otherwise_.value_or(0));
  }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& dy) override {
    choose(at.inputs[0], dx[1], otherwise_ ? LocalArray() : dx[2], dy);
  }
  void adjoint(const SavedArrays& at, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      setZero(dx[0]);
    if (dx[1])
      choose(at.inputs[0], dy, {}, dx[1]);
    if (!otherwise_ && dx[2])
      choose(at.inputs[0], {}, dy, dx[2]);
  }
  std::string describe() const override { return "element by element"; }

private:
  // y = a or b by the condition; the elements of an absent a or b are `otherwise`.
  static void choose(const LocalArray& condition, const LocalArray& a, const LocalArray& b,
                     LocalArray& y, double otherwise = 0) {
    selectElements<T>(y.context(), y.elements(), condition.data<T>(), a.data<T>(), b.data<T>(),
                      y.mutableData<T>(), otherwise);
  }

  std::optional<double> otherwise_;
};

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
  // The kernel "spread <number>", whose name ends with the number of the input.
  static std::unique_ptr<ArrayKernel> makeSpread(const KernelPlace& at) {
    const std::size_t input = static_cast<std::size_t>(at.name().back() - '0');
    return makeTyped<LocalBroadcast>(at.type, BroadcastMap(at.form.output.boxOfRank(at.rank),
                                                           at.form.uses[input].boxOfRank(at.rank)));
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
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return at.name() == type() ? makeTyped<LocalComparison>(at.type, relationOf(text("relation")))
                               : makeSpread(at);
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
  Where() : Selection("where", kOtherwise) {}
  int inputCount() const override { return otherwise() ? 2 : 3; }
  std::string inputAdvice() const override {
    return "; it takes its second where its first is not 0, and elsewhere its third, or the number "
           "of its setting otherwise";
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), P = Property::partial();
    SignatureTable table = broadcastTable(inputs, outputShape(inputs), /*linear=*/false);
    if (!otherwise())
      table.push_back({"P", Properties{B, P, P}, {}, P});
    else if (*otherwise() == 0)
      table.push_back({"P", Properties{B, P}, {}, P});
    return table;
  }
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    addInputs(list, form);
    std::vector<ValueId> inputs = {spread(list, form, 0, /*isFixed=*/true)};
    for (int i = 1; i < inputCount(); ++i)
      inputs.push_back(spread(list, form, i, /*isFixed=*/false));
    const ValueId y = list.stagedOutput();
    list.run({.name = type(), .savesInputs = true}, inputs, y);
    list.unstage(y);
    return list;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return at.name() == type() ? makeTyped<LocalChoice>(at.type, otherwise()) : makeSpread(at);
  }
  std::string summary() const override {
    return otherwise() ? fmt::format("otherwise {}", *otherwise()) : "element by element";
  }
  Example example(ExampleDraw& draw) const override {
    if (draw.chance(50))
      return Selection::example(draw);
    Example example = broadcastExample(draw, 2);
    example.settings.emplace_back("otherwise", draw.of({0.0, 0.5}));
    return example;
  }

private:
  std::optional<double> otherwise() const {
    return isSet("otherwise") ? std::optional(real("otherwise")) : std::nullopt;
  }
};

} // namespace

std::unique_ptr<Declaration> declareCompare() {
  return std::make_unique<Compare>();
}

std::unique_ptr<Declaration> declareWhere() {
  return std::make_unique<Where>();
}

} // namespace tenon
