// SPDX-License-Identifier: BSD-2-Clause
// Convolution by cuDNN. The window is first reduced to the outputs that read stored input (all
// others are the bias) and the inputs that these read, since cuDNN needs paddings from 0 to the
// kernel. Each pass is a graph of operations (dnn_graph.hpp), computed by one of cuDNN's engines.
// It only estimates their times, so a measurement (base/autotuner.hpp) selects one.
#include "kernels/convolution/backends.hpp"
#include "kernels/cuda/dnn_plan.hpp"
#include "kernels/cuda/dnn_staging.hpp"
#include "kernels/cuda/plan_times.hpp"
#include "kernels/cuda/window_part.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/log/stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <type_traits>

namespace tenon {

namespace {

constexpr int kDims = kMaxSpatial + 2;                // batch, channel, space
constexpr Index kPerChannel[kDims] = {0, 1, 0, 0, 0}; // strides of a bias

enum Pass : std::size_t { kForward, kData, kWeights, kPasses };

// Kinds of graphs: convolution alone, with bias, with bias and rectifier, on copies with channels
// last (and the layer's bias and rectifier), on copies in bfloat16; and, without a graph, im2col
// and cuBLAS. Candidate i of a pass is engine i % kEngines of kind i / kEngines.
enum Kind : std::size_t { kPlain, kBiased, kRectified, kChannelsLast, kInBFloat16, kProducts };
constexpr std::size_t kEngines = 3, kCandidates = kProducts * kEngines + 1;

// What a graph computes: y = conv, y += conv, y = conv with the epilogue of the kind (the bias, or
// bias and rectifier), dx = conv* dy, and dw += conv* dy, where conv* are the adjoints.
enum Sum : std::size_t { kSetY, kAddY, kEndY, kSetX, kAddW, kSums };

// With fewer multiplications, the device takes about as long as the host for the launch.
constexpr Index kFewMultiplications = Index(1) << 21;
constexpr const char* kTimeWasOver = "the time of -tenon_device_plans_seconds was over";

// Arrays for a measurement.
struct Arrays {
  Buffer x, w, y, b;
};

template <class T>
class CudnnConvolution final : public Convolution<T>, private Autotuner {
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
        yStrides_{y_.batch, y_.channel, y_.space[0], y_.space[1], y_.space[2]},
        inputs_(shape.batch * shape.inChannels * inputVolume(window_)) {
    for (int d = 0; d < kMaxSpatial; ++d) {
      firstX_ += part_.in[d].begin * x_.space[d];
      firstY_ += part_.out[d].begin * y_.space[d];
    }
    if (part_.reads && shape.batch > 0 && shape.inChannels > 0 && shape.outChannels > 0)
      makePlans();
  }

  void forward(const T* x, const T* w, const T* b, T* y, bool accumulate) override {
    if (kinds_[kForward] == kProducts)
      return products_->forward(x, w, b, y, accumulate);
    if (b && !accumulate && chosenEpilogue() == cuda::Epilogue::Bias)
      return run(*runs_[kinds_[kForward]][kEndY], x, w, y, b);
    // If the part lacks some outputs, y is cleared first and then added to.
    const Sum sum = accumulate || !runs_[kPlain][kSetY] ? kAddY : kSetY;
    if (sum == kAddY && !accumulate)
      fillBlock(*context_, kDims, outputs_, T(0), y, yStrides_);
    run(kForward, sum, x, w, y);
    if (b)
      blockCombine(*context_, Combine::Add, kDims, outputs_, b, kPerChannel, y, yStrides_);
  }

  void expect(const PointwiseFunction& f) override {
    isRectified_ = !areDone_ && f.kind == Pointwise::Relu;
  }
  bool forwardThen(const T* x, const T* w, const T* b, const PointwiseFunction& f, T* y) override {
    if (!b || f.kind != Pointwise::Relu || chosenEpilogue() != cuda::Epilogue::BiasAndRelu)
      return false;
    run(*runs_[kinds_[kForward]][kEndY], x, w, y, b);
    return true;
  }

  void adjointData(const T* w, const T* dy, T* dx) override {
    if (kinds_[kData] == kProducts)
      return products_->adjointData(w, dy, dx);
    const Index stride = 1;
    if (!hasPlans() || !part_.hasAllIn)
      fillBlock(*context_, 1, &inputs_, T(0), dx, &stride);
    run(kData, kSetX, dx, w, dy);
  }

  void adjointWeights(const T* x, const T* dy, T* dw, T* db) override {
    if (kinds_[kWeights] == kProducts)
      return products_->adjointWeights(x, dy, dw, db);
    run(kWeights, kAddW, x, dw, dy);
    if (db)
      blockMultiplyAdd<T>(*context_, kDims, outputs_, T(1), nullptr, nullptr, dy, yStrides_, db,
                          kPerChannel);
  }

  Backend backend() const override { return Backend::Cudnn; }
  const char* implementation() const override {
    return hasPlans() ? implementation_.c_str() : "nothing to read";
  }
  Autotuner* autotuner() override { return cuda::measuresPlans() ? this : nullptr; }

private:
  using Run = std::optional<cuda::ConvolutionRun>;

  void makePlans() {
    cuda::handlesOf(*context_).dnn(); // created now, to save the first pass the wait
    for (const Sum sum : {kSetY, kAddY, kSetX, kAddW})
      if (sum != kSetY || part_.hasAllOut)
        runs_[kPlain][sum].emplace(graphOf(kPlain, sum));
    if (!cuda::measuresPlans() || context_->isCounting())
      reserveWorkspace();
  }
  bool hasPlans() const { return runs_[kPlain][kAddY].has_value(); }

  static std::span<const Sum> sumsOf(Pass pass) {
    static constexpr Sum kSumsOfPasses[] = {kEndY, kSetY, kAddY, kSetX, kAddW};
    const std::span<const Sum> all(kSumsOfPasses);
    return pass == kForward ? all.first(3) : pass == kData ? all.subspan(3, 1) : all.last(1);
  }
  // The kind whose runs a pass uses for all sums but kEndY.
  Kind kindOfSums(Pass pass) const { return kinds_[pass] >= kChannelsLast ? kinds_[pass] : kPlain; }

  // Reserves what the selected runs need. This can be less than what others need that were measured
  // or come first in cuDNN's list, so it waits for the selection.
  void reserveWorkspace() {
    Index bytes = 0;
    for (const Pass pass : {kForward, kData, kWeights})
      if (kinds_[pass] != kProducts)
        for (const Sum sum : sumsOf(pass))
          for (const Kind kind : {kindOfSums(pass), kinds_[pass]})
            if (const Run& run = runs_[kind][sum])
              bytes = std::max(bytes, run->workspaceBytes());
    isReserved_ = true;
    hasWorkspace_ = bytes > 0;
    ScratchPlan scratch;
    workspaceAt_ = scratch.add<std::byte>(bytes);
    context_->reserve(scratch);
  }

  // Called after a candidate has failed: throws if the reason is that the device is lost.
  void checkDevice() const { context_->stream().synchronise(); }

  // The operations that can be fused with the convolution.
  cuda::Epilogue epilogue() const {
    return !shape_.hasBias ? cuda::Epilogue::None
           : isRectified_  ? cuda::Epilogue::BiasAndRelu
                           : cuda::Epilogue::Bias;
  }
  cuda::Epilogue epilogueOf(Kind kind) const {
    const cuda::Epilogue fused = epilogue();
    return kind == kBiased                      ? std::min(fused, cuda::Epilogue::Bias)
           : kind == kChannelsLast              ? fused
           : kind == kRectified && isRectified_ ? fused
                                                : cuda::Epilogue::None;
  }
  cuda::Epilogue chosenEpilogue() const {
    const Kind kind = kinds_[kForward];
    return kind != kProducts && runs_[kind][kEndY] ? runs_[kind][kEndY]->graph().epilogue
                                                   : cuda::Epilogue::None;
  }

  bool isWanted(Kind kind, Sum sum) const {
    const bool isWhole = kind == kBiased || kind == kRectified; // only the epilogue is fused
    if ((sum == kSetY || sum == kEndY) && !part_.hasAllOut)
      return false;
    if (sum == kEndY ? epilogueOf(kind) == cuda::Epilogue::None : isWhole)
      return false;
    return kind == kChannelsLast ? mayHaveChannelsLast_ : kind == kInBFloat16 ? mayRound_ : true;
  }

  // The runs of a kind for a pass, beginning with the one that is measured. Runs of kinds other
  // than kPlain are created only for the measurement, if the library has engines for them.
  std::vector<Run*> runsOf(Pass pass, Kind kind) {
    std::vector<Run*> runs;
    for (const Sum sum : sumsOf(pass)) {
      if (!isWanted(kind, sum))
        continue;
      Run& run = runs_[kind][sum];
      try {
        const cuda::ConvolutionGraph graph = graphOf(kind, sum);
        if (cuda::stagedBytes(graph) > cuda::kEnoughWorkspace)
          return {};
        if (!run)
          run.emplace(graph);
      } catch (const Error& error) {
        if (error.code() == TENON_ERR_MEMORY)
          throw;
        checkDevice();
        return {};
      }
      runs.push_back(&run);
    }
    return runs;
  }

  const std::vector<cuda::ConvolutionPlanPtr>& enginesOf(Run& run) {
    auto& plans = engines_[&run];
    if (plans.empty())
      plans = cuda::plansOfEngines(run->graph(), kEngines);
    return plans;
  }

  // Whether the pass has the candidate. Creates its plans.
  bool has(Pass pass, std::size_t candidate) {
    const auto kind = static_cast<Kind>(candidate / kEngines);
    const std::size_t number = candidate % kEngines;
    if (kind == kProducts)
      return mayTakeProducts_;
    const std::vector<Run*> runs = runsOf(pass, kind);
    if (number > 0)
      for (Run* run : runs)
        enginesOf(*run);
    return !runs.empty() && (number == 0 || number < enginesOf(*runs[0]).size());
  }

  // Selects the candidate (isTried: to measure it), or the first one if the pass lacks it.
  void take(Pass pass, std::size_t candidate, bool isTried) {
    const bool hasCandidate = has(pass, candidate);
    const auto kind = static_cast<Kind>(candidate / kEngines);
    const std::size_t number = candidate % kEngines;
    kinds_[pass] = hasCandidate ? kind : kPlain;
    if (kinds_[pass] == kProducts) {
      if (!products_)
        products_ = makeGemmConvolution<T>(shape_, context_);
      return;
    }
    const std::vector<Run*> runs = runsOf(pass, kinds_[pass]);
    if (hasCandidate && number > 0) {
      // Graphs that differ only in the sum, as y = conv and y += conv, use one engine if they can.
      const Index engine = enginesOf(*runs[0])[number]->engine();
      for (Run* run : runs) {
        const auto& plans = enginesOf(*run);
        const auto same = std::ranges::find(plans, engine, &cuda::ConvolutionPlan::engine);
        (*run)->take(same == plans.end() ? plans[0] : *same, isTried);
      }
    } else {
      for (Run* run : runs)
        (*run)->take(cuda::planOf((*run)->graph()), isTried);
    }
  }

  // While this object exists, the kernel works in a context of its own on the same stream. Scratch
  // memory of the candidates, which can be gigabytes, is given back with it.
  class OwnContext {
  public:
    explicit OwnContext(CudnnConvolution& convolution)
        : convolution_(convolution), before_(convolution.context_) {
      convolution_.context_ = std::make_shared<KernelContext>(before_->stream());
      convolution_.context_->handles() = before_->handles();
    }
    OwnContext(const OwnContext&) = delete;
    OwnContext& operator=(const OwnContext&) = delete;
    ~OwnContext() {
      convolution_.products_.reset();
      convolution_.context_ = before_;
    }

  private:
    CudnnConvolution& convolution_;
    KernelContextPtr before_;
  };

  Arrays arrays() const {
    Index last = 0;
    for (int d = 0; d < kDims; ++d)
      last += (outputs_[d] - 1) * yStrides_[d];
    const auto zeros = [&](Index elements) {
      Buffer buffer(elements * Index(sizeof(T)), "arrays of a measurement", context_->memory());
      buffer.setZero();
      return buffer;
    };
    return {zeros(inputs_),
            zeros(shape_.outChannels * shape_.inChannels / shape_.groups * kernelVolume(window_)),
            zeros(last + 1), zeros(shape_.hasBias ? shape_.outChannels : 0)};
  }

  void callPass(Arrays& arrays, Pass pass) {
    T *const x = arrays.x.data<T>(), *const w = arrays.w.data<T>(), *const y = arrays.y.data<T>();
    const T* const b = shape_.hasBias ? arrays.b.data<T>() : nullptr;
    if (pass == kForward)
      isRectified_ ? rectified(x, w, b, y) : forward(x, w, b, y, false);
    else if (pass == kData)
      adjointData(w, y, x);
    else
      adjointWeights(x, y, w, nullptr);
  }

  // Convolution and rectifier, as a layer with contiguous outputs computes them.
  void rectified(const T* x, const T* w, const T* b, T* y) {
    const PointwiseFunction relu(Pointwise::Relu);
    if (forwardThen(x, w, b, relu, y))
      return;
    forward(x, w, b, y, false);
    pointwiseForward<T>(*context_, relu, shape_.batch * shape_.outChannels * outputVolume(window_),
                        y, y);
  }

  // The first call is not timed, since it loads kernels. A call that takes more than twice the best
  // time so far is not repeated.
  Nanoseconds timeOf(Pass pass, std::size_t candidate, Arrays& arrays, Nanoseconds best) {
    constexpr int kCalls = 2;
    if (!has(pass, candidate))
      return kNever;
    try {
      take(pass, candidate, /*isTried=*/true);
      reserveWorkspace();
      const auto call = [&] { callPass(arrays, pass); };
      call();
      Nanoseconds fastest = kNever;
      for (int n = 0; n < kCalls && (n == 0 || fastest / 2 <= best); ++n)
        fastest = std::min(fastest, Nanoseconds(1e9 * context_->stream().secondsOf(call)));
      return fastest;
    } catch (const Error& error) {
      checkDevice();
      noteMemoryError(error);
    }
    // Releases the memory of the candidate, for which the next one can have a use.
    if (kinds_[pass] != kProducts)
      for (Run* run : runsOf(pass, kinds_[pass]))
        (*run)->take(cuda::planOf((*run)->graph()), /*isTried=*/true);
    return kNever;
  }
  void noteMemoryError(const Error& error) {
    if (error.code() == TENON_ERR_MEMORY)
      memoryError_ = error.text();
  }

  // A candidate that runs out of memory is excluded, and the view reports it; without memory for
  // the arrays the first candidates remain selected. Running out of memory while a graph is created
  // is an error.
  std::vector<Nanoseconds> measure() override {
    std::vector<Nanoseconds> times(kPasses * kCandidates, 0);
    const Index taps = shape_.inChannels / shape_.groups * kernelVolume(window_);
    if (!hasPlans() ||
        shape_.batch * shape_.outChannels * outputVolume(window_) * taps < kFewMultiplications)
      return times;
    const std::string key =
        cuda::textOf({runs_[kPlain][kAddY]->graph(), epilogue(), mayTakeProducts_, mayRound_});
    const auto known = cuda::knownTimes(key, times.size());
    leftOut_ = known && !known->isWhole ? kTimeWasOver : "";
    if (known)
      return known->times;
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = i % kCandidates == 0 ? 0 : kNever;
    memoryError_.clear();
    const OwnContext own(*this);
    std::optional<Arrays> at;
    try {
      at = arrays();
    } catch (const Error& error) {
      if (error.code() != TENON_ERR_MEMORY)
        throw;
      noteMemoryError(error);
      return times;
    }
    const Stopwatch watch;
    for (const Pass pass : {kForward, kData, kWeights})
      measurePass(pass, watch, *at, std::span(times).subspan(pass * kCandidates, kCandidates));
    if (memoryError_.empty()) // layers that are set up later can have enough memory
      cuda::keepTimes(key, {times, /*isWhole=*/leftOut_.empty()});
    return times;
  }

  // Leaves out further engines of a kind whose first one, which cuDNN expects to be the fastest,
  // takes more than twice the best time, and all that follows the end of the time for measurements.
  void measurePass(Pass pass, const Stopwatch& watch, Arrays& at, std::span<Nanoseconds> times) {
    Nanoseconds best = kNever;
    for (std::size_t candidate = 0; candidate < kCandidates; ++candidate) {
      const Nanoseconds first = times[candidate - candidate % kEngines];
      if (candidate % kEngines > 0 && first != kNever && first / 2 > best)
        continue;
      if ((pass > 0 || candidate > 0) && watch.seconds() >= cuda::measurementSeconds()) {
        leftOut_ = kTimeWasOver;
        return;
      }
      times[candidate] = timeOf(pass, candidate, at, best);
      best = std::min(best, times[candidate]);
    }
  }

  void choose(std::span<const Nanoseconds> slowest) override {
    areDone_ = true;
    if (!hasPlans())
      return;
    for (const Pass pass : {kForward, kData, kWeights}) {
      const auto times = slowest.subspan(pass * kCandidates, kCandidates);
      // An engine of kPlain first, for calls without the bias, which a fused graph always adds.
      take(pass, fastestOf(times.first(kEngines)), /*isTried=*/false);
      take(pass, fastestOf(times), /*isTried=*/false);
    }
    engines_.clear();
    for (const Kind kind : {kBiased, kRectified, kChannelsLast, kInBFloat16})
      if (std::ranges::find(kinds_, kind) == kinds_.end())
        runs_[kind] = {};
    if (std::ranges::find(kinds_, kProducts) == kinds_.end())
      products_.reset();
    reserveWorkspace();
    const auto name = [&](Pass pass) {
      if (kinds_[pass] == kProducts)
        return std::string("im2col+gemm");
      constexpr const char* kSuffixes[] = {"", " with the bias", " with the bias and the rectifier",
                                           " with channels last", " in bfloat16"};
      return fmt::format("engine {}{}", runsOf(pass, kinds_[pass]).front()->value().plan().engine(),
                         kSuffixes[kinds_[pass]]);
    };
    if (slowest[0] > 0)
      implementation_ = fmt::format("measured: {}; adjoints {} and {}", name(kForward), name(kData),
                                    name(kWeights));
    for (const std::string& reason : {memoryError_, leftOut_})
      if (!reason.empty())
        implementation_ += fmt::format("; not all candidates measured: {}", reason);
  }

  cuda::ConvolutionGraph graphOf(Kind kind, Sum sum) const {
    using cuda::ConvolutionKind;
    const int front = kMaxSpatial - std::max(2, shape_.window.rank); // cuDNN needs 2 or more
    const Index inOfGroup = shape_.inChannels / shape_.groups;
    Index in[kMaxSpatial], out[kMaxSpatial];
    cuda::ConvolutionGraph g{.kind = sum == kSetX   ? ConvolutionKind::AdjointData
                                     : sum == kAddW ? ConvolutionKind::AdjointWeights
                                                    : ConvolutionKind::Forward,
                             .type =
                                 std::is_same_v<T, double> ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT,
                             .beta = sum == kAddY || sum == kAddW ? 1.0 : 0.0,
                             .epilogue = sum == kEndY ? epilogueOf(kind) : cuda::Epilogue::None,
                             .staging = kind == kChannelsLast ? cuda::Staging::ChannelsLast
                                        : kind == kInBFloat16 ? cuda::Staging::BFloat16
                                                              : cuda::Staging::None,
                             .mayUseTf32 = cuda::allowsTf32(),
                             .mayBeNondeterministic = cuda::allowsNondeterministic()};
    // Engines with tensor cores read 16 bytes at once.
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
    g.x = arrayBox(shape_.batch, shape_.inChannels, in, x_, front);
    g.w = arrayBox(shape_.outChannels, inOfGroup, window_.kernel.data(),
                   denseStrides(inOfGroup, window_.kernel, kMaxSpatial), front);
    g.y = arrayBox(shape_.batch, shape_.outChannels, out, y_, front);
    return g;
  }

  void run(Pass pass, Sum sum, const T* x, const T* w, const T* y) {
    if (hasPlans())
      run(*runs_[kindOfSums(pass)][sum], x, w, y);
  }
  void run(cuda::ConvolutionRun& plan, const T* x, const T* w, const T* y, const T* b = nullptr) {
    if (!isReserved_) // a pass itself allocates nothing
      throw Error(TENON_ERR_INTERNAL, "a convolution by cuDNN runs before choose()");
    void* const workspace = hasWorkspace_ ? context_->scratch<void>(workspaceAt_) : nullptr;
    plan.run(*context_, x + firstX_, w, y + firstY_, workspace, b);
  }

  ConvolutionShape shape_;
  bool mayTakeProducts_;
  // Tensor cores require channels last.
  bool mayHaveChannelsLast_ = std::is_same_v<T, float> && cuda::allowsTf32();
  bool mayRound_ = std::is_same_v<T, float> && cuda::allowsBFloat16();
  bool isRectified_ = false; // the layer applies a rectifier, which measurements include
  KernelContextPtr context_;
  WindowShape window_;
  WindowPart part_;
  ImageStrides y_, x_;                     // strides
  Index outputs_[kDims], yStrides_[kDims]; // extents and strides of y
  Index inputs_;                           // number of elements of x
  Index firstX_ = 0, firstY_ = 0;          // offsets of the part in x and y
  // Indexed by kind and sum. A sum that overwrites y has no run if the part lacks some outputs.
  std::array<std::array<Run, kSums>, kProducts> runs_;
  bool isReserved_ = false, hasWorkspace_ = false;
  Index workspaceAt_ = 0;
  std::array<Kind, kPasses> kinds_{}; // kind selected for each pass
  std::map<const Run*, std::vector<cuda::ConvolutionPlanPtr>> engines_; // until the choice
  std::unique_ptr<Convolution<T>> products_; // if a pass uses them, and during the measurement
  std::string implementation_ = "graph";
  std::string memoryError_; // error of a candidate that ran out of memory
  std::string leftOut_;     // why other candidates were not measured
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
