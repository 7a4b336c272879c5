// SPDX-License-Identifier: BSD-2-Clause
// Convolution in inference by oneDNN. The primitive (an operation that oneDNN compiles for given
// shapes and memory formats) reads and writes images with channels last, and weights in a format of
// its own:
//
//   x, channels first -> reorder -+                              +-> reorder -> y, channels first
//                                 +-> primitive (packed w, b) ->-+
//   x, channels last  ------------+                              +-----------> y, channels last
//
// Winograd's algorithm needs 2.25 times fewer multiplications for a 3 x 3 kernel. It is used for
// tiles of 2 x 2 outputs only, whose rounding error is about that of the direct sum; that of the
// larger tiles is several times larger. makePackedConvolution() is declared in packed.hpp.
#include "kernels/base/onednn.hpp"
#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/packed.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tenon {

namespace {

using dnnl::memory;
using PackedForward = dnnl::convolution_forward;
using PackedDesc = PackedForward::primitive_desc;

// The array [batch, channels, space...] with channels last.
memory::desc lastDescription(Index batch, Index channels,
                             const std::array<Index, kMaxSpatial>& space, int rank) {
  memory::dims dims{batch, channels}, strides(std::size_t(rank) + 2, 1);
  Index step = channels;
  for (int d = 0; d < rank; ++d)
    dims.push_back(space[d]);
  for (int d = rank - 1; d >= 0; --d) {
    strides[std::size_t(d) + 2] = step;
    step *= space[d];
  }
  strides[0] = step;
  return {dims, memory::data_type::f32, strides};
}

memory::desc plainWeights(const ConvolutionShape& s) {
  return onednn::inGroups(onednn::plainDescription(s.outChannels, s.inChannels / s.groups,
                                                   s.window.kernel, s.window.rank),
                          s.groups);
}

// The shapes for which Winograd's algorithm was measured to be faster, by up to 1.9 times: enough
// channels and tiles for its matrix products.
bool isForWinograd(const ConvolutionShape& s) {
  const WindowShape& w = s.window;
  constexpr Index kEnoughChannels = 64, kEnoughOutputs = 12;
  if (w.rank != 2 || s.groups != 1 || std::min(s.inChannels, s.outChannels) < kEnoughChannels)
    return false;
  for (int d = 0; d < w.rank; ++d)
    if (w.kernel[d] != 3 || w.stride[d] != 1 || w.dilation[d] != 1 || w.out[d] < kEnoughOutputs)
      return false;
  return true;
}

class OneDnnPacked final : public PackedConvolution {
public:
  OneDnnPacked(const ConvolutionShape& s, const PackedDesc& chosen, KernelContextPtr context)
      : stream_(onednn::streamOf(*context)),
        x_{onednn::Port(onednn::plainDescription(s.batch, s.inChannels, s.window.in, s.window.rank),
                        chosen.src_desc()),
           onednn::Port(lastDescription(s.batch, s.inChannels, s.window.in, s.window.rank),
                        chosen.src_desc())},
        y_{onednn::Port(
               onednn::plainDescription(s.batch, s.outChannels, s.window.out, s.window.rank),
               chosen.dst_desc()),
           onednn::Port(lastDescription(s.batch, s.outChannels, s.window.out, s.window.rank),
                        chosen.dst_desc())},
        w_(plainWeights(s), onednn::engine(), DNNL_MEMORY_NONE),
        packed_(chosen.weights_desc(), onednn::engine(), DNNL_MEMORY_NONE),
        biasMemory_(chosen.bias_desc(), onednn::engine(), DNNL_MEMORY_NONE),
        scratchpad_(chosen.scratchpad_desc(), onednn::engine(), DNNL_MEMORY_NONE),
        pack_(w_, packed_), primitive_(chosen), implementation_(chosen.impl_info_str()),
        memory_(Index(packed_.get_desc().get_size()), "packed weights"),
        bias_(std::size_t(s.outChannels)), context_(std::move(context)) {
    packed_.set_data_handle(memory_.data<void>());
    biasMemory_.set_data_handle(bias_.data());
    ScratchPlan plan;
    scratchpadAt_ = plan.add<char>(Index(scratchpad_.get_desc().get_size()));
    xAt_ = plan.add<char>(Index(std::max(x_[0].bytes(), x_[1].bytes())));
    yAt_ = plan.add<char>(Index(std::max(y_[0].bytes(), y_[1].bytes())));
    context_->reserve(plan);
  }

  void forward(const Weights& weights, const float* x, ChannelOrder ofX, float* y,
               ChannelOrder ofY) override {
    onednn::guarded("a convolution in inference", [&] {
      updateWeights(weights);
      onednn::Port &from = x_[ofX == ChannelOrder::Last], &to = y_[ofY == ChannelOrder::Last];
      char* const scratch = context_->scratch<char>(0);
      scratchpad_.set_data_handle(scratch + scratchpadAt_);
      from.setScratch(scratch + xAt_);
      to.setScratch(scratch + yAt_);
      from.load(stream_, x);
      to.attach(y);
      arguments_[DNNL_ARG_SRC] = from.memory();
      arguments_[DNNL_ARG_WEIGHTS] = packed_;
      arguments_[DNNL_ARG_BIAS] = biasMemory_;
      arguments_[DNNL_ARG_DST] = to.memory();
      arguments_[DNNL_ARG_SCRATCHPAD] = scratchpad_;
      primitive_.execute(stream_, arguments_);
      to.store(stream_);
      stream_.wait();
    });
  }
  Index bytes() const override {
    return memory_.bytes() + Index((bias_.size() + scale_.size() + shift_.size()) * sizeof(float));
  }
  const char* implementation() const override { return implementation_.c_str(); }

private:
  // Packs the weights if they, or what is folded into them, have changed.
  void updateWeights(const Weights& weights) {
    const auto equals = [](const std::vector<float>& known, const float* values) {
      return values ? std::equal(known.begin(), known.end(), values) && !known.empty()
                    : known.empty();
    };
    if (states_ == weights.states && equals(scale_, weights.scale) && equals(shift_, weights.shift))
      return;
    states_.reset(); // if an error ends this function, the next call packs the weights again
    const std::size_t channels = bias_.size();
    const auto copied = [=](const float* values) {
      return values ? std::vector<float>(values, values + channels) : std::vector<float>();
    };
    scale_ = copied(weights.scale);
    shift_ = copied(weights.shift);
    std::vector<float> scaled; // the weights of each output channel are consecutive
    if (weights.scale) {
      const std::size_t each = w_.get_desc().get_size() / sizeof(float) / channels;
      scaled.resize(each * channels);
      for (std::size_t i = 0; i < scaled.size(); ++i)
        scaled[i] = weights.scale[i / each] * weights.w[i];
    }
    for (std::size_t k = 0; k < channels; ++k)
      bias_[k] = (weights.scale ? weights.scale[k] : 1.f) * (weights.b ? weights.b[k] : 0.f) +
                 (weights.shift ? weights.shift[k] : 0.f);
    w_.set_data_handle(scaled.empty() ? const_cast<float*>(weights.w) : scaled.data());
    pack_.execute(stream_, w_, packed_);
    stream_.wait();
    states_ = weights.states;
  }

  dnnl::stream stream_;
  std::array<onednn::Port, 2> x_, y_; // channels first, channels last
  memory w_, packed_, biasMemory_, scratchpad_;
  dnnl::reorder pack_;
  dnnl::primitive primitive_;
  std::string implementation_;
  Buffer memory_;                           // of the packed weights
  std::vector<float> bias_, scale_, shift_; // scale_ and shift_ are empty if there are none
  KernelContextPtr context_;
  Index scratchpadAt_, xAt_, yAt_; // offsets in the scratch
  std::unordered_map<int, memory> arguments_;
  std::optional<std::array<std::uint64_t, 2>> states_; // of the weights that are packed
};

// The description of the primitive, by the direct sum or by Winograd's algorithm.
PackedDesc describePacked(const ConvolutionShape& s, dnnl::algorithm algorithm,
                          const memory::desc& x, const memory::desc& y) {
  const WindowShape& w = s.window;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  memory::dims high;
  for (int d = 0; d < w.rank; ++d)
    high.push_back(padHigh(w, d));
  const memory::desc anyWeights(onednn::dimsOf(plainWeights(s)), memory::data_type::f32,
                                memory::format_tag::any);
  return onednn::described<PackedForward>(
      attributes, dnnl::prop_kind::forward_inference, algorithm, x, anyWeights,
      onednn::plainDescription(s.outChannels, -1, {}, 0), y, onednn::toDims(w.stride, w.rank),
      onednn::toDims(w.dilation, w.rank, 1), onednn::toDims(w.padLow, w.rank), high);
}

// Winograd's algorithm with tiles of 2 x 2 outputs, if this version of oneDNN has it for the shape.
std::optional<PackedDesc> describeWinograd(const ConvolutionShape& s) {
  const auto any = [&](Index channels, const std::array<Index, kMaxSpatial>& space) {
    return memory::desc(
        onednn::dimsOf(onednn::plainDescription(s.batch, channels, space, s.window.rank)),
        memory::data_type::f32, memory::format_tag::any);
  };
  try {
    const PackedDesc chosen =
        describePacked(s, dnnl::algorithm::convolution_winograd, any(s.inChannels, s.window.in),
                       any(s.outChannels, s.window.out));
    // Not next_impl(): with oneDNN 2 it reads the operation's descriptor, which described() does
    // not keep. The tiles of 2 x 2 are never behind those of 4 x 4.
    if (std::string_view(chosen.impl_info_str()).find("wino_2x3") != std::string_view::npos)
      return chosen;
  } catch (const dnnl::error&) { // it has none
  }
  return {};
}

bool isPackable(const ConvolutionShape& s) {
  const WindowShape& w = s.window;
  if (s.batch * s.inChannels * s.outChannels * inputVolume(w) * outputVolume(w) == 0)
    return false;
  for (int d = 0; d < w.rank; ++d)
    if (w.padLow[d] < 0 || padHigh(w, d) <= -w.stride[d])
      return false;
  return true;
}

} // namespace

std::unique_ptr<PackedConvolution> makePackedConvolution(const ConvolutionShape& shape,
                                                         KernelContextPtr context) {
  if (context->space() == Space::Device || !isPackable(shape))
    return nullptr;
  return onednn::guarded(
      "setting up a convolution in inference", [&]() -> std::unique_ptr<PackedConvolution> {
        const WindowShape& w = shape.window;
        std::optional<PackedDesc> chosen;
        if (isForWinograd(shape))
          chosen = describeWinograd(shape);
        if (!chosen)
          chosen = describePacked(shape, dnnl::algorithm::convolution_direct,
                                  lastDescription(shape.batch, shape.inChannels, w.in, w.rank),
                                  lastDescription(shape.batch, shape.outChannels, w.out, w.rank));
        return std::make_unique<OneDnnPacked>(shape, *chosen, std::move(context));
      });
}

} // namespace tenon
