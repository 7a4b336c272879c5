// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the elementwise product y = a b, whose factors can be broadcast. The value a b
// and the cotangents dy b and dy a are all elementwise products, so one function computes them. For
// the cotangent of a broadcast factor, it also sums over the broadcast dimensions. A quotient is
// computed as a product with a reciprocal.
#include "dtensor/arithmetic.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/types/pointwise.hpp"

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

class LocalProduct final : public BilinearKernel {
public:
  LocalProduct(const Box& y, const Box& a, const Box& b)
      : BilinearKernel(double(elements(y))), extent_(extents(y)), a_(stridesWithin(y, a)),
        b_(stridesWithin(y, b)), y_(stridesWithin(y, y)), isEven_(a_ == y_ && b_ == y_) {}

  std::string describe() const override { return "element by element"; }
  bool runsOnDevice() const override { return true; }

private:
  void product(const DTensor& a, const DTensor& b, const DTensor*, bool adds, DTensor& y) override {
    multiply(a, a_, b, b_, adds, y, y_);
  }
  void adjointX(const DTensor& b, const DTensor& dy, DTensor& da) override {
    multiply(dy, y_, b, b_, false, da, a_);
  }
  void adjointW(const DTensor& a, const DTensor& dy, DTensor& db, DTensor*) override {
    multiply(dy, y_, a, a_, false, db, b_);
  }

  // r = v w or r += v w, summed over the dimensions in which r is broadcast.
  void multiply(const DTensor& v, const Strides& vs, const DTensor& w, const Strides& ws, bool adds,
                DTensor& r, const Strides& rs) const {
    visitFloating(r.dataType(), [&]<class T>(T) {
      if (isEven_)
        return tenon::product<T>(r.context(), r.localElements(), v.data<T>(), w.data<T>(), adds,
                                 r.mutableData<T>());
      if (!adds)
        scaleArray(0, r);
      blockMultiplyAdd<T>(r.context(), static_cast<int>(extent_.size()), extent_.data(), T(1),
                          v.data<T>(), vs.data(), w.data<T>(), ws.data(), r.mutableData<T>(),
                          rs.data());
    });
  }

  Shape extent_;
  Strides a_, b_, y_; // of contiguous arrays
  bool isEven_;
};

} // namespace

std::unique_ptr<LocalKernel> makeMultiplyKernel(const KernelSite& at) {
  return std::make_unique<LocalProduct>(at.form.output.boxOfRank(at.rank()),
                                        at.form.uses[0].boxOfRank(at.rank()),
                                        at.form.uses[1].boxOfRank(at.rank()));
}

std::unique_ptr<LocalKernel> makeDivideKernel(const KernelSite& at) {
  return at.name() == "reciprocal" ? makePointwise(Pointwise::Reciprocal) : makeMultiplyKernel(at);
}

} // namespace tenon
