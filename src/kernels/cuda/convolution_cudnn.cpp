// SPDX-License-Identifier: BSD-2-Clause
// Convolution by cuDNN's plans. The library is given the outputs that reach held input (the others are the
// bias) and the inputs that these reach, so that no padding is negative or larger than a kernel.
#include "kernels/convolution/backends.hpp"
#include "kernels/cuda/dnn_graph.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"

#include <optional>
#include <type_traits>

namespace tenon {

namespace {

// The part of the window on which the library works.
struct WindowPart {
  Range in[kMaxSpatial], out[kMaxSpatial];
  Index padLow[kMaxSpatial], padHigh[kMaxSpatial];
  bool reads = true;     // some input
  bool hasAllIn = true;  // every input
  bool hasAllOut = true; // every output
};

WindowPart partOf(const WindowShape& w) {
  WindowPart part;
  for (int d = 0; d < kMaxSpatial; ++d) {
    const Range out = outputsReaching(w, d), in = inputsReached(w, d, out);
    const Index first = out.begin * w.stride[d] - w.padLow[d];
    const Index end =
        (out.end - 1) * w.stride[d] - w.padLow[d] + (w.kernel[d] - 1) * w.dilation[d] + 1;
    part.out[d] = out;
    part.in[d] = in;
    part.padLow[d] = std::max<Index>(0, -first);
    part.padHigh[d] = std::max<Index>(0, end - w.in[d]);
    part.reads = part.reads && out.end > out.begin && in.end > in.begin;
    part.hasAllIn = part.hasAllIn && in.begin == 0 && in.end == w.in[d];
    part.hasAllOut = part.hasAllOut && out.begin == 0 && out.end == w.out[d];
  }
  return part;
}

constexpr int kDims = kMaxSpatial + 2;
constexpr Index kPerChannel[kDims] = {0, 1, 0, 0, 0};

// An array as the library describes it: [a, b, space...], where the space is cut to a part.
cuda::ArrayBox arrayBox(Index a, Index b, const Index* space, const ImageStrides& strides,
                        int front) {
  cuda::ArrayBox box{{a, b}, {strides.batch, strides.channel}};
  for (int d = front; d < kMaxSpatial; ++d) {
    box.extent.push_back(space[d]);
    box.strides.push_back(strides.space[d]);
  }
  // The stride of a dimension with one element plays no role, but the library has faster engines for dense arrays.
  for (std::size_t d = box.extent.size(); d-- > 2;)
    if (box.extent[d] == 1)
      box.strides[d] = d + 1 < box.extent.size() ? box.strides[d + 1] * box.extent[d + 1] : 1;
  return box;
}

template <class T>
class CudnnConvolution final : public Convolution<T> {
public:
  CudnnConvolution(const ConvolutionShape& shape, KernelContextPtr context)
      : context_(std::move(context)), window_(embedWindow(shape.window)), part_(partOf(window_)),
        y_(embedStrides(outputStrides(shape), shape.window.rank)),
        x_(denseStrides(shape.inChannels, window_.in, kMaxSpatial)), outputs_{shape.batch,
                                                                              shape.outChannels,
                                                                              window_.out[0],
                                                                              window_.out[1],
                                                                              window_.out[2]},
        ofOutputs_{y_.batch, y_.channel, y_.space[0], y_.space[1], y_.space[2]},
        inputs_(shape.batch * shape.inChannels * inputVolume(window_)) {
    for (int d = 0; d < kMaxSpatial; ++d) {
      firstX_ += part_.in[d].begin * x_.space[d];
      firstY_ += part_.out[d].begin * y_.space[d];
    }
    if (part_.reads && shape.batch > 0 && shape.inChannels > 0 && shape.outChannels > 0)
      makePlans(shape);
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    // Where the part does not have every output, y is cleared and added to.
    const bool adds = accumulate || !plain_;
    if (adds && !accumulate)
      fillBlock(*context_, kDims, outputs_, T(0), y, ofOutputs_);
    if (added_)
      run(adds ? *added_ : *plain_, x, w, y);
    if (b)
      blockCombine(*context_, Combine::Add, kDims, outputs_, b, kPerChannel, y, ofOutputs_);
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    const Index one = 1;
    if (!data_ || !part_.hasAllIn)
      fillBlock(*context_, 1, &inputs_, T(0), dx, &one);
    if (data_)
      run(*data_, dx, w, dy);
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    if (weights_)
      run(*weights_, x, dw, dy);
    if (db)
      blockMultiplyAdd<T>(*context_, kDims, outputs_, T(1), nullptr, nullptr, dy, ofOutputs_, db,
                          kPerChannel);
  }

  Backend backend() const override { return Backend::Cudnn; }
  const char* implementation() const override { return added_ ? "graph" : "nothing to read"; }

private:
  void makePlans(const ConvolutionShape& shape) {
    using cuda::ConvolutionKind;
    cuda::handlesOf(*context_).dnn(); // so that the first pass does not wait for it
    if (part_.hasAllOut)
      plain_.emplace(graphOf(shape, ConvolutionKind::Forward, 0));
    added_.emplace(graphOf(shape, ConvolutionKind::Forward, 1));
    data_.emplace(graphOf(shape, ConvolutionKind::AdjointData, 0));
    weights_.emplace(graphOf(shape, ConvolutionKind::AdjointWeights, 1));
    Index bytes = 0;
    for (const auto* plan : {&plain_, &added_, &data_, &weights_})
      bytes = std::max(bytes, *plan ? (*plan)->workspaceBytes() : 0);
    hasWorkspace_ = bytes > 0;
    ScratchPlan scratch;
    workspaceAt_ = scratch.add<std::byte>(bytes);
    context_->reserve(scratch);
  }

  cuda::ConvolutionGraph graphOf(const ConvolutionShape& shape, cuda::ConvolutionKind kind,
                                 double beta) const {
    const int front = kMaxSpatial - std::max(2, shape.window.rank); // the library wants two
    const Index inOfGroup = shape.inChannels / shape.groups;
    Index in[kMaxSpatial], out[kMaxSpatial];
    cuda::ConvolutionGraph g{.kind = kind,
                             .type =
                                 std::is_same_v<T, double> ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                             .beta = beta,
                             .mayUseTf32 = cuda::allowsTf32(),
                             .mayBeNondeterministic = cuda::allowsNondeterministic()};
    for (int d = 0; d < kMaxSpatial; ++d) {
      in[d] = part_.in[d].end - part_.in[d].begin;
      out[d] = part_.out[d].end - part_.out[d].begin;
    }
    for (int d = front; d < kMaxSpatial; ++d) {
      g.padLow.push_back(part_.padLow[d]);
      g.padHigh.push_back(part_.padHigh[d]);
      g.stride.push_back(window_.stride[d]);
      g.dilation.push_back(window_.dilation[d]);
    }
    g.x = arrayBox(shape.batch, shape.inChannels, in, x_, front);
    g.w = arrayBox(shape.outChannels, inOfGroup, window_.kernel.data(),
                   denseStrides(inOfGroup, window_.kernel, kMaxSpatial), front);
    g.y = arrayBox(shape.batch, shape.outChannels, out, y_, front);
    return g;
  }

  void run(cuda::ConvolutionRun& plan, const T* x, const T* w, const T* y) {
    void* const workspace = hasWorkspace_ ? context_->scratch<void>(workspaceAt_) : nullptr;
    plan.run(cuda::handlesOf(*context_), x + firstX_, w, y + firstY_, workspace);
  }

  KernelContextPtr context_;
  WindowShape window_;
  WindowPart part_;
  ImageStrides y_, x_;
  Index outputs_[kDims], ofOutputs_[kDims]; // extents and strides of y
  Index inputs_;
  Index firstX_ = 0, firstY_ = 0; // offsets of the part
  // The runs of y = conv (made only if the part has every output), y += conv, dx = conv* and dw += conv*.
  std::optional<cuda::ConvolutionRun> plain_, added_, data_, weights_;
  bool hasWorkspace_ = false;
  Index workspaceAt_ = 0;
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>> makeCudnnConvolution(const ConvolutionShape& shape,
                                                     KernelContextPtr context) {
  return std::make_unique<CudnnConvolution<T>>(shape, std::move(context));
}

template std::unique_ptr<Convolution<float>> makeCudnnConvolution<float>(const ConvolutionShape&,
                                                                         KernelContextPtr);
template std::unique_ptr<Convolution<double>> makeCudnnConvolution<double>(const ConvolutionShape&,
                                                                           KernelContextPtr);

} // namespace tenon
