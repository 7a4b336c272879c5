// SPDX-License-Identifier: BSD-2-Clause
// Convolution as it is written in convolution.hpp: one loop per letter.
#include "kernels/convolution_backends.hpp"

#include <algorithm>

namespace tenon {

namespace {

template <class T>
class ReferenceConvolution final : public Convolution<T> {
public:
  explicit ReferenceConvolution(const ConvolutionShape& shape)
      : batch_(shape.batch), in_(shape.inChannels), out_(shape.outChannels),
        inOfGroup_(in_ / shape.groups), outOfGroup_(out_ / shape.groups),
        window_(embedWindow(shape.window)),
        y_(embedStrides(outputStrides(shape), shape.window.rank)), inVolume_(inputVolume(window_)),
        taps_(kernelVolume(window_)) {}

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          T sum = b ? b[k] : T(0);
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              sum += w[weight(k, c) + t] * x[channel(n, k, c) + i];
            });
          T& value = y[output(n, k, o)];
          value = accumulate ? value + sum : sum;
        });
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    std::fill_n(dx, batch_ * in_ * inVolume_, T(0));
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          const T value = dy[output(n, k, o)];
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              dx[channel(n, k, c) + i] += w[weight(k, c) + t] * value;
            });
        });
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    for (Index n = 0; n < batch_; ++n)
      for (Index k = 0; k < out_; ++k)
        forEachOutput(window_, [&](const Position& o, Index) {
          const T value = dy[output(n, k, o)];
          if (db)
            db[k] += value;
          for (Index c = 0; c < inOfGroup_; ++c)
            forEachRead(window_, o, [&](Index t, Index i) {
              dw[weight(k, c) + t] += value * x[channel(n, k, c) + i];
            });
        });
  }

  Backend backend() const override { return Backend::Reference; }
  const char* implementation() const override { return "loops"; }

private:
  // Where the taps of output channel k and the c-th input of its group begin, and that input.
  Index weight(Index k, Index c) const { return (k * inOfGroup_ + c) * taps_; }
  Index output(Index n, Index k, const Position& o) const {
    return n * y_.batch + k * y_.channel + o[0] * y_.space[0] + o[1] * y_.space[1] +
           o[2] * y_.space[2];
  }
  Index channel(Index n, Index k, Index c) const {
    return (n * in_ + k / outOfGroup_ * inOfGroup_ + c) * inVolume_;
  }

  Index batch_, in_, out_, inOfGroup_, outOfGroup_;
  WindowShape window_;
  ImageStrides y_;
  Index inVolume_, taps_;
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>> makeReferenceConvolution(const ConvolutionShape& shape) {
  return std::make_unique<ReferenceConvolution<T>>(shape);
}

template std::unique_ptr<Convolution<float>>
makeReferenceConvolution<float>(const ConvolutionShape&);
template std::unique_ptr<Convolution<double>>
makeReferenceConvolution<double>(const ConvolutionShape&);

} // namespace tenon
