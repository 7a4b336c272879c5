// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the elementwise product y = a b and of the quotient a / b. A factor with extent
// 1 in a dimension is broadcast along it: a [8,3] times b [1,3] multiplies each row by b.
//
// The value a b and the cotangents da = dy b and db = dy a are all elementwise products, so one
// function (multiply) computes them. For the cotangent of a broadcast factor, it also sums over the
// broadcast dimensions; the stride 0 of this factor adds all terms to the same element. A quotient
// consists of two kernels: the reciprocal of b, and the product of a with it.
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
      : BilinearKernel(/*flops=*/double(elements(y))), extent_(extents(y)),
        stridesA_(stridesWithin(y, a)), stridesB_(stridesWithin(y, b)),
        stridesY_(stridesWithin(y, y)),
        isUnbroadcast_(stridesA_ == stridesY_ && stridesB_ == stridesY_) {}

  std::string describe() const override { return "element by element"; }
  bool runsOnDevice() const override { return true; }

private:
  void product(const DTensor& a, const DTensor& b, const DTensor*, bool adds, DTensor& y) override {
    multiply(a, stridesA_, b, stridesB_, adds, y, stridesY_);
  }
  void adjointX(const DTensor& b, const DTensor& dy, DTensor& da) override {
    multiply(dy, stridesY_, b, stridesB_, /*adds=*/false, da, stridesA_);
  }
  void adjointW(const DTensor& a, const DTensor& dy, DTensor& db, DTensor*) override {
    multiply(dy, stridesY_, a, stridesA_, /*adds=*/false, db, stridesB_);
  }

  // result = v w, or result += v w if `adds`, summed over the dimensions in which the result is
  // broadcast.
  void multiply(const DTensor& v, const Strides& stridesV, const DTensor& w,
                const Strides& stridesW, bool adds, DTensor& result,
                const Strides& stridesOfResult) const {
    visitFloating(result.dataType(), [&]<class T>(T) {
      if (isUnbroadcast_)
        return tenon::product<T>(result.context(), result.localElements(), v.data<T>(), w.data<T>(),
                                 adds, result.mutableData<T>());
      if (!adds)
        scaleArray(0, result);
      blockMultiplyAdd<T>(result.context(), static_cast<int>(extent_.size()), extent_.data(), T(1),
                          v.data<T>(), stridesV.data(), w.data<T>(), stridesW.data(),
                          result.mutableData<T>(), stridesOfResult.data());
    });
  }

  Shape extent_;                           // of y on this rank
  Strides stridesA_, stridesB_, stridesY_; // in loops over y
  bool isUnbroadcast_;                     // a, b and y have the same shape
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeMultiplyKernel(const KernelSite& at) {
  return std::make_unique<LocalProduct>(at.form.output.boxOfRank(at.rank()),
                                        at.form.uses[0].boxOfRank(at.rank()),
                                        at.form.uses[1].boxOfRank(at.rank()));
}

std::unique_ptr<LocalKernel> makeDivideKernel(const KernelSite& at) {
  return at.name() == "reciprocal" ? makePointwise(Pointwise::Reciprocal) : makeMultiplyKernel(at);
}

} // namespace tenon
