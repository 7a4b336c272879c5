// SPDX-License-Identifier: BSD-2-Clause
// Declares the types that combine several inputs into one output, without parameters:
//
//   add          y = sum over i of x_i, broadcast along extents of 1 (broadcast.hpp)
//   subtract     y = x_0 - x_1, broadcast in the same way
//   concatenate  y = the x_i one after the other along a dimension
//
// All are y = sum over i of E_i x_i, where E_i inserts x_i into its range of y (for add: all of y).
// The layout L of y is set by the user, or is the layout of the first input with y's shape. First a
// conversion brings each x_i into L restricted to its range: the same grid and split axes, with
// blocks clipped to the range, and no split of broadcast dimensions. For a concatenation of
// x_0 of 6 and x_1 of 4 elements, and y split at 0, 5, 10:
//
//   y    0 1 2 3 4 | 5 6 7 8 9      split points 0, 5, 10
//   x_0  0 1 2 3 4 | 5              split points 0, 5, 6
//   x_1            | 6 7 8 9        split points 0, 0, 4
//
// Each rank then joins its own blocks without communication, whatever the layout is. The adjoint
// distributes the cotangent of y in the same way. A kernel processes one input of the layer. The
// terms of a sum need a kernel only if they are subtracted or broadcast: the conversion that
// redistributes a term to the layout of y also adds it.
//
// Labels, which state what a grid axis does to all inputs and y: S0, S1, ... (splits a dimension),
// B (all are replicated), R (all are on the root only), P (each rank has a partial sum).
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/result_layout.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/broadcast.hpp"
#include "declaration/types/broadcast_map.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kDimension[] = {{"dim",
                                      OptionSpec::Int,
                                      nullptr,
                                      "dimension of concatenation, counted from 0",
                                      nullptr,
                                      {0, kMaxDims - 1}}};

class Join : public Declaration {
public:
  using Declaration::Declaration;
  bool takesOutputLayout() const override { return true; }

  void setOutputLayout(const Layout& pattern) override {
    if (pattern.hasHalos())
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("the output layout of {} must not have halos, but is {}; add a "
                              "repartition after it to add them",
                              title(), pattern.describe()));
    outputLayout_ = pattern;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    std::vector<Shape> shapes;
    for (const Layout& input : inputs)
      shapes.push_back(input.shape());
    Form form = outputForm(inputs, shapes, outputShape(shapes), choice);
    addUses(form, shapes);
    return form;
  }

protected:
  // Adds the layouts in which the inputs are used, which follow from the output's layout.
  virtual void addUses(Form& form, const std::vector<Shape>& shapes) const = 0;
  std::string outputText() const {
    return outputLayout() ? fmt::format("output like {}", outputLayout()->describe()) : "";
  }

private:
  Form outputForm(const Layouts& inputs, const std::vector<Shape>& shapes, const Shape& shape,
                  const Choice& choice) const {
    const std::size_t widest = widestInput(shapes, shape);
    const Layout first = inputs[widest].withoutHalos();
    const SignatureTable table = rows({shapes[widest]});
    if (outputLayout()) {
      if (!choice.labels.empty())
        throw Error(TENON_ERR_OPTION, fmt::format("{} has both an output layout and the signature "
                                                  "\"{}\"; set only one of them",
                                                  title(), choice.labels));
      const Layout output = layoutLike(*outputLayout(), shape, title());
      return {.signature = Signature::following(table, output),
              .inputs = inputs,
              .uses = {},
              .output = output};
    }
    const GridPtr grid = choice.grid ? choice.grid : first.gridPtr();
    const Signature signature = Signature::choose(table, first, grid, choice.labels, title());
    std::vector<CutSource> cuts;
    for (int d = 0; d < first.ndim(); ++d)
      cuts.push_back({&first, d});
    return {.signature = signature,
            .inputs = inputs,
            .uses = {},
            .output = makeLayout(shape, grid, signature.output(), cuts)};
  }
};

// An input as a term of a sum: multiplied by a factor and broadcast over this rank's box of y.
template <class T>
class Contribution final : public LinearKernel {
public:
  Contribution(BroadcastMap broadcast, double factor)
      : broadcast_(std::move(broadcast)), factor_(factor) {}
  void map(const LocalArray& x, LocalArray& y) override { broadcast_.spread<T>(factor_, x, y); }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override {
    broadcast_.sum<T>(factor_, dy, dx);
  }
  std::string describe() const override { return "element by element"; }

private:
  BroadcastMap broadcast_;
  double factor_;
};

// Sums of inputs, some of which can be broadcast or negated.
class Sum : public Join {
public:
  using Join::Join;
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    return broadcastShape(inputs, fmt::format("{} ({})", title(), type()));
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return broadcastTable(inputs, outputShape(inputs), /*linear=*/true);
  }

  // Sums need no kernel: the first conversion overwrites y, and further ones add to it. Only an
  // input that is broadcast or negated needs a kernel, which makes it a contribution.
  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(fmt::format("x{}", i), form.inputs[i]);
    const ValueId y = list.output("y", form.output);
    for (std::size_t i = 0; i < form.inputs.size(); ++i) {
      ValueId x = list.inputs()[i];
      if (form.inputs[i].shape() != form.output.shape() || isNegated(i)) {
        const ValueId u = addUse(list, x, fmt::format("u{}", i), form.uses[i], /*anyStrides=*/true);
        x = list.value(fmt::format("v{}", i), form.output);
        list.run({.name = isNegated(i) ? "minus" : "plus", .anyStrides = true}, {u}, x);
      }
      list.apply(OperatorKind::Conversion, x, y);
    }
    return list;
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const BroadcastMap broadcast(at.form.output.boxOfRank(at.rank), at.reads().boxOfRank(at.rank));
    return makeTyped<Contribution>(at.type, broadcast, at.name() == "minus" ? -1 : 1);
  }
  std::string summary() const override { return outputText(); }

protected:
  virtual bool isNegated(std::size_t) const { return false; }
  // Random shapes for an example: all equal, except for some extents of 1, which are broadcast.
  static std::vector<Shape> randomShapes(ExampleDraw& draw, Index count) {
    std::vector<Shape> inputs(static_cast<std::size_t>(count), draw.shape(1, 3));
    for (std::size_t i = 1; i < inputs.size(); ++i)
      for (Index& extent : inputs[i])
        if (draw.chance(25))
          extent = 1;
    return inputs;
  }

private:
  void addUses(Form& form, const std::vector<Shape>& shapes) const override {
    for (const Shape& shape : shapes)
      form.uses.push_back(broadcastUse(form.output, shape));
  }
};

class Add final : public Sum {
public:
  Add() : Sum("add", {}) {}
  int inputCount() const override { return -1; } // one or more
  Example example(ExampleDraw& draw) const override {
    return {{}, randomShapes(draw, draw.between(1, 3))};
  }
};

class Subtract final : public Sum {
public:
  Subtract() : Sum("subtract", {}) {}
  int inputCount() const override { return 2; }
  std::string inputAdvice() const override { return "; it subtracts its second from its first"; }
  Example example(ExampleDraw& draw) const override { return {{}, randomShapes(draw, 2)}; }

private:
  bool isNegated(std::size_t input) const override { return input == 1; }
};

// Copies one input to its part of a concatenation, which begins at local index `begin` of dimension
// `dim` of y. The kernels of the other inputs write the other parts. Two inputs [4,2] and [4,3],
// concatenated along dimension 1, are columns 0-1 and columns 2-4 of y [4,5].
template <class T>
class Placement final : public ArrayKernel {
public:
  Placement(const Box& part, int dim, Index begin)
      : extent_(extents(part)), dim_(dim), begin_(begin) {}

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override { place(x[0], y); }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters, LocalArray& dy) override {
    place(dx[0], dy);
  }
  void adjoint(const SavedArrays&, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0] && dx[0].elements() > 0)
      copy(dy.context(), dy.data<T>() + offset(dy), dy.strides(), dx[0].mutableData<T>(),
           dx[0].strides());
  }
  std::string describe() const override { return "copy"; }

private:
  Index offset(const LocalArray& y) const { return begin_ * y.strides()[dim_]; }
  void copy(KernelContext& context, const T* x, const Index* xs, T* y, const Index* ys) const {
    blockCombine(context, Combine::Copy, static_cast<int>(extent_.size()), extent_.data(), x, xs, y,
                 ys);
  }
  // Writes zeros if x is absent, since no other kernel writes this part of y.
  void place(const LocalArray& x, LocalArray& y) const {
    if (std::ranges::find(extent_, 0) != extent_.end())
      return;
    T* const part = y.mutableData<T>() + offset(y);
    if (x)
      copy(y.context(), x.data<T>(), x.strides(), part, y.strides());
    else
      fillBlock(y.context(), static_cast<int>(extent_.size()), extent_.data(), T(0), part,
                y.strides());
  }

  Shape extent_;
  int dim_;
  Index begin_;
};

class Concatenate final : public Join {
public:
  Concatenate() : Join("concatenate", kDimension) {}
  // The patches of a multi-block grid, which are the batch, must remain as they are.
  bool joinsPatches(const std::vector<Shape>&) const override { return dimension() == kChannelDim; }
  int inputCount() const override { return -1; } // one or more

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    checkShapes(inputs);
    Shape shape = inputs.front();
    for (std::size_t i = 1; i < inputs.size(); ++i)
      shape[dimension()] =
          checkedSum(shape[dimension()], inputs[i][dimension()], "the extent of a concatenation");
    return shape;
  }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    for (std::size_t i = 0; i < form.inputs.size(); ++i)
      list.input(fmt::format("x{}", i), form.inputs[i]);
    const ValueId y = list.output("y", form.output);
    for (std::size_t i = 0; i < form.inputs.size(); ++i) {
      const ValueId x = list.inputs()[i];
      const ValueId part = haveSameMemory(form.inputs[i], form.uses[i])
                               ? x
                               : list.convert(fmt::format("x{}'", i), x, form.uses[i]);
      list.runPart({.name = "place"}, {part}, y);
    }
    return list;
  }
  // A part begins after those of the previous inputs, of which this rank's box of y contains
  // exactly the elements that this rank has of these inputs.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    Index begin = 0;
    for (int k = 0; k < at.number; ++k)
      begin += at.form.uses[k].boxOfRank(at.rank)[dimension()].size();
    return makeTyped<Placement>(at.type, at.form.uses[at.number].boxOfRank(at.rank), dimension(),
                                begin);
  }

  std::string summary() const override {
    return fmt::format("along dim {}{}{}", dimension(), outputLayout() ? ", " : "", outputText());
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 3);
    const Index dim = draw.between(0, static_cast<Index>(shape.size()) - 1);
    std::vector<Shape> inputs(draw.between(1, 3), shape);
    for (Shape& input : inputs)
      input[dim] = draw.between(1, 4);
    return {{{"dim", dim}}, inputs};
  }

private:
  int dimension() const { return static_cast<int>(integer("dim")); }

  void checkShapes(const std::vector<Shape>& inputs) const {
    Shape first = inputs.front();
    const int d = dimension();
    if (d >= static_cast<int>(first.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} concatenates along dimension {}, but its input has shape [{}]; set "
                      "dim to one of its dimensions, counted from 0",
                      title(), d, fmt::join(first, ",")));
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const Shape& shape = inputs[i];
      if (shape.size() == first.size())
        first[d] = shape[d]; // extents along the dimension of concatenation can differ
      if (shape != first)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} ({}) needs inputs of equal shape except in dimension {}, but "
                                "input {} has [{}] and input 0 has [{}]",
                                title(), type(), d, i, fmt::join(shape, ","),
                                fmt::join(inputs.front(), ",")));
    }
  }

  void addUses(Form& form, const std::vector<Shape>& shapes) const override {
    Index begin = 0;
    for (const Shape& shape : shapes) {
      form.uses.push_back(restricted(form.output, begin, shape[dimension()]));
      begin += shape[dimension()];
    }
  }
  // The output's layout restricted to [begin, begin + extent) of the dimension.
  Layout restricted(const Layout& output, Index begin, Index extent) const {
    LayoutSpec spec = output.spec();
    spec.shape[dimension()] = extent;
    for (Index& cut : spec.cuts[dimension()])
      cut = std::clamp(cut - begin, Index(0), extent);
    return Layout(std::move(spec));
  }
};

} // namespace

std::unique_ptr<Declaration> declareAdd() {
  return std::make_unique<Add>();
}

std::unique_ptr<Declaration> declareSubtract() {
  return std::make_unique<Subtract>();
}

std::unique_ptr<Declaration> declareConcatenate() {
  return std::make_unique<Concatenate>();
}

} // namespace tenon
