// SPDX-License-Identifier: BSD-2-Clause
// Declares the elementwise product and quotient of two inputs, which are broadcast along extents of
// 1 as in NumPy (broadcast.hpp): a [8,3] times b [1,3] multiplies each row by b.
//
//   multiply   y = x_0 x_1
//   divide     y = x_0 / x_1, the product with the reciprocal of x_1
//
// Labels, which state what an axis of the process grid does to the inputs and y: S0, S1, ...
// (splits a dimension), B (replicates them), R (holds them on its root only). multiply also has Pa
// and Pb, if x_0 or x_1 is a partial sum and the other is replicated. Both cannot be partial sums:
// (a + b)(c + d) is not ac + bd. A divisor cannot be one either, since a reciprocal is not linear.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/broadcast.hpp"
#include "declaration/types/pointwise.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"

namespace tenon {

namespace {

// Strides of a contiguous array of the shape of `part` for a loop over the larger `box`: 0 in
// dimensions in which the array has one element and the box has more.
Strides stridesWithin(const Box& box, const Box& part) {
  Strides strides{};
  Index step = 1;
  for (std::size_t d = box.size(); d-- > 0;) {
    strides[d] = part[d].size() == box[d].size() ? step : 0;
    step *= part[d].size();
  }
  return strides;
}

// The value a b and the cotangents da = dy b and db = dy a are all elementwise products, so one
// function (multiply) computes them. For the cotangent of a broadcast factor, it also sums over the
// broadcast dimensions; the stride 0 of this factor adds all terms to the same element.
template <class T>
class LocalProduct final : public BilinearKernel {
public:
  LocalProduct(const Box& y, const Box& a, const Box& b)
      : BilinearKernel(/*flops=*/double(elements(y))), extent_(extents(y)),
        stridesA_(stridesWithin(y, a)), stridesB_(stridesWithin(y, b)),
        stridesY_(stridesWithin(y, y)),
        isUnbroadcast_(stridesA_ == stridesY_ && stridesB_ == stridesY_) {}

  std::string describe() const override { return "element by element"; }

private:
  void product(const LocalArray& a, const LocalArray& b, const LocalArray&, bool adds,
               LocalArray& y) override {
    multiply(a, stridesA_, b, stridesB_, adds, y, stridesY_);
  }
  void adjointX(const LocalArray& b, const LocalArray& dy, LocalArray& da) override {
    multiply(dy, stridesY_, b, stridesB_, /*adds=*/false, da, stridesA_);
  }
  void adjointW(const LocalArray& a, const LocalArray& dy, LocalArray& db, LocalArray&) override {
    multiply(dy, stridesY_, a, stridesA_, /*adds=*/false, db, stridesB_);
  }

  // result = v w, or result += v w if `adds`, summed over the dimensions in which the result is
  // broadcast.
  void multiply(const LocalArray& v, const Strides& stridesV, const LocalArray& w,
                const Strides& stridesW, bool adds, LocalArray& result,
                const Strides& stridesOfResult) const {
    if (isUnbroadcast_)
      return tenon::product<T>(result.context(), result.elements(), v.data<T>(), w.data<T>(), adds,
                               result.mutableData<T>());
    if (!adds)
      setZero(result);
    blockMultiplyAdd<T>(result.context(), static_cast<int>(extent_.size()), extent_.data(), T(1),
                        v.data<T>(), stridesV.data(), w.data<T>(), stridesW.data(),
                        result.mutableData<T>(), stridesOfResult.data());
  }

  Shape extent_;                           // of y on this rank
  Strides stridesA_, stridesB_, stridesY_; // in loops over y
  bool isUnbroadcast_;                     // a, b and y have the same shape
};

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
  // The kernel "reciprocal" is of divide.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    if (at.name() == "reciprocal")
      return makePointwise(at.type, Pointwise::Reciprocal);
    return makeTyped<LocalProduct>(at.type, at.form.output.boxOfRank(at.rank),
                                   at.form.uses[0].boxOfRank(at.rank),
                                   at.form.uses[1].boxOfRank(at.rank));
  }
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

} // namespace tenon
