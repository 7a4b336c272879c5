// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/pointwise.hpp"
#include "kernels/reduce.hpp"
#include "layer/layer_types.hpp"
#include "sys/log.hpp"

namespace tenon {

namespace {

// On arrays [batch, channel, space] of this rank, channel by channel.
class LocalChannelAffine final : public OneInputKernel {
public:
  explicit LocalChannelAffine(const Box& box)
      : runs_(box[0].size() * box[1].size()), channels_(box[1].size()),
        run_(runs_ > 0 ? cells(box) / runs_ : 0) {}

  bool keepsInput() const override { return true; }
  Gradients gradients() const override { return Gradients::Apart; }

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      map<T>(&x, &p[0]->value(), nullptr, nullptr, &p[1]->value(), y);
    });
    logFlops(2.0 * double(runs_ * run_));
  }
  void tangent(const KernelPoint& at, const DTensor* dx, ParameterUses& p, DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      map<T>(dx, &p[0]->value(), at.x, p[0]->tangent(), p[1]->tangent(), dy);
    });
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor* dx) override {
    if (dx)
      visitFloating(dy.dataType(), [&]<class T>(T) {
        map<T>(&dy, &p[0]->value(), nullptr, nullptr, nullptr, *dx);
      });
  }
  void adjointParameters(const KernelPoint& at, const DTensor& dy, ParameterUses& p) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const T one = 1, *x = at.x->data<T>(), *g = dy.data<T>();
      const Index step = 1, still = 0;
      DTensor &scale = p[0]->gradientAddends(), &shift = p[1]->gradientAddends();
      for (Index r = 0; r < runs_; ++r) {
        const Index c = r % channels_, first = r * run_;
        scale.mutableData<T>()[c] += static_cast<T>(dot<T>(run_, g + first, x + first));
        if (shift.localCells() > 0)
          shift.mutableData<T>()[c] +=
              static_cast<T>(dotBlock<T>(1, &run_, g + first, &step, &one, &still));
      }
    });
  }
  std::string describe() const override { return "each channel for itself"; }

private:
  // out = a u + b v + t, where what is null, or absent on this rank, is zero.
  template <class T>
  void map(const DTensor* u, const DTensor* a, const DTensor* v, const DTensor* b, const DTensor* t,
           DTensor& out) const {
    const Index step = 1;
    const bool adds = t && t->localCells() > 0;
    for (Index r = 0; r < runs_; ++r) {
      const Index c = r % channels_, first = r * run_;
      T* y = out.mutableData<T>() + first;
      fillBlock<T>(1, &run_, adds ? t->data<T>()[c] : T(0), y, &step);
      if (u)
        axpby<T>(run_, a->data<T>()[c], u->data<T>() + first, T(1), y);
      if (b)
        axpby<T>(run_, b->data<T>()[c], v->data<T>() + first, T(1), y);
    }
  }

  Index runs_, channels_, run_;
};

} // namespace

std::unique_ptr<LocalKernel> makeChannelaffineKernel(Layer&, const Form&, const Layout&,
                                                     const Box& outputs) {
  return std::make_unique<LocalChannelAffine>(outputs);
}

} // namespace tenon
