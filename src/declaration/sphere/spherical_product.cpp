// SPDX-License-Identifier: BSD-2-Clause
// The product of a spherical convolution (spherical_product.hpp). Weights of each degree are used
// by matrix products (kernels/sphere/products.hpp), those of each mode element by element, as in a
// spectral convolution, and shared ones as equal weights of each degree.
#include "declaration/sphere/spherical_product.hpp"

#include "kernels/fourier/fourier.hpp"
#include "kernels/movement/block_copy.hpp"

#include <array>

namespace tenon {

namespace {

template <class T>
class LocalSphericalProduct final : public BilinearKernel {
public:
  LocalSphericalProduct(const KernelPlace& at, const SphericalProduct& product)
      : BilinearKernel(product.shape.flops()), product_(product),
        products_(at.context, at.backend, product.shape) {
    if (product_.isShared)
      expanded_ = Buffer(2 * product_.shape.inputs * product_.outputs() * product_.shape.degrees *
                             static_cast<Index>(sizeof(T)),
                         "weights of each degree", at.context->memory());
  }
  std::string describe() const override {
    return product_.isByMode ? "products of modes" : "products of degrees";
  }
  Index bytes() const override { return expanded_.bytes(); }

private:
  void product(const LocalArray& x, const LocalArray& w, const LocalArray& bias, bool adds,
               LocalArray& y) override {
    if (product_.isByMode) {
      if (!adds)
        setZero(y);
      eachGroup([&](Index i, Index o, Index weight) {
        const Index n = product_.shape.batch, in = product_.inputs(), out = product_.outputs();
        multiplyModes<T>(y.context(),
                         {.extent = {n, product_.shape.outputs, product_.shape.inputs},
                          .a = {0, 1, out},
                          .b = {in, 0, 1},
                          .c = {out, 1},
                          .modes = product_.modes()},
                         /*conjugates=*/false, w.data<T>() + weight, x.data<T>() + i,
                         y.mutableData<T>() + o);
      });
    } else
      products_.multiply(x.data<T>(), ofDegrees(w), adds, y.mutableData<T>());
    addBias(bias, y);
  }
  void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) override {
    if (!product_.isByMode)
      return products_.adjointX(ofDegrees(w), dy.data<T>(), dx.mutableData<T>());
    setZero(dx);
    eachGroup([&](Index i, Index o, Index weight) {
      const Index n = product_.shape.batch, in = product_.inputs(), out = product_.outputs();
      multiplyModes<T>(dy.context(),
                       {.extent = {n, product_.shape.inputs, product_.shape.outputs},
                        .a = {0, out, 1},
                        .b = {out, 0, 1},
                        .c = {in, 1},
                        .modes = product_.modes()},
                       /*conjugates=*/true, w.data<T>() + weight, dy.data<T>() + o,
                       dx.mutableData<T>() + i);
    });
  }
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw,
                LocalArray& dBias) override {
    if (product_.isByMode)
      eachGroup([&](Index i, Index o, Index weight) {
        const Index n = product_.shape.batch, in = product_.inputs(), out = product_.outputs();
        multiplyModes<T>(dy.context(),
                         {.extent = {product_.shape.inputs, product_.shape.outputs, n},
                          .a = {1, 0, in},
                          .b = {0, 1, out},
                          .c = {out, 1},
                          .modes = product_.modes()},
                         /*conjugates=*/true, x.data<T>() + i, dy.data<T>() + o,
                         dw.mutableData<T>() + weight);
      });
    else if (product_.isShared)
      addSharedGradient(x, dy, dw);
    else
      products_.adjointW(x.data<T>(), dy.data<T>(), dw.mutableData<T>());
    if (dBias && product_.hasConstant)
      blockMultiplyAdd<T>(dy.context(), 2, extent().data(), T(product_.constant), nullptr,
                          constants().data(), dy.data<T>(), constants().data(),
                          dBias.mutableData<T>(), kChannels.data());
  }
  void fill(const LocalArray& bias, LocalArray& y) override {
    setZero(y);
    addBias(bias, y);
  }

  // The offsets of a group in x, y and the weights of all modes.
  template <class Body>
  void eachGroup(const Body& body) const {
    const DegreeProductShape& shape = product_.shape;
    const Index pair = 2 * product_.modes();
    for (Index g = 0; g < shape.groups; ++g)
      body(g * shape.inputs * pair, g * shape.outputs * pair, g * shape.outputs * pair);
  }

  // The coefficients of degree and order 0 of y [batch, channel, ...], which are the first ones of
  // each block [orders, degrees, 2].
  static constexpr std::array<Index, 2> kChannels = {0, 1};
  std::array<Index, 2> extent() const { return {product_.shape.batch, product_.outputs()}; }
  std::array<Index, 2> constants() const {
    const Index channel = 2 * product_.modes();
    return {product_.outputs() * channel, channel};
  }
  void addBias(const LocalArray& bias, LocalArray& y) const {
    if (bias && product_.hasConstant)
      blockMultiplyAdd<T>(y.context(), 2, extent().data(), T(product_.constant), nullptr,
                          constants().data(), bias.data<T>(), kChannels.data(), y.mutableData<T>(),
                          constants().data());
  }

  // Shared weights are used as equal weights of each degree, whose gradients are summed.
  std::array<Index, 3> sharedExtent() const {
    return {product_.shape.inputs * product_.outputs(), product_.shape.degrees, 2};
  }
  static constexpr std::array<Index, 3> kShared = {2, 0, 1};
  std::array<Index, 3> everyDegree() const { return {2 * product_.shape.degrees, 2, 1}; }
  const T* ofDegrees(const LocalArray& w) {
    if (!product_.isShared)
      return w.data<T>();
    blockCombine(w.context(), Combine::Copy, 3, sharedExtent().data(), w.data<T>(), kShared.data(),
                 expanded_.data<T>(), everyDegree().data());
    return expanded_.data<T>();
  }
  void addSharedGradient(const LocalArray& x, const LocalArray& dy, LocalArray& dw) {
    const auto extent = sharedExtent();
    blockScale<T>(dw.context(), 3, extent.data(), T(0), expanded_.data<T>(), everyDegree().data());
    products_.adjointW(x.data<T>(), dy.data<T>(), expanded_.data<T>());
    blockCombine(dw.context(), Combine::Add, 3, extent.data(),
                 static_cast<const T*>(expanded_.data<T>()), everyDegree().data(),
                 dw.mutableData<T>(), kShared.data());
  }

  SphericalProduct product_;
  DegreeProducts<T> products_;
  Buffer expanded_;
};

} // namespace

std::unique_ptr<ArrayKernel> makeSphericalProduct(const KernelPlace& at,
                                                  const SphericalProduct& product) {
  return makeTyped<LocalSphericalProduct>(at.type, at, product);
}

} // namespace tenon
