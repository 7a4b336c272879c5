// SPDX-License-Identifier: BSD-2-Clause
// Convolution through oneDNN: each of the three products is a primitive in the layouts that oneDNN
// prefers, with reorders from and to plain arrays around it. All memory is planned at creation: one
// area for each role (input, weights, output) that the primitives share, and one scratchpad.
// Windows that leave input unread at an end, which oneDNN does not know, go through an InputStage.
#include "kernels/convolution_backends.hpp"
#include "kernels/input_stage.hpp"
#include "kernels/onednn.hpp"
#include "kernels/pointwise.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

namespace {

using dnnl::memory;
using Desc = memory::desc;
using onednn::Port;

// oneDNN knows no unread input; and with AVX-512 the weight adjoint of 2.6.3 is wrong, and writes
// outside its arrays, for some paddings of the first of three dimensions.
bool needsStage(const WindowShape& w) {
  if (w.rank == 3 && (w.padLow[0] != 0 || padHigh(w, 0) != 0))
    return true;
  for (int d = 0; d < w.rank; ++d)
    if (w.padLow[d] < 0 || padHigh(w, d) <= -w.stride[d])
      return true;
  return false;
}

Desc anyLayout(const Desc& plain) {
  return {plain.dims(), memory::data_type::f32, memory::format_tag::any};
}

// oneDNN pads the channels of its own layouts to 16, so few of them are better left plain (three
// times faster for one channel).
constexpr Index kFewChannels = 4;

// [out, in, kernel...], with several groups [groups, out / groups, in / groups, kernel...].
Desc weightsOf(const ConvolutionShape& s, const WindowShape& w) {
  const Desc plain =
      onednn::plainDescription(s.outChannels, s.inChannels / s.groups, w.kernel, w.rank);
  if (s.groups == 1)
    return plain;
  memory::dims dims = plain.dims();
  dims[0] /= s.groups;
  dims.insert(dims.begin(), s.groups);
  return plain.reshape(dims);
}

// The plain descriptions and geometry of one convolution in oneDNN's terms.
struct Problem {
  Problem(const ConvolutionShape& s, const WindowShape& w)
      : x(onednn::plainDescription(s.batch, s.inChannels, w.in, w.rank)), w(weightsOf(s, w)),
        b(onednn::plainDescription(s.outChannels, -1, {}, 0)),
        y(onednn::plainDescription(s.batch, s.outChannels, w.out, w.rank)),
        strides(onednn::toDims(w.stride, w.rank)), dilates(onednn::toDims(w.dilation, w.rank, 1)),
        padLow(onednn::toDims(w.padLow, w.rank)),
        fewChannels(s.groups == 1 && s.inChannels <= kFewChannels) {
    for (int d = 0; d < w.rank; ++d)
      padHigh.push_back(tenon::padHigh(w, d));
  }
  dnnl::convolution_forward::desc forward(const Desc& src, const Desc& weights,
                                          const Desc& dst) const {
    return {dnnl::prop_kind::forward_training,
            dnnl::algorithm::convolution_direct,
            src,
            weights,
            b,
            dst,
            strides,
            dilates,
            padLow,
            padHigh};
  }
  dnnl::convolution_backward_data::desc adjointData() const {
    return {dnnl::algorithm::convolution_direct,
            fewChannels ? x : anyLayout(x),
            fewChannels ? w : anyLayout(w),
            fewChannels ? y : anyLayout(y),
            strides,
            dilates,
            padLow,
            padHigh};
  }
  dnnl::convolution_backward_weights::desc adjointWeights() const {
    return {dnnl::algorithm::convolution_direct,
            anyLayout(x),
            anyLayout(w),
            b,
            anyLayout(y),
            strides,
            dilates,
            padLow,
            padHigh};
  }

  Desc x, w, b, y;
  memory::dims strides, dilates, padLow, padHigh;
  bool fewChannels;
};

// The scratchpad is the caller's; `sum` adds the product to what the output holds.
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

memory rawMemory(size_t bytes) {
  return memory(
      {{memory::dim(std::max<size_t>(bytes, 1))}, memory::data_type::u8, memory::format_tag::a},
      onednn::engine());
}

// One of the three products: its primitive, its operands and its argument table.
struct Product {
  Port x, w, y;
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;

  void run(const dnnl::stream& stream) { primitive.execute(stream, arguments); }
};

class OneDnnConvolution final : public Convolution<float> {
public:
  // `window` spans what `stage` holds, if there is one.
  OneDnnConvolution(const ConvolutionShape& shape, const WindowShape& window,
                    std::optional<InputStage<float>> stage)
      : OneDnnConvolution(Problem(shape, window)) {
    stage_ = std::move(stage);
  }

  void forward(const float* x, const float* w, const float* b, float* y, bool accumulate) override {
    onednn::guarded("a convolution", [&] {
      Product& p = *forward_;
      p.x.load(stream_, staged(x));
      p.w.load(stream_, w);
      bias_.set_data_handle(b ? const_cast<float*>(b) : zeroBias_.data(), stream_);
      if (accumulate) {
        p.y.load(stream_, y);
        forwardSum_.execute(stream_, p.arguments);
      } else {
        p.y.attach(stream_, y);
        p.run(stream_);
      }
      p.y.store(stream_);
      stream_.wait();
    });
  }

  void adjointData(const float* w, const float* dy, float* dx) override {
    onednn::guarded("a convolution's adjoint", [&] {
      Product& p = *adjointData_;
      p.w.load(stream_, w);
      p.y.load(stream_, dy);
      p.x.attach(stream_, stage_ ? stage_->data() : dx);
      p.run(stream_);
      p.x.store(stream_);
      stream_.wait();
    });
    if (stage_)
      stage_->unstage(dx);
  }

  // oneDNN overwrites its gradients; they are added from here.
  void adjointWeights(const float* x, const float* dy, float* dw, float* db) override {
    onednn::guarded("a convolution's weight adjoint", [&] {
      Product& p = *adjointWeights_;
      p.x.load(stream_, staged(x));
      p.y.load(stream_, dy);
      p.w.attach(stream_, weightGradient_.data());
      bias_.set_data_handle(biasGradient_.data(), stream_);
      p.run(stream_);
      p.w.store(stream_);
      stream_.wait();
    });
    axpby(Index(weightGradient_.size()), 1.0f, weightGradient_.data(), 1.0f, dw);
    if (db)
      axpby(Index(biasGradient_.size()), 1.0f, biasGradient_.data(), 1.0f, db);
  }

  Backend backend() const override { return Backend::OneDnn; }
  const char* implementation() const override { return implementation_.c_str(); }

private:
  explicit OneDnnConvolution(const Problem& p)
      : stream_(onednn::engine()), bias_(p.b, onednn::engine(), DNNL_MEMORY_NONE),
        zeroBias_(p.b.get_size() / sizeof(float)), biasGradient_(zeroBias_.size()),
        weightGradient_(p.w.get_size() / sizeof(float)) {
    const dnnl::engine& engine = onednn::engine();
    const dnnl::convolution_forward::primitive_desc forward(
        p.forward(anyLayout(p.x), anyLayout(p.w), anyLayout(p.y)), attributes(false), engine);
    const dnnl::convolution_forward::primitive_desc sum(
        p.forward(forward.src_desc(), forward.weights_desc(), forward.dst_desc()), attributes(true),
        engine);
    const dnnl::convolution_backward_data::primitive_desc data(p.adjointData(), attributes(false),
                                                               engine, forward);
    const dnnl::convolution_backward_weights::primitive_desc weights(
        p.adjointWeights(), attributes(false), engine, forward);
    implementation_ = fmt::format("{}, adjoints {} and {}", forward.impl_info_str(),
                                  data.impl_info_str(), weights.impl_info_str());
    forwardSum_ = dnnl::convolution_forward(sum);
    forward_ = Product{Port(p.x, forward.src_desc()),
                       Port(p.w, forward.weights_desc()),
                       Port(p.y, forward.dst_desc()),
                       dnnl::convolution_forward(forward),
                       {}};
    adjointData_ = Product{Port(p.x, data.diff_src_desc()),
                           Port(p.w, data.weights_desc()),
                           Port(p.y, data.diff_dst_desc()),
                           dnnl::convolution_backward_data(data),
                           {}};
    adjointWeights_ = Product{Port(p.x, weights.src_desc()),
                              Port(p.w, weights.diff_weights_desc()),
                              Port(p.y, weights.diff_dst_desc()),
                              dnnl::convolution_backward_weights(weights),
                              {}};
    placeOperands();
    tabulate(std::max({forward.scratchpad_desc().get_size(), sum.scratchpad_desc().get_size(),
                       data.scratchpad_desc().get_size(), weights.scratchpad_desc().get_size()}));
  }

  // One area for each role, as large as the largest of the three operands in it.
  void placeOperands() {
    for (Port Product::*role : {&Product::x, &Product::w, &Product::y}) {
      Product* products[] = {&*forward_, &*adjointData_, &*adjointWeights_};
      size_t bytes = 0;
      for (Product* p : products)
        bytes = std::max(bytes, (p->*role).bytes());
      areas_.push_back(rawMemory(bytes));
      for (Product* p : products)
        (p->*role).place(areas_.back().get_data_handle());
    }
  }

  void tabulate(size_t scratchpadBytes) {
    const memory scratchpad = rawMemory(scratchpadBytes);
    forward_->arguments = {{DNNL_ARG_SRC, forward_->x.memory()},
                           {DNNL_ARG_WEIGHTS, forward_->w.memory()},
                           {DNNL_ARG_BIAS, bias_},
                           {DNNL_ARG_DST, forward_->y.memory()},
                           {DNNL_ARG_SCRATCHPAD, scratchpad}};
    adjointData_->arguments = {{DNNL_ARG_DIFF_DST, adjointData_->y.memory()},
                               {DNNL_ARG_WEIGHTS, adjointData_->w.memory()},
                               {DNNL_ARG_DIFF_SRC, adjointData_->x.memory()},
                               {DNNL_ARG_SCRATCHPAD, scratchpad}};
    adjointWeights_->arguments = {{DNNL_ARG_SRC, adjointWeights_->x.memory()},
                                  {DNNL_ARG_DIFF_DST, adjointWeights_->y.memory()},
                                  {DNNL_ARG_DIFF_WEIGHTS, adjointWeights_->w.memory()},
                                  {DNNL_ARG_DIFF_BIAS, bias_},
                                  {DNNL_ARG_SCRATCHPAD, scratchpad}};
  }

  const float* staged(const float* x) {
    if (!stage_)
      return x;
    stage_->stage(x);
    return stage_->data();
  }

  dnnl::stream stream_;
  std::optional<Product> forward_, adjointData_, adjointWeights_;
  dnnl::primitive forwardSum_; // forward into what y holds
  std::string implementation_;
  std::vector<memory> areas_;
  memory bias_;
  std::vector<float> zeroBias_, biasGradient_, weightGradient_;
  std::optional<InputStage<float>> stage_;
};

} // namespace

std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape& shape) {
  return onednn::guarded("setting up a convolution", [&]() -> std::unique_ptr<Convolution<float>> {
    if (!needsStage(shape.window))
      return std::make_unique<OneDnnConvolution>(shape, shape.window, std::nullopt);
    InputStage<float> stage(shape.batch * shape.inChannels, shape.window);
    const WindowShape spanned = stage.window();
    return std::make_unique<OneDnnConvolution>(shape, spanned, std::move(stage));
  });
}

} // namespace tenon
