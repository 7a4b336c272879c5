// SPDX-License-Identifier: BSD-2-Clause
// The kernel of disco_product.hpp: kernels/sphere/disco.hpp with a bias. The convolution maps from
// the fine to the coarse grid, and the transposed one back.
#include "declaration/sphere/disco_product.hpp"

#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"

#include <array>

namespace tenon {

namespace {

// A convolution is toCoarse(), and the transposed one is toFine(), its adjoint; so the derivatives
// of the one are the products of the other. All products take the weights as [group, coarse
// channel, fine channel, basis function]. Those of a convolution, [outputs, inputs of a group,
// functions], are in this order, since its outputs are on the coarse grid. Those of a transposed
// one have the fine channels first, and are copied to `ordered_`. For example, with 2 fine
// channels, 3 coarse channels and 1 function:
//
//   stored 0 1 2 | 3 4 5   ordered 0 3 | 1 4 | 2 5
template <class T>
class LocalDisco final : public BilinearKernel {
public:
  LocalDisco(const KernelPlace& at, const DiscoShape& shape, bool isTransposed)
      : BilinearKernel(shape.flops()), shape_(shape), isTransposed_(isTransposed),
        products_(at.context, at.backend, shape) {
    if (isTransposed_)
      ordered_ = Buffer(weights() * static_cast<Index>(sizeof(T)), "weights of filters",
                        at.context->memory());
  }
  std::string describe() const override { return "turned filters"; }
  Index bytes() const override { return products_.bytes() + ordered_.bytes(); }

private:
  void product(const LocalArray& x, const LocalArray& w, const LocalArray& bias, bool adds,
               LocalArray& y) override {
    if (!adds)
      setZero(y);
    if (isTransposed_)
      products_.toFine(x.data<T>(), ordered(w), y.mutableData<T>());
    else
      products_.toCoarse(x.data<T>(), w.data<T>(), y.mutableData<T>());
    addBias(bias, y);
  }
  void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) override {
    setZero(dx);
    if (isTransposed_)
      products_.toCoarse(dy.data<T>(), ordered(w), dx.mutableData<T>());
    else
      products_.toFine(dy.data<T>(), w.data<T>(), dx.mutableData<T>());
  }
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw,
                LocalArray& dBias) override {
    if (isTransposed_) {
      // The products add in their own order of the weights, so the sums begin with 0 there, and are
      // then added to dw in the order of storage.
      const Index count = weights(), one = 1;
      fillBlock<T>(dw.context(), 1, &count, T(0), ordered_.data<T>(), &one);
      products_.addWeights(dy.data<T>(), x.data<T>(), ordered_.data<T>());
      copyWeights(dw.context(), Combine::Add, ordered_.data<T>(), orderedStrides(),
                  dw.mutableData<T>(), storedStrides());
    } else
      products_.addWeights(x.data<T>(), dy.data<T>(), dw.mutableData<T>());
    if (dBias)
      addBiasGradient(dy, dBias);
  }
  void fill(const LocalArray& bias, LocalArray& y) override {
    setZero(y);
    addBias(bias, y);
  }

  Index functions() const { return shape_.grids->basis().size(); }
  Index weights() const {
    return shape_.groups * shape_.fineChannels * shape_.coarseChannels * functions();
  }
  // Strides of the indices [group, fine channel, coarse channel, function], in this order, in the
  // stored weights of a transposed convolution and in the ordered ones.
  using Strides = std::array<Index, 4>;
  Strides storedStrides() const {
    const Index k = functions(), f = shape_.coarseChannels * k;
    return {shape_.fineChannels * f, f, k, 1};
  }
  Strides orderedStrides() const {
    const Index k = functions(), c = shape_.fineChannels * k;
    return {shape_.coarseChannels * c, k, c, 1};
  }
  void copyWeights(KernelContext& context, Combine op, const T* from, const Strides& read, T* to,
                   const Strides& written) const {
    const Strides extent = {shape_.groups, shape_.fineChannels, shape_.coarseChannels, functions()};
    blockCombine(context, op, 4, extent.data(), from, read.data(), to, written.data());
  }
  const T* ordered(const LocalArray& w) {
    copyWeights(w.context(), Combine::Copy, w.data<T>(), storedStrides(), ordered_.data<T>(),
                orderedStrides());
    return ordered_.data<T>();
  }

  static Index pointsOf(const LocalArray& y) { return y.extent()[2] * y.extent()[3]; }
  static void addBias(const LocalArray& bias, LocalArray& y) {
    if (!bias)
      return;
    const Index points = pointsOf(y), extent[] = {y.extent()[0], y.extent()[1], points},
                ofBias[] = {0, 1, 0}, ofField[] = {extent[1] * points, points, 1};
    blockCombine(y.context(), Combine::Add, 3, extent, bias.data<T>(), ofBias, y.mutableData<T>(),
                 ofField);
  }
  static void addBiasGradient(const LocalArray& dy, LocalArray& dBias) {
    const Index points = pointsOf(dy), extent[] = {dy.extent()[0], dy.extent()[1], points},
                ofField[] = {extent[1] * points, points, 1}, ofBias[] = {0, 1, 0};
    blockMultiplyAdd<T>(dy.context(), 3, extent, T(1), nullptr, nullptr, dy.data<T>(), ofField,
                        dBias.mutableData<T>(), ofBias);
  }

  DiscoShape shape_;
  bool isTransposed_;
  DiscoProducts<T> products_;
  Buffer ordered_;
};

} // namespace

std::unique_ptr<ArrayKernel> makeDiscoProduct(const KernelPlace& at, const DiscoShape& shape,
                                              bool isTransposed) {
  return makeTyped<LocalDisco>(at.type, at, shape, isTransposed);
}

} // namespace tenon
