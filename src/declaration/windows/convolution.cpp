// SPDX-License-Identifier: BSD-2-Clause
// Declares the convolution, in one or more groups of channels:
//     y[n,o,s] = sum over i, t of x[n,i,S] W[o,i,t] + b[o],  S = s stride - pad + t dilation,
// where x outside the domain is defined by the boundary modes of the windows, or zero.
//
// The base classes (core/windowed.hpp) derive from the settings of the windows which input elements
// each rank needs. This file adds the weights, the operation counts by which a plan predicts times,
// overlap, and the kernel, which calls the backend (library) that the settings select.
//
// Labels, which state what an axis of the process grid does: n splits the batch (data parallel), o
// the output channels (model parallel), i the input channels (y is then a partial sum), g the
// groups, d/h/w a spatial dimension (domain decomposition with a halo); B replicates all, R holds
// all on its root, P has a partial sum as input. Axes can have any mix of labels.
//
// Overlap: if the input only needs a halo exchange, the outputs that do not depend on the halo can
// be computed during the exchange, and the others in strips afterwards (core/window_layout.hpp);
// likewise the cotangent of the input. The cost is one kernel call per strip, and a saved copy of
// the input. There is one kernel per piece, which writes its own box of the output
// array. In one dimension:
//
//   input    halo | owned ............................ | halo
//   output         strip | interior (first) | strip           strips: after the exchange
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "geometry/layout/layout.hpp"
#include "kernels/convolution/packed.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kConvolutionSettings[] = {
    kInChannelsSetting,
    kOutChannelsSetting,
    kKernelSetting,
    kConvolutionStrideSetting,
    kDilationSetting,
    kPaddingSetting,
    kPaddingHighSetting,
    kBoundarySetting,
    kOutputCutsSetting,
    kBoundaryConstantSetting,
    kFilledSetting,
    kHaloSetting,
    kVectorsSetting,
    kGroupsSetting,
    kBiasSetting,
    {"weight_input", OptionSpec::Flag, "false",
     "the weight is the second input and no parameter, so that other layers may compute it; there "
     "is no bias then"},
    {"overlap", OptionSpec::Choice, "auto",
     "overlap of computation with the halo exchange; auto: where it is predicted to save time, and "
     "not on linked patches",
     "auto|on|off"},
};

// The kernel of one piece of the output, or of the whole output of this rank.
template <class T>
class LocalConvolution final : public BilinearKernel {
public:
  // The strides shape.y are those of the array with all outputs of this rank, and `firstOutput` is
  // the offset of the first element of this kernel's box in that array.
  LocalConvolution(const ConvolutionShape& shape, Index firstOutput, bool isWeightInput,
                   Backend backend, const KernelContextPtr& context)
      : BilinearKernel(flopsOf(shape)), kernel_(makeConvolution<T>(shape, backend, context)),
        shape_(shape), firstOutput_(firstOutput), isWeightInput_(isWeightInput), context_(context),
        mayPack_(!isWeightInput && mayPack(shape, kernel_->backend(), backend)) {}

  void expect(const PointwiseFunction& f) override { kernel_->expect(f); }
  Autotuner* autotuner() override { return kernel_->autotuner(); }
  std::string describe() const override {
    return fmt::format("backend {} ({})", backendName(kernel_->backend()),
                       kernel_->implementation());
  }
  Index bytes() const override { return packed_ ? packed_->bytes() : 0; }
  // In inference: the same kernel for images with channels first and last.
  bool foldsChannels() override { return packed() != nullptr; }
  ChannelOrders channelOrders() override {
    return packed() ? ChannelOrders::Any : ChannelOrders::First;
  }
  bool infer(Arrays x, KernelParameters p, const Finish& finish, LocalArray& y) override {
    if constexpr (std::is_same_v<T, float>)
      if (packed()) {
        const LocalArray b = p.size() > 1 && p[1].value.elements() > 0 ? p[1].value : LocalArray();
        float* const out = y.mutableData<float>();
        packed_->forward({.w = p[0].value.data<float>(),
                          .b = b.data<float>(),
                          // Without a bias 0, and with one at least 1, so the two differ.
                          .states = {p[0].state, b ? p[1].state + 1 : 0},
                          .scale = finish.scale,
                          .shift = finish.shift},
                         x[0].data<float>(), orderOf(x[0]), out, orderOf(y));
        if (finish.function)
          pointwiseForward<float>(y.context(), *finish.function, y.elements(), out, out);
        logFlops(flopsOf(shape_));
        return true;
      }
    return false;
  }

private:
  // One multiplication and one addition per tap (element of the kernel times input channel).
  static double flopsOf(const ConvolutionShape& shape) {
    const Index taps = shape.inChannels / shape.groups * kernelVolume(shape.window);
    return 2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
           double(taps);
  }

  void product(const LocalArray& x, const LocalArray& w, const LocalArray& b, bool adds,
               LocalArray& y) override {
    kernel_->forward(x.data<T>(), w.data<T>(), b.data<T>(), y.mutableData<T>() + firstOutput_,
                     adds);
  }
  bool productThen(const LocalArray& x, const LocalArray& w, const LocalArray& b,
                   const PointwiseFunction& f, LocalArray& y) override {
    return kernel_->forwardThen(x.data<T>(), w.data<T>(), b.data<T>(), f,
                                y.mutableData<T>() + firstOutput_);
  }
  void adjointX(const LocalArray& w, const LocalArray& dy, LocalArray& dx) override {
    kernel_->adjointData(w.data<T>(), dy.data<T>() + firstOutput_, dx.mutableData<T>());
  }
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dw,
                LocalArray& db) override {
    if (isWeightInput_) // the weight is an input: its cotangent is overwritten, but the kernel adds
      setZero(dw);
    kernel_->adjointWeights(x.data<T>(), dy.data<T>() + firstOutput_, dw.mutableData<T>(),
                            db.mutableData<T>());
  }
  // Where oneDNN computes all outputs of this rank, inference keeps its weights in oneDNN's format;
  // pieces would each keep a copy. Depthwise convolutions are faster by it than directly.
  PackedConvolution* packed() {
    if (mayPack_ && !packed_)
      packed_ = makePackedConvolution(shape_, context_);
    mayPack_ = packed_ != nullptr;
    return packed_.get();
  }
  static bool mayPack(const ConvolutionShape& shape, Backend chosen, Backend wanted) {
    const bool isDepthwise = shape.groups > 1 && shape.groups == shape.inChannels;
    return std::is_same_v<T, float> &&
           *shape.y == denseStrides(shape.outChannels, shape.window.out, shape.window.rank) &&
           (chosen == Backend::OneDnn || (isDepthwise && wanted == Backend::Auto));
  }
  static ChannelOrder orderOf(const LocalArray& x) {
    return isChannelsLast(x) ? ChannelOrder::Last : ChannelOrder::First;
  }
  // The box of the output array that this kernel writes: dimensions [batch, channels, space...]
  // with their extents and strides.
  struct OwnBox {
    int rank;
    std::array<Index, kMaxSpatial + 2> extent, strides;
  };
  OwnBox ownBox() const {
    const WindowShape& window = shape_.window;
    OwnBox box{.rank = window.rank + 2,
               .extent = {shape_.batch, shape_.outChannels},
               .strides = {shape_.y->batch, shape_.y->channel}};
    std::copy_n(window.out.begin(), window.rank, box.extent.begin() + 2);
    std::copy_n(shape_.y->space.begin(), window.rank, box.strides.begin() + 2);
    return box;
  }

  // y[n,o,...] = b[o]
  void fill(const LocalArray& b, LocalArray& y) override {
    const OwnBox box = ownBox();
    constexpr Index kPerChannel[kMaxSpatial + 2] = {0, 1}; // strides of b: only channels advance
    T* out = y.mutableData<T>() + firstOutput_;
    if (b)
      blockCombine(y.context(), Combine::Copy, box.rank, box.extent.data(), b.data<T>(),
                   kPerChannel, out, box.strides.data());
    else
      fillBlock(y.context(), box.rank, box.extent.data(), T(0), out, box.strides.data());
  }
  void applyFunction(const PointwiseFunction& f, LocalArray& y) override {
    const OwnBox box = ownBox();
    blockPointwise<T>(y.context(), f, box.rank, box.extent.data(),
                      y.mutableData<T>() + firstOutput_, box.strides.data());
  }

  std::unique_ptr<Convolution<T>> kernel_;
  ConvolutionShape shape_;
  Index firstOutput_;
  bool isWeightInput_; // the weight is the second input
  KernelContextPtr context_;
  bool mayPack_; // and packed_ is not made yet, or exists
  std::unique_ptr<PackedConvolution> packed_;
};

class ConvolutionDeclaration final : public GroupedWindowed {
public:
  ConvolutionDeclaration() : GroupedWindowed("conv", kConvolutionSettings) {}

  int inputCount() const override { return isWeightInput() ? 2 : GroupedWindowed::inputCount(); }
  std::string inputAdvice() const override {
    return isWeightInput() ? "; the weight is its second input, for weight_input is set"
                           : GroupedWindowed::inputAdvice();
  }

  SignatureTable rows(const std::vector<Shape>&) const override {
    SignatureTable table = rowsOf({.output = 0, .input = 1});
    if (isWeightInput())
      for (SignatureRow& row : table)
        row = SignatureRow(row.label, Properties{row.inputs[0], row.parameters[0]}, {}, row.output);
    return table;
  }

  std::string computedHaloObstacle() const override {
    return isWeightInput() ? "its weight is an input" : computedHaloObstacleOfWindows();
  }

  Work work(const Form& form, int position) const override {
    const Box in = form.uses[0].box(position), out = form.output.box(position);
    const double flops = 2.0 * double(elements(out)) *
                         (double(in[1].size()) / double(groupsOf(in))) * double(taps());
    // The im2col matrix has one row per output position and a column per input channel and tap.
    const double pixels = double(elements(out)) / double(std::max<Index>(1, out[1].size()));
    return {.forward = flops,
            .adjoint = flops,
            .adjointParameters = flops,
            .columns = pixels * double(in[1].size() * taps())};
  }
  // Three kernels: strided windows are gathered, others are read in place, and windows of one
  // element are a matrix product.
  std::string kernelKind() const override {
    return windows().back().stride > 1 ? "strided conv" : taps() == 1 ? "single-tap conv" : type();
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .appliesFunction = true,
            .gradients = isWeightInput() ? Gradients::None : Gradients::Separate};
  }

  // The kernel writes a box of this rank's outputs. With several groups of channels, a rank has
  // either whole groups, whose number is its input channels divided by the input channels per
  // group, or a part of one group.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    const Box in = at.input(), outputs = at.outputs(),
              rankOutputs = at.form.output.boxOfRank(at.rank);
    const std::vector<Window> windowList = windows();
    ConvolutionShape shape{.batch = in[0].size(),
                           .inChannels = in[1].size(),
                           .outChannels = outputs[1].size(),
                           .window = localWindow(windowList, at.use().shape(), in, outputs),
                           .groups = groupsOf(in)};
    const int spatial = static_cast<int>(windowList.size());
    std::array<Index, kMaxSpatial> extents{};
    for (int s = 0; s < spatial; ++s)
      extents[s] = rankOutputs[s + kFirstSpatial].size();
    shape.y = denseStrides(shape.outChannels, extents, spatial);
    shape.hasBias = at.form.parameters.size() > 1;
    Index first = 0;
    for (int s = 0; s < spatial; ++s)
      first += (outputs[s + kFirstSpatial].begin - rankOutputs[s + kFirstSpatial].begin) *
               shape.y->space[s];
    return makeTyped<LocalConvolution>(at.type, shape, first, isWeightInput(), at.backend,
                                       at.context);
  }

  std::string summary() const override {
    const std::string overlap = text("overlap");
    return fmt::format("{}{}{}{}", channelText(), flag("bias") ? "" : ", no bias",
                       isWeightInput() ? ", its weight an input" : "",
                       overlap == "auto" ? "" : ", overlap " + overlap);
  }

  Example example(ExampleDraw& draw) const override {
    const Index groups = draw.of<Index>({1, 1, 1, 2, 3}), inputs = groups * draw.between(1, 2),
                outputs = groups * draw.between(1, 3);
    Example example = windowExample(draw, inputs, /*mostPadding=*/100);
    example.settings.insert(example.settings.end(), {{"in_channels", inputs},
                                                     {"out_channels", outputs},
                                                     {"groups", groups},
                                                     {"bias", draw.chance(70)}});
    // Examples with an input for boundary values cannot have the weight as a second input too.
    if (example.inputs.size() == 1 && draw.chance(15)) {
      for (auto& [name, value] : example.settings)
        if (std::string_view(name) == "bias")
          value = false;
      Shape weight = {outputs, inputs / groups};
      for (const auto& [name, value] : example.settings)
        if (std::string_view(name) == "kernel")
          for (const Index extent : std::get<std::vector<Index>>(value))
            weight.push_back(extent);
      example.settings.emplace_back("weight_input", true);
      example.inputs.push_back(weight);
    }
    return example;
  }

private:
  bool isWeightInput() const { return flag("weight_input"); }
  void check() const override {
    GroupedWindowed::check();
    if (!isWeightInput())
      return;
    if (flag("bias") && isSet("bias"))
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has both a bias and weight_input; set bias to false, and add a "
                              "bias by a layer behind it",
                              title()));
    if (settings().isSet(sizedBy()) && GroupedWindowed::inputCount() > 1)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has both boundary mode \"values\" and weight_input, which are a "
                              "second input each; set boundary_constant, or another mode",
                              title()));
  }
  // The number of groups in a block with these input channels; 1 if it has no channels.
  Index groupsOf(const Box& in) const { return std::max<Index>(1, in[1].size() / inOfGroup()); }
  // Adds the layouts of weight and bias, or, with weight_input, that of the second input. Each
  // dimension of the weight is split as the channels of the output or input that belong to it.
  void addParameters(const Layout& plain, Form& form) const override {
    const Index outputs = integer("out_channels");
    Shape shape = {outputs, inOfGroup()};
    std::vector<CutSource> cuts = {{&form.output, 1}, {&plain, 1}};
    for (const Index extent : windowSizes()) {
      shape.push_back(extent);
      cuts.push_back({});
    }
    const GridPtr& grid = plain.gridPtr();
    const Signature& signature = form.signature;
    if (isWeightInput()) {
      if (form.inputs.size() != 2 || form.inputs[1].shape() != shape)
        throw Error(TENON_ERR_SHAPE,
                    fmt::format("{} needs a weight of shape [{}] as its second input, but has [{}]",
                                title(), fmt::join(shape, ","),
                                fmt::join(form.inputs.back().shape(), ",")));
      form.uses.push_back(makeLayout(shape, grid, signature.input(1), cuts));
      return;
    }
    form.parameters.push_back({.name = "weight",
                               .use = makeLayout(shape, grid, signature.parameter(0), cuts),
                               .fanIn = inOfGroup() * taps(),
                               .fanOut = outOfGroup() * taps()});
    if (flag("bias"))
      form.parameters.push_back(
          {.name = "bias",
           .use = makeLayout({outputs}, grid, signature.parameter(1), {{&form.output, 1}})});
  }

  bool computesInPieces(const Layouts& inputs, const Layout& plain,
                        const Choice& choice) const override {
    const char* obstacle =
        choice.arrives || !haveSameMemory(inputs.front(), plain)
            ? "its input needs more than a halo exchange (choose a signature that uses the input "
              "layout, or add a repartition before it)"
        : choice.computedHalo
            ? "it computes outputs beside its own part too, for layers that do not "
              "exchange their halos (set halo_depth of its container to 1)"
        : isWeightInput() ? "its weight is an input"
        : userValues()    ? "sides with boundary mode \"values\" are filled after the halo exchange"
                          : nullptr;
    if (obstacle && text("overlap") == "on")
      throw Error(TENON_ERR_SUPPORT, fmt::format("{}: overlap \"on\" is not possible because {}; "
                                                 "set it to \"auto\" or \"off\"",
                                                 title(), obstacle));
    // A rank has many small patches, and one exchange fills the halos of all: strips for each of
    // them would take longer than they save, unless patches are large.
    return !obstacle && (!lists().links() || text("overlap") == "on");
  }
};

} // namespace

std::unique_ptr<Declaration> declareConvolution() {
  return std::make_unique<ConvolutionDeclaration>();
}

} // namespace tenon
