// SPDX-License-Identifier: BSD-2-Clause
// Kernels of the device called with arrays of the host, for tests that know the host's kernels.
#pragma once

#include "kernels/context.hpp"
#include "kernels/convolution_cases.hpp"

namespace tenon::test {

// An array of the device with the values of one of the host.
template <class T>
class DeviceCopy {
public:
  DeviceCopy(KernelContext& context, const T* host, Index n)
      : context_(context), n_(host ? n : 0),
        memory_(n_ * Index(sizeof(T)), "a test's array", context.memory()) {
    context_.fetch(memory_.data<T>(), host, memory_.bytes());
  }
  T* data() { return memory_.data<T>(); }
  void fetch(T* host) const { context_.fetch(host, memory_.data<T>(), memory_.bytes()); }

private:
  KernelContext& context_;
  Index n_;
  Buffer memory_;
};

inline KernelContextPtr deviceContext() {
  static const auto context = std::make_shared<KernelContext>(Space::Device);
  return context;
}

template <class T>
class DeviceConvolution final : public Convolution<T> {
public:
  DeviceConvolution(const ConvolutionShape& s, Backend backend)
      : op_(makeConvolution<T>(s, backend, context_)),
        inputs_(s.batch * s.inChannels * inputVolume(s.window)),
        weights_(s.outChannels * s.inChannels / s.groups * kernelVolume(s.window)),
        biases_(s.outChannels), outputs_(span(s)) {}

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    DeviceCopy<T> dx(at(), x, inputs_), dw(at(), w, weights_), db(at(), b, biases_);
    DeviceCopy<T> dy(at(), y, outputs_);
    op_->forward(dx.data(), dw.data(), b ? db.data() : nullptr, dy.data(), accumulate);
    dy.fetch(y);
  }
  void adjointData(const T* w, const T* dy, T* dx) override {
    DeviceCopy<T> ofW(at(), w, weights_), ofY(at(), dy, outputs_), ofX(at(), dx, inputs_);
    op_->adjointData(ofW.data(), ofY.data(), ofX.data());
    ofX.fetch(dx);
  }
  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    DeviceCopy<T> ofX(at(), x, inputs_), ofY(at(), dy, outputs_);
    DeviceCopy<T> ofW(at(), dw, weights_), ofB(at(), db, biases_);
    op_->adjointWeights(ofX.data(), ofY.data(), ofW.data(), db ? ofB.data() : nullptr);
    ofW.fetch(dw);
    ofB.fetch(db);
  }
  Backend backend() const override { return op_->backend(); }
  const char* implementation() const override { return op_->implementation(); }

private:
  KernelContext& at() { return *context_; }
  // Cells of y from its first to its last.
  static Index span(const ConvolutionShape& s) {
    const WindowShape& w = s.window;
    if (s.batch * s.outChannels * outputVolume(w) == 0)
      return 0;
    const ImageStrides y = s.y ? *s.y : denseStrides(s.outChannels, w.out, w.rank);
    Index last = (s.batch - 1) * y.batch + (s.outChannels - 1) * y.channel;
    for (int d = 0; d < w.rank; ++d)
      last += (w.out[d] - 1) * y.space[d];
    return last + 1;
  }

  KernelContextPtr context_ = deviceContext();
  std::unique_ptr<Convolution<T>> op_;
  Index inputs_, weights_, biases_, outputs_;
};

} // namespace tenon::test
