// SPDX-License-Identifier: BSD-2-Clause
// Convolution by oneDNN. Each of the three products (forward, adjoint in the data, adjoint in the
// weights) is a oneDNN primitive in the memory format that oneDNN prefers. Reorders convert the
// operands from and to Tenon's row-major arrays:
//
//   operands (row-major) -> reorder -> scratch (oneDNN's format) -> primitive -> reorder -> result
//
// A primitive is an operation of oneDNN, compiled for given shapes and memory formats when it is
// created. A Port (base/onednn.hpp) is one of its operands, with the reorder. All scratch memory is
// planned at creation: one area each for input, weights and output, which the three primitives
// share, and one scratchpad for oneDNN's temporary data. oneDNN does not support windows that leave
// input at an end unread; for them, an InputStage first copies the part of the input that is read.
#include "kernels/base/onednn.hpp"
#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/window.hpp"
#include "kernels/elementwise/pointwise.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

namespace {

using dnnl::memory;
using Desc = memory::desc;
using Forward = dnnl::convolution_forward;
using AdjointData = dnnl::convolution_backward_data;
using AdjointWeights = dnnl::convolution_backward_weights;
using onednn::Port;

// Whether the input must be copied by an InputStage first: if some input is unread, and for some
// paddings of the first of three dimensions. For these, the weight adjoint of oneDNN 2.6.3 with
// AVX-512 is wrong and writes outside its arrays.
bool needsStage(const WindowShape& w) {
  if (w.rank == 3 && (w.padLow[0] != 0 || padHigh(w, 0) != 0))
    return true;
  // Unread input: at the low end if padLow < 0, at the high end if padHigh < 0. There fewer than
  // `stride` unread elements, which any strided window can leave, are accepted by oneDNN.
  for (int d = 0; d < w.rank; ++d)
    if (w.padLow[d] < 0 || padHigh(w, d) <= -w.stride[d])
      return true;
  return false;
}

// The same array in the format that oneDNN prefers.
Desc anyLayout(const Desc& plain) {
  return {onednn::dimsOf(plain), memory::data_type::f32, memory::format_tag::any};
}

// oneDNN pads the channels of its own formats to 16, so row-major is better for few channels (three
// times faster for one channel).
constexpr Index kFewChannels = 4;

Desc weightsOf(const ConvolutionShape& s, const WindowShape& w) {
  return onednn::inGroups(
      onednn::plainDescription(s.outChannels, s.inChannels / s.groups, w.kernel, w.rank), s.groups);
}

// y with the strides of the shape, if it is a box of a larger array.
Desc outputsInUserArray(const ConvolutionShape& s, const Desc& dense) {
  const ImageStrides y = outputStrides(s);
  memory::dims strides{y.batch, y.channel};
  for (int d = 0; d < s.window.rank; ++d)
    strides.push_back(y.space[d]);
  return {onednn::dimsOf(dense), memory::data_type::f32, strides};
}

// One convolution in oneDNN's terms: row-major descriptions and geometry.
struct Problem {
  // oneDNN counts the elements skipped between two taps: its dilation is Tenon's minus 1.
  Problem(const ConvolutionShape& s, const WindowShape& w)
      : x(onednn::plainDescription(s.batch, s.inChannels, w.in, w.rank)), w(weightsOf(s, w)),
        b(onednn::plainDescription(s.outChannels, -1, {}, 0)),
        y(onednn::plainDescription(s.batch, s.outChannels, w.out, w.rank)),
        yOfUser(outputsInUserArray(s, y)), strides(onednn::toDims(w.stride, w.rank)),
        dilates(onednn::toDims(w.dilation, w.rank, 1)), padLow(onednn::toDims(w.padLow, w.rank)),
        fewChannels(s.groups == 1 && s.inChannels <= kFewChannels) {
    for (int d = 0; d < w.rank; ++d)
      padHigh.push_back(tenon::padHigh(w, d));
  }
  // The descriptions of the three primitives. Only the attributes determine whether the product is
  // added to the output.
  Forward::primitive_desc forward(const dnnl::primitive_attr& attrs, const Desc& src,
                                  const Desc& weights, const Desc& dst) const {
    return onednn::described<Forward>(attrs, dnnl::prop_kind::forward_training,
                                      dnnl::algorithm::convolution_direct, src, weights, b, dst,
                                      strides, dilates, padLow, padHigh);
  }
  AdjointData::primitive_desc adjointData(const dnnl::primitive_attr& attrs,
                                          const Forward::primitive_desc& hint) const {
    const auto describe = [&](bool plain) {
      return onednn::describedBeside<AdjointData>(
          hint, attrs, dnnl::algorithm::convolution_direct, plain ? x : anyLayout(x),
          plain ? w : anyLayout(w), plain ? y : anyLayout(y), strides, dilates, padLow, padHigh);
    };
    const AdjointData::primitive_desc best = describe(/*plain=*/fewChannels);
    if (fewChannels && isReference(best))
      return describe(/*plain=*/false);
    return isWrong(best) ? describe(/*plain=*/true) : best;
  }
  // For row-major arrays oneDNN 3.7 has only its reference, which is a hundred times slower than
  // its own formats.
  static bool isReference(const AdjointData::primitive_desc& chosen) {
    return std::string_view(chosen.impl_info_str()).find("ref") != std::string_view::npos;
  }
  // On Arm with vectors of 512 bits, the depthwise adjoint of oneDNN 2.6.3 adds to elements that no
  // tap of a dilated kernel reads.
  bool isWrong(const AdjointData::primitive_desc& chosen) const {
    return std::string_view(chosen.impl_info_str()) == "jit_dw:sve_512" &&
           std::any_of(dilates.begin(), dilates.end(), [](memory::dim d) { return d > 0; });
  }
  AdjointWeights::primitive_desc adjointWeights(const dnnl::primitive_attr& attrs,
                                                const Forward::primitive_desc& hint) const {
    return onednn::describedBeside<AdjointWeights>(hint, attrs, dnnl::algorithm::convolution_direct,
                                                   anyLayout(x), anyLayout(w), b, anyLayout(y),
                                                   strides, dilates, padLow, padHigh);
  }

  Desc x, w, b, y;
  Desc yOfUser; // y with the strides of the user's array
  memory::dims strides, dilates, padLow, padHigh;
  bool fewChannels;
};

// Attributes of a primitive whose scratchpad Tenon provides; with `sum` the product is added to the
// output.
dnnl::primitive_attr attributes(bool sum) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (sum) {
    dnnl::post_ops ops;
    ops.append_sum(1.0f);
    attr.set_post_ops(ops);
  }
  return attr;
}

// An array of bytes, for oneDNN's scratchpad.
Desc rawBytes(size_t bytes) {
  return {{memory::dim(std::max<size_t>(bytes, 1))}, memory::data_type::u8, memory::format_tag::a};
}

// The primitives that oneDNN selects for the three products, and `sum`, the forward product that is
// added to the output instead of overwriting it.
struct Primitives {
  explicit Primitives(const Problem& p)
      : forward(
            p.forward(attributes(/*sum=*/false), anyLayout(p.x), anyLayout(p.w), anyLayout(p.y))),
        sum(p.forward(attributes(/*sum=*/true), forward.src_desc(), forward.weights_desc(),
                      forward.dst_desc())),
        adjointData(p.adjointData(attributes(/*sum=*/false), forward)),
        adjointWeights(p.adjointWeights(attributes(/*sum=*/false), forward)) {}

  std::string implementation() const {
    return fmt::format("{}, adjoints {} and {}", forward.impl_info_str(),
                       adjointData.impl_info_str(), adjointWeights.impl_info_str());
  }
  size_t scratchpadBytes() const {
    return std::max({forward.scratchpad_desc().get_size(), sum.scratchpad_desc().get_size(),
                     adjointData.scratchpad_desc().get_size(),
                     adjointWeights.scratchpad_desc().get_size()});
  }

  Forward::primitive_desc forward, sum;
  AdjointData::primitive_desc adjointData;
  AdjointWeights::primitive_desc adjointWeights;
};

// One of the three products: its primitive, its operands (x, w and y, or the gradients of these)
// and its argument table, which is filled when the scratch is planned.
struct Product {
  Port x, w, y;
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;

  void run(const dnnl::stream& stream) { primitive.execute(stream, arguments); }
};

Product forwardProduct(const Problem& p, const Forward::primitive_desc& chosen) {
  return {.x = Port(p.x, chosen.src_desc()),
          .w = Port(p.w, chosen.weights_desc()),
          .y = Port(p.yOfUser, chosen.dst_desc()),
          .primitive = Forward(chosen),
          .arguments = {}};
}

Product adjointDataProduct(const Problem& p, const AdjointData::primitive_desc& chosen) {
  return {.x = Port(p.x, chosen.diff_src_desc()),
          .w = Port(p.w, chosen.weights_desc()),
          .y = Port(p.yOfUser, chosen.diff_dst_desc()),
          .primitive = AdjointData(chosen),
          .arguments = {}};
}

Product adjointWeightsProduct(const Problem& p, const AdjointWeights::primitive_desc& chosen) {
  return {.x = Port(p.x, chosen.src_desc()),
          .w = Port(p.w, chosen.diff_weights_desc()),
          .y = Port(p.yOfUser, chosen.diff_dst_desc()),
          .primitive = AdjointWeights(chosen),
          .arguments = {}};
}

// The operands of a product, in the order of operandsAt_.
constexpr std::array kOperands{&Product::x, &Product::w, &Product::y};

class OneDnnConvolution final : public Convolution<float> {
public:
  // `window` describes the array that `stage` produces, if there is a stage.
  OneDnnConvolution(const ConvolutionShape& shape, const WindowShape& window,
                    const std::optional<InputStage<float>>& stage, KernelContextPtr context)
      : OneDnnConvolution(Problem(shape, window), stage, std::move(context)) {}

  void forward(const float* x, const float* w, const float* b, float* y, bool accumulate) override {
    onednn::guarded("a convolution", [&] {
      updateScratchAddresses();
      Product& p = forward_;
      p.x.load(stream_, staged(x));
      p.w.load(stream_, w);
      // The primitive always adds a bias (zeros if b is null), so one primitive serves both cases.
      bias_.set_data_handle(b ? const_cast<float*>(b) : zeroBias_.data());
      if (accumulate) {
        p.y.load(stream_, y);
        forwardSum_.execute(stream_, p.arguments);
      } else {
        p.y.attach(y);
        p.run(stream_);
      }
      p.y.store(stream_);
      stream_.wait();
    });
  }

  void adjointData(const float* w, const float* dy, float* dx) override {
    onednn::guarded("a convolution's adjoint", [&] {
      updateScratchAddresses();
      Product& p = adjointData_;
      p.w.load(stream_, w);
      p.y.load(stream_, dy);
      p.x.attach(stage_ ? staged() : dx);
      p.run(stream_);
      p.x.store(stream_);
      stream_.wait();
    });
    if (stage_)
      stage_->unstage(*context_, staged(), dx);
  }

  // oneDNN overwrites its gradients, so they are computed in scratch and then added.
  void adjointWeights(const float* x, const float* dy, float* dw, float* db) override {
    onednn::guarded("a convolution's weight adjoint", [&] {
      updateScratchAddresses();
      Product& p = adjointWeights_;
      p.x.load(stream_, staged(x));
      p.y.load(stream_, dy);
      p.w.attach(weightGradient());
      bias_.set_data_handle(biasGradient());
      p.run(stream_);
      p.w.store(stream_);
      stream_.wait();
    });
    axpby(*context_, weightCount_, 1.0f, weightGradient(), 1.0f, dw);
    if (db)
      axpby(*context_, Index(zeroBias_.size()), 1.0f, biasGradient(), 1.0f, db);
  }

  Backend backend() const override { return Backend::OneDnn; }
  const char* implementation() const override { return implementation_.c_str(); }

private:
  OneDnnConvolution(const Problem& p, const std::optional<InputStage<float>>& stage,
                    KernelContextPtr context)
      : OneDnnConvolution(p, Primitives(p), stage, std::move(context)) {}
  OneDnnConvolution(const Problem& p, const Primitives& chosen,
                    const std::optional<InputStage<float>>& stage, KernelContextPtr context)
      : stream_(onednn::streamOf(*context)), forward_(forwardProduct(p, chosen.forward)),
        adjointData_(adjointDataProduct(p, chosen.adjointData)),
        adjointWeights_(adjointWeightsProduct(p, chosen.adjointWeights)),
        forwardSum_(Forward(chosen.sum)), implementation_(chosen.implementation()),
        bias_(p.b, onednn::engine(), DNNL_MEMORY_NONE),
        scratchpad_(rawBytes(chosen.scratchpadBytes()), onednn::engine(), DNNL_MEMORY_NONE),
        zeroBias_(p.b.get_size() / sizeof(float)),
        weightCount_(Index(p.w.get_size() / sizeof(float))), stage_(stage),
        context_(std::move(context)) {
    fillArgumentTables();
    planScratch();
  }

  // One area each for x, w and y, of the size of the largest operand of the three products.
  void planScratch() {
    ScratchPlan plan;
    scratchpadAt_ = plan.add<char>(Index(scratchpad_.get_desc().get_size()));
    biasGradientAt_ = plan.add<float>(Index(zeroBias_.size()));
    weightGradientAt_ = plan.add<float>(weightCount_);
    stagedAt_ = plan.add<float>(stage_ ? stage_->volume() : 0);
    for (std::size_t operand = 0; operand < kOperands.size(); ++operand) {
      size_t bytes = 0;
      for (Product* p : products())
        bytes = std::max(bytes, (p->*kOperands[operand]).bytes());
      operandsAt_[operand] = plan.add<char>(Index(bytes));
    }
    context_->reserve(plan);
  }

  // Passes the address of the scratch memory to oneDNN. The address changes when another kernel of
  // the context needs more scratch memory.
  void updateScratchAddresses() {
    char* scratch = context_->scratch<char>(0);
    if (scratch == scratchAddress_)
      return; // the address has not changed
    scratchAddress_ = scratch;
    scratchpad_.set_data_handle(scratch + scratchpadAt_);
    for (std::size_t operand = 0; operand < kOperands.size(); ++operand)
      for (Product* p : products())
        (p->*kOperands[operand]).setScratch(scratch + operandsAt_[operand]);
  }

  // The arguments of the primitives, keyed by oneDNN's numbers.
  void fillArgumentTables() {
    forward_.arguments = {{DNNL_ARG_SRC, forward_.x.memory()},
                          {DNNL_ARG_WEIGHTS, forward_.w.memory()},
                          {DNNL_ARG_BIAS, bias_},
                          {DNNL_ARG_DST, forward_.y.memory()},
                          {DNNL_ARG_SCRATCHPAD, scratchpad_}};
    adjointData_.arguments = {{DNNL_ARG_DIFF_DST, adjointData_.y.memory()},
                              {DNNL_ARG_WEIGHTS, adjointData_.w.memory()},
                              {DNNL_ARG_DIFF_SRC, adjointData_.x.memory()},
                              {DNNL_ARG_SCRATCHPAD, scratchpad_}};
    adjointWeights_.arguments = {{DNNL_ARG_SRC, adjointWeights_.x.memory()},
                                 {DNNL_ARG_DIFF_DST, adjointWeights_.y.memory()},
                                 {DNNL_ARG_DIFF_WEIGHTS, adjointWeights_.w.memory()},
                                 {DNNL_ARG_DIFF_BIAS, bias_},
                                 {DNNL_ARG_SCRATCHPAD, scratchpad_}};
  }

  std::array<Product*, 3> products() { return {&forward_, &adjointData_, &adjointWeights_}; }
  float* weightGradient() { return context_->scratch<float>(weightGradientAt_); }
  float* biasGradient() { return context_->scratch<float>(biasGradientAt_); }
  // The copy of the input, or of its gradient, for windows that need it; and x in this copy, or x
  // itself.
  float* staged() { return context_->scratch<float>(stagedAt_); }
  const float* staged(const float* x) {
    if (!stage_)
      return x;
    stage_->stage(*context_, x, staged());
    return staged();
  }

  dnnl::stream stream_;
  Product forward_, adjointData_, adjointWeights_;
  dnnl::primitive forwardSum_; // forward product that is added to y
  std::string implementation_;
  memory bias_, scratchpad_;
  std::vector<float> zeroBias_; // zeros, one per output channel
  Index weightCount_;           // number of weights
  std::optional<InputStage<float>> stage_;
  KernelContextPtr context_;
  Index scratchpadAt_, biasGradientAt_, weightGradientAt_, stagedAt_; // offsets in the scratch
  std::array<Index, 3> operandsAt_;
  char* scratchAddress_ = nullptr; // address of the scratch at the last call
};

} // namespace

std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape,
                                                          KernelContextPtr context) {
  return onednn::guarded("setting up a convolution", [&]() -> std::unique_ptr<Convolution<float>> {
    if (!needsStage(shape.window))
      return std::make_unique<OneDnnConvolution>(shape, shape.window, std::nullopt,
                                                 std::move(context));
    const InputStage<float> stage(shape.batch * shape.inChannels, shape.window);
    return std::make_unique<OneDnnConvolution>(shape, stage.window(), stage, std::move(context));
  });
}

} // namespace tenon
