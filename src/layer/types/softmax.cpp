// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of softmax along one dimension, y_i = exp(x_i) / sum over j of exp(x_j). A line is
// the elements of x that differ only in their index along this dimension; arrays are viewed as
// [outer, n, inner], with the n elements of a line in the middle. If the dimension is not split
// over ranks, WholeSoftmax is the only kernel. Otherwise there are four, and the layer combines the
// results of all ranks after the first and the third one:
//
//   x -> m  AxisMaxima         of this rank's elements of each line   -- maximum over ranks -->
//   e = exp(x - m)  AxisExponentials
//   s = sum of e    AxisSums   over this rank's elements              -- sum over ranks -->
//   y = e / s       AxisQuotients
//
// The maximum m cancels out of the quotient: it only prevents overflow, and is not differentiated.
#include "kernels/rows/softmax.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

namespace {

// Softmax of lines that this rank has as a whole. The Jacobian is symmetric, so for a direction v,
// tangent and adjoint both have the value y (v - sum of y v), where the sum is over the line.
class WholeSoftmax final : public OneInputKernel {
public:
  WholeSoftmax(const KernelSite& at, const AxisShape& shape)
      : context_(at.context()), shape_(shape) {
    visitFloating(at.layer.dataType(), [&]<class T>(T) {
      ScratchPlan plan;
      maxima_ = plan.add<T>(shape.outer * shape.inner);
      sums_ = plan.add<T>(shape.outer * shape.inner);
      context_->reserve(plan);
    });
  }
  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      axisSoftmax<T>(*context_, shape_, x.data<T>(), context_->scratch<T>(maxima_),
                     context_->scratch<T>(sums_), y.mutableData<T>());
    });
  }
  void tangent(const KernelPoint& at, const DTensor* dx, ParameterUses&, DTensor& dy) override {
    if (dx)
      derivative(*at.y, *dx, dy);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint& at, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (dx)
      derivative(*at.y, dy, *dx);
  }
  std::string describe() const override { return "softmax"; }
  bool runsOnDevice() const override { return true; }

private:
  void derivative(const DTensor& y, const DTensor& v, DTensor& result) {
    visitFloating(result.dataType(), [&]<class T>(T) {
      T* const sums = context_->scratch<T>(sums_);
      axisDots<T>(*context_, shape_, y.data<T>(), v.data<T>(), sums);
      axisSoftmaxSlope<T>(*context_, shape_, y.data<T>(), v.data<T>(), sums,
                          result.mutableData<T>());
    });
  }

  KernelContextPtr context_;
  AxisShape shape_;
  Index maxima_ = 0, sums_ = 0; // offsets in the scratch memory
};

// Maxima over this rank's elements of each line; -infinity if this rank has no element of the line.
class AxisMaxima final : public FixedKernel {
public:
  explicit AxisMaxima(const AxisShape& shape) : shape_(shape) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(m.dataType(), [&]<class T>(T) {
      axisMaxima<T>(m.context(), shape_, x[0]->data<T>(), m.mutableData<T>());
    });
  }
  std::string describe() const override { return "maxima"; }
  bool runsOnDevice() const override { return true; }

private:
  AxisShape shape_;
};

// Exponentials of x minus the maxima. For fixed maxima, e is its own derivative, so the output is
// saved instead of x.
class AxisExponentials final : public LocalKernel {
public:
  explicit AxisExponentials(const AxisShape& shape) : shape_(shape) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& e, Buffer*) override {
    visitFloating(e.dataType(), [&]<class T>(T) {
      axisExponentials<T>(e.context(), shape_, x[0]->data<T>(), x[1]->data<T>(),
                          e.mutableData<T>());
    });
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& de) override {
    times(*at.y, dx[0], de);
  }
  void adjointMany(const KernelPoint& at, const DTensor& de, ParameterUses&,
                   InputCotangents dx) override {
    if (dx[0])
      times(*at.y, &de, *dx[0]);
  }
  std::string describe() const override { return "exponentials"; }
  bool runsOnDevice() const override { return true; }

private:
  static void times(const DTensor& e, const DTensor* v, DTensor& result) {
    if (!v)
      return scaleArray(0, result);
    visitFloating(result.dataType(), [&]<class T>(T) {
      product<T>(result.context(), result.localElements(), e.data<T>(), v->data<T>(),
                 /*adds=*/false, result.mutableData<T>());
    });
  }

  AxisShape shape_;
};

// Sums of exponentials over this rank's elements of each line. The map is linear and saves nothing.
class AxisSums final : public LocalKernel {
public:
  explicit AxisSums(const AxisShape& shape) : shape_(shape) {}
  void forwardMany(Inputs e, ParameterUses&, DTensor& s, Buffer*) override {
    visitFloating(s.dataType(), [&]<class T>(T) {
      axisSums<T>(s.context(), shape_, e[0]->data<T>(), s.mutableData<T>());
    });
  }
  void tangentMany(const KernelPoint&, Inputs de, ParameterUses& p, DTensor& ds) override {
    if (de[0])
      forwardMany(de, p, ds, nullptr);
    else
      scaleArray(0, ds);
  }
  void adjointMany(const KernelPoint&, const DTensor& ds, ParameterUses&,
                   InputCotangents de) override {
    if (de[0])
      visitFloating(ds.dataType(), [&]<class T>(T) {
        axisSpread<T>(ds.context(), shape_, ds.data<T>(), de[0]->mutableData<T>());
      });
  }
  std::string describe() const override { return "sums"; }
  bool runsOnDevice() const override { return true; }

private:
  AxisShape shape_;
};

// Exponentials divided by the sums over whole lines.
class AxisQuotients final : public LocalKernel {
public:
  explicit AxisQuotients(const AxisShape& shape) : shape_(shape) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& y, Buffer*) override {
    visitFloating(y.dataType(), [&]<class T>(T) {
      axisQuotients<T>(y.context(), shape_, x[0]->data<T>(), x[1]->data<T>(), y.mutableData<T>());
    });
  }
  void tangentMany(const KernelPoint& at, Inputs dx, ParameterUses&, DTensor& dy) override {
    if (!dx[0] && !dx[1])
      return scaleArray(0, dy);
    visitFloating(dy.dataType(), [&]<class T>(T) {
      axisQuotientsTangent<T>(dy.context(), shape_, at.inputs[0]->data<T>(),
                              at.inputs[1]->data<T>(), dx[0] ? dx[0]->data<T>() : nullptr,
                              dx[1] ? dx[1]->data<T>() : nullptr, dy.mutableData<T>());
    });
  }
  void adjointMany(const KernelPoint& at, const DTensor& dy, ParameterUses&,
                   InputCotangents dx) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T *e = at.inputs[0]->data<T>(), *s = at.inputs[1]->data<T>();
      if (dx[0])
        axisQuotients<T>(dy.context(), shape_, dy.data<T>(), s, dx[0]->mutableData<T>());
      if (dx[1])
        axisQuotientsAdjoint<T>(dy.context(), shape_, e, s, dy.data<T>(), dx[1]->mutableData<T>());
    });
  }
  std::string describe() const override { return "quotients"; }
  bool runsOnDevice() const override { return true; }

private:
  AxisShape shape_;
};

} // namespace

// Makes kernel number `at.number` of those listed at the top of this file; called on each rank at
// set-up. A layout can store x on one rank only. On the other ranks `outer` must be 0, but the
// product of the extents before the dimension would be 1 for a one-dimensional x, which has none.
std::unique_ptr<LocalKernel> makeSoftmaxKernel(const KernelSite& at) {
  const auto dim = static_cast<std::size_t>(at.layer.declaration().value<Index>("dim"));
  const Layout& use = at.form.uses.front();
  const int position = use.grid().position(at.rank());
  const Box box = use.box(position);
  AxisShape shape;
  shape.outer = use.isHolder(position) ? 1 : 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    (d < dim ? shape.outer : d == dim ? shape.n : shape.inner) *= box[d].size();
  if (at.list.kernels().size() == 1)
    return std::make_unique<WholeSoftmax>(at, shape);
  switch (at.number) {
  case 0:
    return std::make_unique<AxisMaxima>(shape);
  case 1:
    return std::make_unique<AxisExponentials>(shape);
  case 2:
    return std::make_unique<AxisSums>(shape);
  default:
    return std::make_unique<AxisQuotients>(shape);
  }
}

} // namespace tenon
