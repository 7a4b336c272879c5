// SPDX-License-Identifier: BSD-2-Clause
#include "layer/convolution_layer.hpp"

#include "declaration/window_pieces.hpp"
#include "kernels/convolution.hpp"
#include "kernels/reduce.hpp"
#include "layer/layer_context.hpp"
#include "layer/local_window.hpp"
#include "layer/typed_kernel.hpp"
#include "linop/conversion.hpp"
#include "sys/log.hpp"
#include "sys/options.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr OptionSpec kOptions[] = {
    {"overlap", OptionSpec::Choice, "auto",
     "overlap of computation with the halo exchange; auto: where it is predicted to save time",
     "auto|on|off"},
};
const OptionRegistration kRegistration{{"convolution", kOptions}};

// What one more kernel call costs, with what oneDNN does around it.
constexpr double kStripSeconds = 1e-5;

// At most, by what waits for nobody any more: the copy of the largest part, and a message.
double secondsSaved(const Layout& plain, Index cellBytes) {
  Index most = 1;
  for (int d = 0; d < plain.rank(); ++d) {
    Index widest = 0;
    for (int part = 0; part < plain.parts(d); ++part)
      widest = std::max(widest, plain.owned(d, part).size());
    most *= widest;
  }
  const LinkRates rates = LinkRates::fromOptions();
  return rates.latency + double(most * cellBytes) / rates.copyBandwidth;
}

class LocalConvolution final : public OneInputKernel {
public:
  // The outputs begin at a cell of an array with the strides y, which the shape names too.
  LocalConvolution(const ConvolutionShape& shape, const ImageStrides& y, Index firstOutput,
                   TenonDataType type, Backend backend, const KernelContextPtr& context)
      : kernel_(type, [&]<class T>() { return makeConvolution<T>(shape, backend, context); }),
        shape_(shape), y_(y), firstOutput_(firstOutput), flops_(flopsOf(shape)) {}

  bool keepsInput() const override { return true; }
  Gradients gradients() const override { return Gradients::Apart; }

  void forward(const DTensor& x, ParameterUses& p, DTensor& y, Buffer*) override {
    visitFloating(x.dataType(), [&]<class T>(T) {
      const T* w = p[0]->value().data<T>();
      const T* b = p.size() > 1 ? p[1]->value().data<T>() : nullptr;
      kernel_.get<T>().forward(x.data<T>(), w, b, y.mutableData<T>() + firstOutput_, false);
    });
    logFlops(flops_);
  }

  void tangent(const KernelPoint& point, const DTensor* dx, ParameterUses& p,
               DTensor& dy) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      const DTensor* dw = p[0]->tangent();
      const DTensor* db = p.size() > 1 ? p[1]->tangent() : nullptr;
      const T* b = db ? db->data<T>() : nullptr;
      T* out = dy.mutableData<T>() + firstOutput_;
      fillOutputs(b, out);
      if (dx)
        kernel_.get<T>().forward(dx->data<T>(), p[0]->value().data<T>(), nullptr, out, true);
      if (dw)
        kernel_.get<T>().forward(point.x->data<T>(), dw->data<T>(), nullptr, out, true);
      logFlops(flops_ * ((dx ? 1 : 0) + (dw ? 1 : 0)));
    });
  }

  void adjoint(const KernelPoint&, const DTensor& dy, ParameterUses& p, DTensor* dx) override {
    if (!dx)
      return;
    visitFloating(dy.dataType(), [&]<class T>(T) {
      kernel_.get<T>().adjointData(p[0]->value().data<T>(), dy.data<T>() + firstOutput_,
                                   dx->mutableData<T>());
    });
    logFlops(flops_);
  }

  void adjointParameters(const KernelPoint& point, const DTensor& dy, ParameterUses& p) override {
    visitFloating(dy.dataType(), [&]<class T>(T) {
      T* db = p.size() > 1 ? p[1]->gradientAddends().mutableData<T>() : nullptr;
      kernel_.get<T>().adjointWeights(point.x->data<T>(), dy.data<T>() + firstOutput_,
                                      p[0]->gradientAddends().mutableData<T>(), db);
    });
    logFlops(flops_);
  }

  std::string describe() const override {
    return kernel_.visit([](const auto& k) {
      return fmt::format("backend {} ({})", backendName(k.backend()), k.implementation());
    });
  }

private:
  // Of one product with the weights, a multiplication and an addition for each tap.
  static double flopsOf(const ConvolutionShape& shape) {
    const Index taps = shape.inChannels / shape.groups * kernelVolume(shape.window);
    return 2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
           double(taps);
  }

  // y[n,o,...] = b[o], or 0 without b.
  template <class T>
  void fillOutputs(const T* b, T* y) const {
    const WindowShape& window = shape_.window;
    for (Index n = 0; n < shape_.batch; ++n)
      for (Index o = 0; o < shape_.outChannels; ++o)
        fillBlock(window.rank, window.out.data(), b ? b[o] : T(0),
                  y + n * y_.batch + o * y_.channel, y_.space.data());
  }

  TypedKernel<Convolution> kernel_;
  ConvolutionShape shape_;
  ImageStrides y_;
  Index firstOutput_;
  double flops_;
};

} // namespace

ConvolutionLayer::ConvolutionLayer(CommPtr comm, Index inChannels, Index outChannels,
                                   std::vector<Window> windows)
    : WindowedLayer(std::move(comm), std::move(windows)), inChannels_(inChannels),
      outChannels_(outChannels) {
  if (inChannels < 1 || outChannels < 1)
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "a convolution needs at least 1 input and 1 output channel, but {} and {} were given",
            inChannels, outChannels));
}

void ConvolutionLayer::setBias(bool bias) {
  checkBeforeSetUp("TenonLayerSetBias()");
  bias_ = bias;
}

void ConvolutionLayer::setGroups(Index groups) {
  checkBeforeSetUp("TenonLayerSetGroups()");
  if (groups < 1 || inChannels_ % groups != 0 || outChannels_ % groups != 0)
    throw Error(
        TENON_ERR_ARG,
        fmt::format(
            "the number of groups, {}, must divide the {} input and {} output channels of {}",
            groups, inChannels_, outChannels_, title()));
  groups_ = groups;
}

void ConvolutionLayer::setFromOptions() {
  WindowedLayer::setFromOptions();
  if (const auto choice = options().findChoice(prefix(), "overlap"))
    setOverlap(*choice == "on" ? Overlap::On : *choice == "off" ? Overlap::Off : Overlap::Auto);
}

void ConvolutionLayer::setOverlap(Overlap overlap) {
  checkBeforeSetUp("TenonLayerSetOverlap()");
  overlap_ = overlap;
}

std::string ConvolutionLayer::ownSettings() const {
  const char* overlap = overlap_ == Overlap::Auto ? ""
                        : overlap_ == Overlap::On ? ", overlap on"
                                                  : ", overlap off";
  return fmt::format("{}-D, {} -> {} channels{}, {}{}{}", spatialRank(), inChannels_, outChannels_,
                     groups_ > 1 ? fmt::format(" in {} groups", groups_) : "", describeWindows(),
                     bias_ ? "" : ", no bias", overlap);
}

SignatureTable ConvolutionLayer::table() const {
  const auto S = [](int d) { return Property::shard(d); };
  const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
  SignatureTable table = {{"n", S(0), {B, B}, S(0)}};
  if (groups_ > 1) {
    table.push_back({"g", S(1), {S(0), S(0)}, S(1)});
  } else {
    table.push_back({"o", B, {S(0), S(0)}, S(1)});
    table.push_back({"i", S(1), {S(1), R}, P});
  }
  for (int s = 0; s < spatialRank(); ++s) {
    const Property space = S(s + kFirstSpatial);
    table.push_back({spatialLetter(s, spatialRank()), space, {B, B}, space});
  }
  table.push_back({"B", B, {B, B}, B});
  table.push_back({"R", R, {R, R}, R});
  table.push_back({"P", P, {B, R}, P});
  return table;
}

void ConvolutionLayer::checkInput(const Layout& input) const {
  if (input.rank() > 1 && input.shape()[1] != inChannels_)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has {2} channels in dimension 1, but {0} needs {1}", title(),
                            inChannels_, input.shape()[1]));
}

void ConvolutionLayer::checkSignature() const {
  if (groups_ > 1 && signature().find_first_of("oi") != std::string::npos)
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} splits channels by o or i, but the "
                            "channels are in {} groups; split them by g",
                            signature(), title(), groups_));
}

// With groups the channels are cut between groups, near the input's cuts.
Layout ConvolutionLayer::plainLayout(const Layout& input, const Properties& properties) const {
  std::vector<CutSource> same;
  for (int d = 0; d < input.rank(); ++d)
    same.push_back({&input, d});
  Layout plain = makeLayout(input.shape(), input.meshPtr(), properties, same);
  LayoutSpec spec = plain.spec();
  spec.cuts[1] = plain.cuts(1);
  if (groups_ == 1 || spec.cuts[1].size() <= 2)
    return plain;
  const Index channels = inChannels_ / groups_;
  for (Index& cut : spec.cuts[1])
    cut = (cut + channels / 2) / channels * channels;
  return Layout(std::move(spec));
}

WindowedLayer::WindowPlan ConvolutionLayer::windowPlan(const Layout& input) const {
  const Shape outShape = windowOutputShape(windows(), input, outChannels_, title());
  checkInput(input);
  checkSignature();
  const Signature chosen(table(), input, signature(), title());
  const Layout plain = plainLayout(input, chosen.input());
  std::vector<Index> channelCuts;
  if (groups_ > 1)
    for (Index cut : plain.cuts(1))
      channelCuts.push_back(cut / (inChannels_ / groups_) * (outChannels_ / groups_));
  const Layout output =
      windowOutputLayout(windows(), plain, outShape, chosen.output(), channelCuts);
  WindowPlan result{chosen, plain, output, windowUseLayout(windows(), plain, output)};
  checkHalo(input, result.use);
  return result;
}

KernelPlan ConvolutionLayer::plan(const Layout& input) {
  const WindowPlan window = windowPlan(input);
  const auto& [chosen, plain, output, use] = window;
  KernelPlan result{chosen, use, output, {}, {}, nullptr, callersValues()};
  planParameters(chosen, plain, result);
  const int here = input.mesh().position(comm()->rank());
  WindowPieces pieces = windowPieces(windows(), plain, output, here);
  if (!overlapsHalo(input, window, pieces.strips.size())) {
    result.kernel = localKernel(use, output, output.box(here));
    return result;
  }
  result.use = plain;
  result.kernel = localKernel(plain, output, pieces.interior);
  for (WindowStrip& strip : pieces.strips) {
    auto kernel = localKernel(strip.use, output, strip.outputs);
    result.strips.push_back({std::move(strip.use), std::move(kernel)});
  }
  return result;
}

// The kernel that makes some of this rank's outputs from what it holds in `use`.
std::unique_ptr<LocalKernel> ConvolutionLayer::localKernel(const Layout& use, const Layout& output,
                                                           const Box& outputs) const {
  const int here = use.mesh().position(comm()->rank());
  const Box in = use.box(here), all = output.box(here);
  ConvolutionShape shape{in[0].size(), in[1].size(), outputs[1].size(),
                         localWindow(windows(), use.shape(), in, outputs),
                         std::max<Index>(1, in[1].size() / (inChannels_ / groups_))};
  std::array<Index, kMaxSpatial> extents{};
  for (int s = 0; s < spatialRank(); ++s)
    extents[s] = all[s + kFirstSpatial].size();
  const ImageStrides y = denseStrides(shape.outChannels, extents, spatialRank());
  shape.y = y;
  Index first = 0;
  for (int s = 0; s < spatialRank(); ++s)
    first += (outputs[s + kFirstSpatial].begin - all[s + kFirstSpatial].begin) * y.space[s];
  return std::make_unique<LocalConvolution>(shape, y, first, dataType(), parseBackend(backend()),
                                            contextOf(comm()));
}

// Without a halo to be filled there is nothing to overlap, and no price to pay.
bool ConvolutionLayer::overlapsHalo(const Layout& input, const WindowPlan& window,
                                    std::size_t strips) const {
  if (overlap_ == Overlap::Off || strips == 0 || input.hasMargins())
    return false;
  const char* obstacle =
      !sameHolding(input, window.plain)
          ? "its input needs more than a halo exchange (choose a signature that uses the input "
            "layout, or add a repartition before it)"
      : callersValues() ? "sides with boundary mode \"values\" are filled after the halo exchange"
                        : nullptr;
  if (overlap_ == Overlap::On && obstacle)
    throw Error(
        TENON_ERR_SUPPORT,
        fmt::format("{}: overlap \"on\" is not possible because {}; set it to \"auto\" or \"off\"",
                    title(), obstacle));
  return !obstacle &&
         (overlap_ == Overlap::On ||
          secondsSaved(window.plain, dataTypeSize(dataType())) > double(strips) * kStripSeconds);
}

void ConvolutionLayer::planParameters(const Signature& chosen, const Layout& plain,
                                      KernelPlan& plan) {
  const Index inOfGroup = inChannels_ / groups_, outOfGroup = outChannels_ / groups_;
  Shape shape = {outChannels_, inOfGroup};
  std::vector<CutSource> cuts = {{&plan.output, 1}, {&plain, 1}};
  Index taps = 1;
  for (const Window& window : windows()) {
    shape.push_back(window.kernel);
    cuts.push_back({});
    taps *= window.kernel;
  }
  plan.parameterUses.push_back(makeLayout(shape, plain.meshPtr(), chosen.parameter(0), cuts));
  plan.parameters.push_back(
      parameter("weight", plan.parameterUses[0], inOfGroup * taps, outOfGroup * taps));
  if (!bias_)
    return;
  plan.parameterUses.push_back(
      makeLayout({outChannels_}, plain.meshPtr(), chosen.parameter(1), {{&plan.output, 1}}));
  plan.parameters.push_back(parameter("bias", plan.parameterUses[1], 0, 0));
}

} // namespace tenon
