// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the spectral convolution, which multiplies the lowest Fourier modes of a field
// [batch, channels, space...] by complex weights. The layer runs three kernels:
//
//   0  Transform (analysis)   this rank's elements -> its contribution to all coefficients
//        (sum over ranks; each rank receives a block of modes)
//   1  LocalModeProducts      coefficients times weights, for this rank's block of modes
//        (each rank receives the products of all modes)
//   2  Transform (synthesis)  all products -> this rank's elements
//
// Thus only the few coefficients are communicated between two kernels, not the field. Coefficients
// [batch, channels, modes..., 2] are a real array with the real and the imaginary parts in the last
// dimension.
#include "declaration/types/spectral.hpp"
#include "declaration/core/window_layout.hpp"
#include "dtensor/arithmetic.hpp"
#include "kernels/fourier/fourier.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// A truncated Fourier transform between this rank's elements of the field and all coefficients;
// `synthesises` selects the direction from coefficients to elements.
class Transform final : public OneInputKernel {
public:
  Transform(bool synthesises, const CommPtr& comm, Space space, Backend backend, TenonDataType type,
            const Layout& field, const Layout& coefficients)
      : synthesises_(synthesises), rows_(rowsOf(field.boxOfRank(comm->rank()))),
        flops_(fourierFlops(field.boxOfRank(comm->rank()), coefficients.boxOfRank(comm->rank()))),
        fourier_(type, [&]<class T>() {
          return std::make_unique<TruncatedFourier<T>>(
              contextOf(comm, space), backend, dims(comm->rank(), field, coefficients), rows_);
        }) {}

  void forward(const DTensor& x, ParameterUses&, DTensor& y, Buffer*) override {
    fourier_.visit([&]<class T>(TruncatedFourier<T>& f) {
      if (synthesises_)
        f.synthesise(rows_, x.data<T>(), y.mutableData<T>());
      else
        f.analyse(rows_, x.data<T>(), y.mutableData<T>());
      logFlops(flops_);
    });
  }
  void tangent(const KernelPoint&, const DTensor* dx, ParameterUses& p, DTensor& dy) override {
    if (dx)
      forward(*dx, p, dy, nullptr);
    else
      scaleArray(0, dy);
  }
  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses&, DTensor* dx) override {
    if (!dx)
      return;
    fourier_.visit([&]<class T>(TruncatedFourier<T>& f) {
      if (synthesises_)
        f.synthesiseAdjoint(rows_, dy.data<T>(), dx->mutableData<T>());
      else
        f.analyseAdjoint(rows_, dy.data<T>(), dx->mutableData<T>());
      logFlops(flops_);
    });
  }
  std::string describe() const override {
    return "transforms by dimension: " + fourier_.visit([](const auto& f) { return f.methods(); });
  }
  bool runsOnDevice() const override { return true; }

private:
  // A row is the field of one sample and channel; all rows have the same transform.
  static Index rowsOf(const Box& elements) { return elements[0].size() * elements[1].size(); }
  static std::vector<FourierDim> dims(int rank, const Layout& field, const Layout& coefficients) {
    const Box elements = field.boxOfRank(rank);
    std::vector<FourierDim> dims;
    for (int d = kFirstSpatial; d < field.rank(); ++d) {
      // The last dimension has the modes >= 0, since the field is real; the others have the same
      // number of modes of each sign.
      const Index modes = coefficients.shape()[d];
      dims.push_back({field.shape()[d], elements[d].begin, elements[d].size(),
                      /*modes of one sign=*/d + 1 == field.rank() ? modes : modes / 2});
    }
    return dims;
  }

  bool synthesises_;
  Index rows_;
  double flops_;
  TypedKernel<TruncatedFourier> fourier_;
};

// Y[n,o,k] = sum over i of X[n,i,k] W[i,o,k] for sample n, output channel o, input channel i and
// the modes k of this rank; all numbers are complex. The kernel multiplyModes() computes c[p,q] +=
// sum over r of a[p,q,r] b[p,q,r] for each mode. The strides below map p, q and r to n, o and i.
class LocalModeProducts final : public BilinearKernel {
public:
  LocalModeProducts(const Box& x, Index outputs)
      : BilinearKernel(modeFlops(x, outputs)), batch_(x[0].size()), inputs_(x[1].size()),
        outputs_(outputs) {
    // The last dimension of the coefficients holds their real and imaginary parts.
    for (std::size_t d = kFirstSpatial; d + 1 < x.size(); ++d)
      modes_ *= x[d].size();
  }

  std::string describe() const override { return "products of modes"; }
  bool runsOnDevice() const override { return true; }

private:
  void product(const DTensor& x, const DTensor& w, const DTensor*, bool adds, DTensor& y) override {
    if (!adds)
      scaleArray(0, y);
    visitFloating(y.dataType(), [&]<class T>(T) {
      multiplyModes<T>(y.context(),
                       {.extent = {batch_, outputs_, inputs_}, // n, o; sum over i
                        .a = {0, 1, outputs_},
                        .b = {inputs_, 0, 1},
                        .c = {outputs_, 1},
                        .modes = modes_},
                       /*conjugates=*/false, w.data<T>(), x.data<T>(), y.mutableData<T>());
    });
  }
  // The adjoint of a product with a complex number is the product with its conjugate. The three
  // products differ only in the index that is summed.
  void adjointX(const DTensor& w, const DTensor& dy, DTensor& dx) override {
    scaleArray(0, dx);
    visitFloating(dy.dataType(), [&]<class T>(T) {
      multiplyModes<T>(dy.context(),
                       {.extent = {batch_, inputs_, outputs_}, // n, i; sum over o
                        .a = {0, outputs_, 1},
                        .b = {outputs_, 0, 1},
                        .c = {inputs_, 1},
                        .modes = modes_},
                       /*conjugates=*/true, w.data<T>(), dy.data<T>(), dx.mutableData<T>());
    });
  }
  void adjointW(const DTensor& x, const DTensor& dy, DTensor& dw, DTensor*) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      multiplyModes<T>(dy.context(),
                       {.extent = {inputs_, outputs_, batch_}, // i, o; sum over n
                        .a = {1, 0, inputs_},
                        .b = {0, 1, outputs_},
                        .c = {outputs_, 1},
                        .modes = modes_},
                       /*conjugates=*/true, x.data<T>(), dy.data<T>(), dw.mutableData<T>());
    });
  }

  Index batch_, inputs_, outputs_, modes_ = 1;
};

} // namespace

// Makes kernel number `at.number` of those listed at the top of this file.
std::unique_ptr<LocalKernel> makeSpectralConvolutionKernel(const KernelSite& at) {
  const Layout &from = at.reads(), &to = at.writes();
  if (at.number == 1)
    return std::make_unique<LocalModeProducts>(from.boxOfRank(at.rank()),
                                               to.boxOfRank(at.rank())[1].size());
  const bool synthesises = at.number == 2;
  return std::make_unique<Transform>(synthesises, at.layer.comm(), at.layer.space(),
                                     backendOf(at.layer), at.layer.dataType(),
                                     synthesises ? to : from, synthesises ? from : to);
}

} // namespace tenon
