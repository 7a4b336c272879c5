// SPDX-License-Identifier: BSD-2-Clause
// Declares the softmax along a dimension `dim`: y = exp(x - m) / s, with the maximum m of x and the
// sum s of exp(x - m) over this dimension. m and s are one number for each line of elements along
// `dim`. declareSoftmax() is declared in core/types.hpp.
//
// If a grid axis splits `dim`, the ranks along the axis have pieces of a line, and maps() lists
// these steps:
//
//   z   x in the layout in which the kernels use it
//   m   maxima of this rank's pieces          M   maxima over all ranks (one exchange)
//   e   exp(z - M)
//   s   sums of e over this rank's pieces     S   sums over all ranks (one exchange)
//   y   e / S
//
// Otherwise there is a single kernel, whose derivatives read only y. The steps up to M are fixed,
// that is, not differentiated, because y does not depend on the m that is subtracted. The adjoint
// then needs one exchange, of the sums.
//
// Labels, which state what a grid axis does to x and y: S0, S1, ... (splits dimension 0, 1, ...), B
// (replicates them), R (holds them on its root only).
#include "kernels/rows/softmax.hpp"
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kSoftmaxSettings[] = {
    {"dim", OptionSpec::Int, nullptr, "dimension along which the outputs sum to 1, counted from 0",
     nullptr, atLeast(0)}};

// The softmax of lines that this rank holds whole. Its Jacobian is symmetric: in the direction v,
// tangent and adjoint both have the value y (v - sum of y v), where the sum is over the line.
// Arrays are viewed as [outer, n, inner], with the n elements of a line in the middle.
template <class T>
class WholeSoftmax final : public SymmetricKernel {
public:
  WholeSoftmax(KernelContextPtr context, const AxisShape& shape)
      : context_(std::move(context)), shape_(shape) {
    ScratchPlan plan;
    maxima_ = plan.add<T>(shape.outer * shape.inner);
    sums_ = plan.add<T>(shape.outer * shape.inner);
    context_->reserve(plan);
  }
  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    axisSoftmax<T>(*context_, shape_, x[0].data<T>(), context_->scratch<T>(maxima_),
                   context_->scratch<T>(sums_), y.mutableData<T>());
  }
  std::string describe() const override { return "softmax"; }

private:
  void derivative(const SavedArrays& at, const LocalArray& v, LocalArray& result) override {
    T* const sums = context_->scratch<T>(sums_);
    const T* const y = at.output.data<T>();
    axisDots<T>(*context_, shape_, y, v.data<T>(), sums);
    axisSoftmaxSlope<T>(*context_, shape_, y, v.data<T>(), sums, result.mutableData<T>());
  }

  KernelContextPtr context_;
  AxisShape shape_;
  Index maxima_ = 0, sums_ = 0; // offsets in the scratch memory
};

// Maxima over this rank's elements of each line; -infinity if this rank has no element of the line.
template <class T>
class AxisMaxima final : public FixedKernel {
public:
  explicit AxisMaxima(const AxisShape& shape) : shape_(shape) {}
  void forward(Arrays x, KernelParameters, LocalArray& m, Buffer*) override {
    axisMaxima<T>(m.context(), shape_, x[0].data<T>(), m.mutableData<T>());
  }
  std::string describe() const override { return "maxima"; }

private:
  AxisShape shape_;
};

// Exponentials of x minus the maxima. For fixed maxima, e is its own derivative, so the output is
// saved instead of x.
template <class T>
class AxisExponentials final : public SymmetricKernel {
public:
  explicit AxisExponentials(const AxisShape& shape) : shape_(shape) {}
  void forward(Arrays x, KernelParameters, LocalArray& e, Buffer*) override {
    axisExponentials<T>(e.context(), shape_, x[0].data<T>(), x[1].data<T>(), e.mutableData<T>());
  }
  std::string describe() const override { return "exponentials"; }

private:
  void derivative(const SavedArrays& at, const LocalArray& v, LocalArray& result) override {
    product<T>(result.context(), result.elements(), at.output.data<T>(), v.data<T>(),
               /*adds=*/false, result.mutableData<T>());
  }

  AxisShape shape_;
};

// Sums of exponentials over this rank's elements of each line. The map is linear and saves nothing.
template <class T>
class AxisSums final : public LinearKernel {
public:
  explicit AxisSums(const AxisShape& shape) : shape_(shape) {}
  void map(const LocalArray& e, LocalArray& s) override {
    axisSums<T>(s.context(), shape_, e.data<T>(), s.mutableData<T>());
  }
  void mapAdjoint(const LocalArray& ds, LocalArray& de) override {
    axisSpread<T>(ds.context(), shape_, ds.data<T>(), de.mutableData<T>());
  }
  std::string describe() const override { return "sums"; }

private:
  AxisShape shape_;
};

// Exponentials divided by the sums over whole lines.
template <class T>
class AxisQuotients final : public ArrayKernel {
public:
  explicit AxisQuotients(const AxisShape& shape) : shape_(shape) {}
  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    axisQuotients<T>(y.context(), shape_, x[0].data<T>(), x[1].data<T>(), y.mutableData<T>());
  }
  void tangent(const SavedArrays& at, Arrays dx, KernelParameters, LocalArray& dy) override {
    if (!dx[0] && !dx[1])
      return setZero(dy);
    axisQuotientsTangent<T>(dy.context(), shape_, at.inputs[0].data<T>(), at.inputs[1].data<T>(),
                            dx[0].data<T>(), dx[1].data<T>(), dy.mutableData<T>());
  }
  void adjoint(const SavedArrays& at, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    const T *e = at.inputs[0].data<T>(), *s = at.inputs[1].data<T>();
    if (dx[0])
      axisQuotients<T>(dy.context(), shape_, dy.data<T>(), s, dx[0].mutableData<T>());
    if (dx[1])
      axisQuotientsAdjoint<T>(dy.context(), shape_, e, s, dy.data<T>(), dx[1].mutableData<T>());
  }
  std::string describe() const override { return "quotients"; }

private:
  AxisShape shape_;
};

class Softmax final : public Elementwise {
public:
  Softmax() : Elementwise("softmax", kSoftmaxSettings) {}
  // On a field of patches that links join (a multi-block grid), lines along the channels are whole,
  // but lines in space would end at the patch.
  bool joinsPatches(const std::vector<Shape>&) const override {
    return integer("dim") == kChannelDim;
  }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (integer("dim") >= static_cast<Index>(x.size()))
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} normalises dimension {}, but its input has shape [{}]; set dim to "
                      "one of its dimensions, counted from 0",
                      title(), integer("dim"), fmt::join(x, ",")));
    return x;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    outputShape({inputs.front().shape()});
    return Elementwise::form(inputs, choice);
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front());
    list.output("y", form.output);
    const ValueId z =
        haveSameMemory(form.inputs.front(), use) ? list.staged(x) : list.convert("z", x, use);
    const Layout part = ofLines(use, Property::partial()),
                 whole = ofLines(use, Property::broadcast());
    // Partial and whole lines differ only if an axis splits them.
    if (haveSameMemory(part, whole)) {
      const ValueId y = list.stagedOutput();
      list.run({.name = "softmax", .savesOutput = true}, {z}, y);
      list.unstage(y);
      return list;
    }
    const ValueId m = list.exact(list.value("m", part));
    list.runFixed({.name = "maxima"}, {z}, m);
    const ValueId e = list.value("e", use);
    list.run({.name = "exponentials", .savesOutput = true},
             {z, list.convert("M", m, whole, OperatorKind::Maximum)}, e);
    const ValueId s = list.exact(list.value("s", part));
    list.run({.name = "sums"}, {e}, s);
    const ValueId y = list.stagedOutput();
    list.run({.name = "quotients", .savesInputs = true},
             {e, list.convert("S", s, whole, OperatorKind::Conversion)}, y);
    list.unstage(y);
    return list;
  }

  // A layout can store x on one rank only. On the other ranks `outer` must be 0, but the product of
  // the extents before the dimension would be 1 for a one-dimensional x, which has none.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const auto dim = static_cast<std::size_t>(integer("dim"));
    const Layout& use = at.form.uses.front();
    const int position = use.grid().position(at.rank);
    const Box box = use.box(position);
    AxisShape shape;
    shape.outer = use.isHolder(position) ? 1 : 0;
    for (std::size_t d = 0; d < box.size(); ++d)
      (d < dim ? shape.outer : d == dim ? shape.n : shape.inner) *= box[d].size();
    if (at.name() == "softmax")
      return makeTyped<WholeSoftmax>(at.type, at.context, shape);
    if (at.name() == "maxima")
      return makeTyped<AxisMaxima>(at.type, shape);
    if (at.name() == "exponentials")
      return makeTyped<AxisExponentials>(at.type, shape);
    if (at.name() == "sums")
      return makeTyped<AxisSums>(at.type, shape);
    return makeTyped<AxisQuotients>(at.type, shape);
  }

  std::string summary() const override { return fmt::format("along dim {}", integer("dim")); }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(1, 4);
    return {{{"dim", draw.between(0, static_cast<Index>(shape.size()) - 1)}}, {shape}};
  }

private:
  bool isLinear() const override { return false; }

  // A layout with one number per line along the dimension, and `split` on axes that split it.
  Layout ofLines(const Layout& use, Property split) const {
    const int dim = static_cast<int>(integer("dim"));
    Properties properties = use.properties();
    for (Property& p : properties)
      if (p == Property::shard(dim))
        p = split;
    Shape shape = use.shape();
    shape[dim] = 1;
    std::vector<CutSource> cuts;
    for (int d = 0; d < use.ndim(); ++d)
      cuts.push_back(d == dim ? CutSource() : CutSource{&use, d});
    return makeLayout(shape, use.gridPtr(), properties, cuts);
  }
};

} // namespace

std::unique_ptr<Declaration> declareSoftmax() {
  return std::make_unique<Softmax>();
}

} // namespace tenon
