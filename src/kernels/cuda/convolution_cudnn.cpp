// SPDX-License-Identifier: BSD-2-Clause
// Convolution by cuDNN's plans. The library is given the outputs that reach held input (the others are the
// bias) and the inputs that these reach, so that no padding is negative or larger than a kernel. Which plan is the
// fastest the library only estimates, so that each pass has several ways, between which a measurement decides: engines of
// the library, and products of cuBLAS.
#include "kernels/convolution/backends.hpp"
#include "kernels/cuda/dnn_graph.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
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

enum Pass : std::size_t { kForward, kData, kWeights, kPasses };

// The ways of each pass, of which the last are products.
constexpr std::size_t kEngines = 3, kProducts = kEngines, kWays = kEngines + 1;

// Below so many multiplications the device takes about as long as the host to call it.
constexpr Index kFewMultiplications = Index(1) << 21;

// What was measured, by the convolution that is added to its output, and by whether there were products: layers of equal
// shapes are measured once.
struct KnownTimes {
  std::mutex mutex;
  std::map<std::pair<cuda::ConvolutionGraph, bool>, std::vector<Nanoseconds>> times;
};

KnownTimes& knownTimes() {
  static KnownTimes known;
  return known;
}

// Arrays of a measurement.
struct Arrays {
  Buffer x, w, y;
};

template <class T>
class CudnnConvolution final : public Convolution<T>, private Trials {
public:
  CudnnConvolution(const ConvolutionShape& shape, KernelContextPtr context, bool mayTakeProducts)
      : shape_(shape), mayTakeProducts_(mayTakeProducts), context_(std::move(context)),
        window_(embedWindow(shape.window)), part_(partOf(window_)),
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
    if (taken_[kForward] == kProducts)
      return products_->forward(x, w, b, y, accumulate);
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
    if (taken_[kData] == kProducts)
      return products_->adjointData(w, dy, dx);
    const Index one = 1;
    if (!data_ || !part_.hasAllIn)
      fillBlock(*context_, 1, &inputs_, T(0), dx, &one);
    if (data_)
      run(*data_, dx, w, dy);
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    if (taken_[kWeights] == kProducts)
      return products_->adjointWeights(x, dy, dw, db);
    if (weights_)
      run(*weights_, x, dw, dy);
    if (db)
      blockMultiplyAdd<T>(*context_, kDims, outputs_, T(1), nullptr, nullptr, dy, ofOutputs_, db,
                          kPerChannel);
  }

  Backend backend() const override { return Backend::Cudnn; }
  const char* implementation() const override {
    return added_ ? implementation_.c_str() : "nothing to read";
  }
  Trials* trials() override { return cuda::measuresPlans() ? this : nullptr; }

private:
  using Run = std::optional<cuda::ConvolutionRun>;

  void makePlans(const ConvolutionShape& shape) {
    using cuda::ConvolutionKind;
    cuda::handlesOf(*context_).dnn(); // so that the first pass does not wait for it
    if (part_.hasAllOut)
      plain_.emplace(graphOf(shape, ConvolutionKind::Forward, 0));
    added_.emplace(graphOf(shape, ConvolutionKind::Forward, 1));
    data_.emplace(graphOf(shape, ConvolutionKind::AdjointData, 0));
    weights_.emplace(graphOf(shape, ConvolutionKind::AdjointWeights, 1));
    reserveWorkspace();
  }

  void reserveWorkspace() {
    Index bytes = 0;
    for (const Run* run : {&plain_, &added_, &data_, &weights_})
      bytes = std::max(bytes, *run ? (*run)->workspaceBytes() : 0);
    hasWorkspace_ = bytes > 0;
    ScratchPlan scratch;
    workspaceAt_ = scratch.add<std::byte>(bytes);
    context_->reserve(scratch);
  }

  // The runs of a pass, the one that is measured first.
  std::vector<Run*> runsOf(Pass pass) {
    if (pass == kForward)
      return plain_ ? std::vector<Run*>{&plain_, &added_} : std::vector<Run*>{&added_};
    return {pass == kData ? &data_ : &weights_};
  }

  const std::vector<cuda::ConvolutionPlanPtr>& enginesOf(Run& run) {
    auto& plans = engines_[&run];
    if (plans.empty())
      plans = cuda::plansOfEngines(run->graph(), kEngines);
    return plans;
  }

  // Whether the pass has the way, which it then takes; else it takes the first.
  bool take(Pass pass, std::size_t way, bool isTried) {
    taken_[pass] = way;
    if (way == kProducts && mayTakeProducts_) {
      if (!products_)
        products_ = makeGemmConvolution<T>(shape_, context_);
      return true;
    }
    const std::vector<Run*> runs = runsOf(pass);
    if (way > 0 && way < enginesOf(*runs[0]).size()) {
      // Another sum of the same arrays goes by the same engine, where it can.
      const Index engine = enginesOf(*runs[0])[way]->engine();
      for (Run* run : runs) {
        const auto& plans = enginesOf(*run);
        const auto same = std::ranges::find(plans, engine, &cuda::ConvolutionPlan::engine);
        (*run)->take(same == plans.end() ? plans[0] : *same, isTried);
      }
      reserveWorkspace();
      return true;
    }
    taken_[pass] = 0;
    for (Run* run : runs)
      (*run)->take(cuda::planOf((*run)->graph()), isTried);
    return way == 0;
  }

  Arrays arrays() const {
    Index last = 0;
    for (int d = 0; d < kDims; ++d)
      last += (outputs_[d] - 1) * ofOutputs_[d];
    const auto made = [&](Index elements) {
      Buffer buffer(elements * Index(sizeof(T)), "arrays of a measurement", context_->memory());
      buffer.setZero();
      return buffer;
    };
    return {made(inputs_),
            made(shape_.outChannels * shape_.inChannels / shape_.groups * kernelVolume(window_)),
            made(last + 1)};
  }

  void callOn(Arrays& at, Pass pass) {
    T *const x = at.x.data<T>(), *const w = at.w.data<T>(), *const y = at.y.data<T>();
    switch (pass) {
    case kForward:
      return forward(x, w, nullptr, y, false);
    case kData:
      return adjointData(w, y, x);
    default:
      return adjointWeights(x, y, w, nullptr);
    }
  }

  // The first call loads kernels; one that is clearly slower than the best so far is not repeated.
  Nanoseconds timeOf(Pass pass, std::size_t way, Arrays& at, Nanoseconds best) {
    constexpr int kCalls = 2;
    try {
      if (!take(pass, way, true))
        return kNever;
      callOn(at, pass);
      Nanoseconds least = kNever;
      for (int n = 0; n < kCalls && (n == 0 || least / 2 <= best); ++n)
        least = std::min(
            least, Nanoseconds(1e9 * context_->stream().secondsOf([&] { callOn(at, pass); })));
      return least;
    } catch (const Error&) {
      return kNever;
    }
  }

  // Where there is no memory for the arrays the first ways stay.
  std::vector<Nanoseconds> measure() override {
    std::vector<Nanoseconds> times(kPasses * kWays, 0);
    const Index taps = shape_.inChannels / shape_.groups * kernelVolume(window_);
    if (!added_ ||
        shape_.batch * shape_.outChannels * outputVolume(window_) * taps < kFewMultiplications)
      return times;
    const std::pair key(added_->graph(), mayTakeProducts_);
    {
      const std::scoped_lock lock(knownTimes().mutex);
      if (const auto known = knownTimes().times.find(key); known != knownTimes().times.end())
        return known->second;
    }
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = i % kWays == 0 ? 0 : kNever;
    try {
      Arrays at = arrays();
      for (const Pass pass : {kForward, kData, kWeights}) {
        Nanoseconds best = kNever;
        for (std::size_t way = 0; way < kWays; ++way) {
          times[pass * kWays + way] = timeOf(pass, way, at, best);
          best = std::min(best, times[pass * kWays + way]);
        }
      }
    } catch (const Error&) {
      return times;
    }
    const std::scoped_lock lock(knownTimes().mutex);
    return knownTimes().times[key] = times;
  }

  void choose(std::span<const Nanoseconds> slowest) override {
    areDone_ = true;
    if (!added_)
      return;
    for (const Pass pass : {kForward, kData, kWeights})
      take(pass, fastestOf(slowest.subspan(pass * kWays, kWays)), false);
    engines_.clear();
    if (std::ranges::find(taken_, kProducts) == taken_.end())
      products_.reset();
    const auto name = [&](Pass pass) {
      return taken_[pass] == kProducts
                 ? std::string("im2col+gemm")
                 : fmt::format("engine {}", (*runsOf(pass).front())->plan().engine());
    };
    if (slowest[0] > 0)
      implementation_ = fmt::format("measured: {}; adjoints {} and {}", name(kForward), name(kData),
                                    name(kWeights));
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
    // Engines that use tensor cores read 16 bytes at once.
    if (g.mayUseTf32 && g.type == CUDNN_DATA_FLOAT && (firstX_ | firstY_) % 4 == 0)
      g.alignment = 16;
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

  ConvolutionShape shape_;
  bool mayTakeProducts_;
  KernelContextPtr context_;
  WindowShape window_;
  WindowPart part_;
  ImageStrides y_, x_;
  Index outputs_[kDims], ofOutputs_[kDims]; // extents and strides of y
  Index inputs_;
  Index firstX_ = 0, firstY_ = 0; // offsets of the part
  // The runs of y = conv (made only if the part has every output), y += conv, dx = conv* and dw += conv*.
  Run plain_, added_, data_, weights_;
  bool hasWorkspace_ = false;
  Index workspaceAt_ = 0;
  std::array<std::size_t, kPasses> taken_{};                            // the way of each pass
  std::map<const Run*, std::vector<cuda::ConvolutionPlanPtr>> engines_; // until one is chosen
  std::unique_ptr<Convolution<T>> products_; // where a pass takes them, and while they are measured
  std::string implementation_ = "graph";
};

} // namespace

template <class T>
std::unique_ptr<Convolution<T>> makeCudnnConvolution(const ConvolutionShape& shape,
                                                     KernelContextPtr context,
                                                     bool mayTakeProducts) {
  return std::make_unique<CudnnConvolution<T>>(shape, std::move(context), mayTakeProducts);
}

template std::unique_ptr<Convolution<float>> makeCudnnConvolution<float>(const ConvolutionShape&,
                                                                         KernelContextPtr, bool);
template std::unique_ptr<Convolution<double>> makeCudnnConvolution<double>(const ConvolutionShape&,
                                                                           KernelContextPtr, bool);

} // namespace tenon
