// SPDX-License-Identifier: BSD-2-Clause
// Declares the affine (fully connected) layer y[n,o] = sum over i of x[n,i] W[o,i] + b[o].
// declareAffine() is declared in core/types.hpp.
//
// rows() lists how one axis of the process grid can distribute the layer, form() makes the layouts
// of all arrays on all ranks, kernel() describes the kernel and the values that its derivative
// reads, and work() counts the operations of one rank, from which a plan predicts times. The
// kernel, the arithmetic on the arrays of one rank, is LocalAffine.
//
// Along a grid axis, a rank has a block of a dimension (S0, S1), a copy (B), a partial sum (P), or
// everything on the root of the axis and nothing elsewhere (R). The signature table in rows() has a
// row per label:
//
//   label   x    W    b    y
//   n       S0   B    B    S0    batch split
//   o       B    S0   S0   S1    output features split
//   i       S1   S1   R    P     input features split: y is a partial sum
//   B, R    all arrays replicated, or on the root
//   P       P    B    R    P     x is a partial sum
//
// Where y is a partial sum, the bias is on the root of the axis only, which adds it once. The P_fo
// x P_fi layer of Hewett & Grady is a grid with labels o,i; the 1.5-D product of Gholami et al. is
// o,n.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/products/gemm.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kAffineSettings[] = {
    {"inputs", OptionSpec::Int, nullptr, "number of input features", nullptr, atLeast(1)},
    {"outputs", OptionSpec::Int, nullptr, "number of output features", nullptr, atLeast(1)},
    {"bias", OptionSpec::Flag, "true", "whether a bias is added"},
};

// This rank's blocks are x [samples, inputs], W [outputs, inputs], b [outputs] and y [samples,
// outputs], all row-major.
template <class T>
class LocalAffine final : public BilinearKernel {
public:
  LocalAffine(Index samples, Index inputs, Index outputs, Backend backend)
      : BilinearKernel(2.0 * double(samples * inputs) * double(outputs)), samples_(samples),
        inputs_(inputs), outputs_(outputs), backend_(backend) {}

  std::string describe() const override {
    return fmt::format("backend {} (gemm)", backendName(backend_));
  }

private:
  void product(const LocalArray& x, const LocalArray& w, const LocalArray& b, bool adds,
               LocalArray& y) override {
    T* out = y.mutableData<T>();
    gemm<T>(y.context(), backend_, /*transA=*/false, /*transB=*/true, samples_, outputs_, inputs_,
            /*alpha=*/T(1), x.data<T>(), inputs_, w.data<T>(), inputs_, /*beta=*/T(adds), out,
            outputs_);
    if (b)
      addBias<T>(y.context(), samples_, outputs_, b.data<T>(), out);
  }
  void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) override {
    gemm<T>(dy.context(), backend_, /*transA=*/false, /*transB=*/false, samples_, inputs_, outputs_,
            /*alpha=*/T(1), dy.data<T>(), outputs_, w.data<T>(), inputs_, /*beta=*/T(0),
            dx.mutableData<T>(), inputs_);
  }
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw,
                LocalArray& db) override {
    // Gradients of parameters accumulate: beta is 1, and rows are added to db.
    gemm<T>(dy.context(), backend_, /*transA=*/true, /*transB=*/false, outputs_, inputs_, samples_,
            /*alpha=*/T(1), dy.data<T>(), outputs_, x.data<T>(), inputs_, /*beta=*/T(1),
            dw.mutableData<T>(), inputs_);
    if (db)
      sumRows<T>(dy.context(), samples_, outputs_, dy.data<T>(), db.mutableData<T>());
  }
  void fill(const LocalArray& b, LocalArray& y) override {
    setZero(y);
    if (b)
      addBias<T>(y.context(), samples_, outputs_, b.data<T>(), y.mutableData<T>());
  }

  Index samples_, inputs_, outputs_;
  Backend backend_;
};

class Affine final : public Declaration {
public:
  Affine() : Declaration("affine", kAffineSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (x.size() != 2 || x[1] != integer("inputs"))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1}]", title(),
                              integer("inputs"), fmt::join(x, ",")));
    return {x[0], integer("outputs")};
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    const auto S = [](int d) { return Property::shard(d); };
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    return {{"n", S(0), {B, B}, S(0)}, {"o", B, {S(0), S(0)}, S(1)}, {"i", S(1), {S(1), R}, P},
            {"B", B, {B, B}, B},       {"R", R, {R, R}, R},          {"P", P, {B, R}, P}};
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Layout& input = inputs.front();
    const Shape shape = outputShape({input.shape()});
    Form form = formLikeInput(inputs, choice);
    const Signature& signature = form.signature;
    const Layout &use = form.uses.front(), &output = form.output;
    const GridPtr grid = use.gridPtr();
    // The rows of y have the split points of the rows of x, and its columns balanced blocks.
    form.output = makeLayout(shape, grid, signature.output(), {{&use, 0}, {}});
    // W and b have the split points of the dimensions that they share with x and y, because the
    // kernel multiplies local blocks; the split points of x can come from a solver.
    form.parameters.push_back({.name = "weight",
                               .use = makeLayout({shape[1], input.shape()[1]}, grid,
                                                 signature.parameter(0), {{&output, 1}, {&use, 1}}),
                               .fanIn = input.shape()[1],
                               .fanOut = shape[1]});
    if (flag("bias"))
      form.parameters.push_back(
          {.name = "bias",
           .use = makeLayout({shape[1]}, grid, signature.parameter(1), {{&output, 1}})});
    return form;
  }

  Work work(const Form& form, int position) const override {
    const Box in = form.uses[0].box(position), out = form.output.box(position);
    // The product and its two adjoints, for x and for W, multiply the same three extents.
    const double flops = 2.0 * double(elements(in)) * double(out[1].size());
    return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .appliesFunction = true,
            .gradients = Gradients::Separate};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    // Load the BLAS library at set-up, where all ranks can still report an error together.
    prepareGemm(*at.context);
    const Box in = at.input();
    return makeTyped<LocalAffine>(at.type, in[0].size(), in[1].size(), at.outputs()[1].size(),
                                  at.resolvedBackend());
  }

  std::string summary() const override {
    return fmt::format("{} -> {} features{}", integer("inputs"), integer("outputs"),
                       flag("bias") ? "" : ", no bias");
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 2);
    return {{{"inputs", shape[1]}, {"outputs", draw.between(1, 6)}, {"bias", draw.chance(70)}},
            {shape}};
  }
};

} // namespace

std::unique_ptr<Declaration> declareAffine() {
  return std::make_unique<Affine>();
}

} // namespace tenon
