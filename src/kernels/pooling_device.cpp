// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/each.hpp"
#include "kernels/functors/pooling.hpp"
#include "kernels/pooling_backends.hpp"

namespace tenon {

namespace {

using functors::PoolingPlanes;
using functors::PoolingWinner;

PoolingPlanes planesOf(const WindowShape& w) {
  PoolingPlanes p;
  const auto number = [](Index i) { return static_cast<PoolingPlanes::Number>(i); };
  for (int d = 0; d < kMaxSpatial; ++d) {
    // The one is not read with a single output, the other not with a single tap.
    const Index stride = std::min(w.stride[d], kMostWalkedCells);
    const Index dilation = std::min(w.dilation[d], kMostWalkedCells);
    const Index end = (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    checkCells(std::max(w.in[d], end) + std::abs(w.padLow[d]), "the padded input of a pooling");
    p.in[d] = number(w.in[d]);
    p.out[d] = number(w.out[d]);
    p.kernel[d] = number(w.kernel[d]);
    p.stride[d] = number(stride);
    p.dilation[d] = number(dilation);
    p.padLow[d] = number(w.padLow[d]);
    p.padEnd[d] = number(std::max(std::min(w.padEnd[d], end - w.padLow[d]), -w.padLow[d]));
    p.inCells[d] = divisorOf(w.in[d]);
    p.outCells[d] = divisorOf(w.out[d]);
    p.perStride[d] = divisorOf(stride);
    p.perDilation[d] = divisorOf(dilation);
  }
  p.inVolume = number(inputVolume(w));
  p.outVolume = number(outputVolume(w));
  return p;
}

template <class T>
class DevicePooling final : public Pooling<T> {
public:
  DevicePooling(const PoolingShape& shape, KernelContextPtr context)
      : context_(std::move(context)), planes_(planesOf(embedWindow(shape.window))),
        mode_(shape.mode), inputs_(shape.planes * planes_.inVolume),
        outputs_(shape.planes * planes_.outVolume) {
    checkCells(std::max(inputs_, outputs_), "pooling");
  }

  Index workspaceBytes() const override {
    return isMax() ? outputs_ * Index(sizeof(PoolingWinner)) : 0;
  }
  void forward(const T* x, T* y, void* workspace) override {
    if (isMax())
      walk(outputs_, functors::MaxPool<T>{planes_, x, y, static_cast<PoolingWinner*>(workspace)});
    else
      walk(outputs_, functors::AveragePool<T>{planes_, includesPad(), x, y});
  }
  void adjoint(const T* dy, const void* workspace, T* dx) override {
    if (isMax())
      walk(inputs_, functors::MaxPoolAdjoint<T>{planes_, dy,
                                                static_cast<const PoolingWinner*>(workspace), dx});
    else
      walk(inputs_, functors::AveragePoolAdjoint<T>{planes_, includesPad(), dy, dx});
  }
  void tangent(const T* dx, const void* workspace, T* dy) override {
    if (isMax())
      walk(outputs_, functors::MaxPoolTangent<T>{planes_, dx,
                                                 static_cast<const PoolingWinner*>(workspace), dy});
    else
      walk(outputs_, functors::AveragePool<T>{planes_, includesPad(), dx, dy});
  }
  Backend backend() const override { return Backend::Blas; }

private:
  bool isMax() const { return mode_ == PoolingMode::Max; }
  bool includesPad() const { return mode_ == PoolingMode::AverageIncludePad; }
  template <class F>
  void walk(Index n, const F& f) {
    if constexpr (kHasDevice)
      device::eachElement(context_->stream(), n, f);
  }

  KernelContextPtr context_;
  PoolingPlanes planes_;
  PoolingMode mode_;
  Index inputs_, outputs_;
};

} // namespace

template <class T>
std::unique_ptr<Pooling<T>> makeDevicePooling(const PoolingShape& shape, KernelContextPtr context) {
  return std::make_unique<DevicePooling<T>>(shape, std::move(context));
}

template std::unique_ptr<Pooling<float>> makeDevicePooling<float>(const PoolingShape&,
                                                                  KernelContextPtr);
template std::unique_ptr<Pooling<double>> makeDevicePooling<double>(const PoolingShape&,
                                                                    KernelContextPtr);

} // namespace tenon
