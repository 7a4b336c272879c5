// SPDX-License-Identifier: BSD-2-Clause
// Declares the transposed convolution, the adjoint of a convolution with respect to its input:
//     y[n,o,S] = sum over i, s, t of x[n,i,s] W[i,o,t] + b[o],  S = s stride - pad + t dilation.
// Its windows are those of a convolution from y to x. An input element contributes to all outputs
// in its window. With window 3, stride 2 and inputs split between elements 1 and 2,
//
//   inputs                0       1   |   2       3
//   outputs of input 1        2 3 4             outputs of input 2: 4 5 6
//
// both ranks contribute to output 4. The kernel therefore writes all outputs that a rank's inputs
// reach into a tensor u with a halo of contributions, and the exchange comes after the kernel, not
// before it: it adds the contributions at their owners, and those to elements outside the domain to
// the elements that the boundary mode copies, which is the adjoint of a halo exchange. The kernel
// uses that of a convolution C from u to x, with forward and adjoint exchanged:
//
//   Apply          u = C* x + b       adjointData() of the kernel
//   adjoint of x   dx = C du          forward() of the kernel
//
// Labels per grid axis: n batch, i input channels (y is a partial sum), o output channels, g
// groups, d/h/w space, B (replicated), R (on the root of the axis only), P (partial sums).
// declareTransposedConvolution() is declared in core/types.hpp.
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/convolution/convolution.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kTransposedConvolutionSettings[] = {
    kInChannelsSetting,
    kOutChannelsSetting,
    kKernelSetting,
    kConvolutionStrideSetting,
    kDilationSetting,
    {"padding", OptionSpec::Ints, "0",
     "elements that the output loses before and after it, one number for all spatial dimensions or "
     "one each; negative: elements that are added"},
    kPaddingHighSetting,
    {"output_padding", OptionSpec::Ints, "0",
     "elements added to the end of the output, one number for all spatial dimensions or one each; "
     "below the stride or the dilation",
     nullptr, atLeast(0)},
    kBoundarySetting,
    kOutputCutsSetting,
    kVectorsSetting,
    kGroupsSetting,
    kBiasSetting,
};

// The output's split point for one of the input. The centre of an input's window is placed on the
// input's rank, which minimizes the contributions to other ranks. The split point is half a stride
// before the centre of the first input after the cut, halfway to that of the input before it.
Index cutOfOutput(const Window& window, Index inputCut, Index outputs) {
  const Index centre = (window.reach() - 1) / 2 - window.padLow;
  const Index middle = checkedSum(checkedProduct(inputCut, window.stride, "the middle of a window"),
                                  centre, "the middle of a window");
  return std::clamp<Index>(
      checkedDifference(middle, (window.stride - 1) / 2, "the middle of a window"), 0, outputs);
}

template <class T>
class LocalTransposedConvolution final : public BilinearKernel {
public:
  // `all` is the box of u that this rank computes, and `owned` the block to which it adds the bias:
  // the bias must be added once, and therefore only to the elements of u that this rank owns.
  LocalTransposedConvolution(const ConvolutionShape& shape, const Box& all, const Box& owned,
                             Backend backend, const KernelContextPtr& context)
      : BilinearKernel(2.0 * double(shape.batch * shape.outChannels * outputVolume(shape.window)) *
                       double(shape.inChannels) / double(shape.groups) *
                       double(kernelVolume(shape.window))),
        kernel_(makeConvolution<T>(shape, backend, context)), elementsOfU_(elements(all)),
        rank_(static_cast<int>(all.size())) {
    const Shape strides = rowMajorStrides(extents(all));
    for (int d = 0; d < rank_; ++d) {
      biasExtent_[d] = owned[d].size();
      biasStrides_[d] = strides[d];
      // An empty block can have any begin, and needs no offset.
      biasOffset_ += owned[d].empty() ? 0 : (owned[d].begin - all[d].begin) * strides[d];
    }
  }

  Autotuner* autotuner() override { return kernel_->autotuner(); }
  std::string describe() const override {
    return fmt::format("backend {} ({})", backendName(kernel_->backend()),
                       kernel_->implementation());
  }

private:
  static constexpr Strides kChannelStrides = {0, 1};

  void product(const LocalArray& x, const LocalArray& w, const LocalArray& b, bool adds,
               LocalArray& u) override {
    if (adds)
      addProduct(x, w, u);
    else
      kernel_->adjointData(w.data<T>(), x.data<T>(), u.mutableData<T>());
    if (b)
      addBiasTo(u, b);
  }
  void adjointX(const LocalArray& w, const LocalArray& du, LocalArray& dx) override {
    kernel_->forward(du.data<T>(), w.data<T>(), /*b=*/nullptr, dx.mutableData<T>(),
                     /*accumulate=*/false);
  }
  // The kernel's own bias gradient would be a sum over x, which is its output. The gradient of this
  // layer's bias is the sum of du over the block to which the bias was added.
  void adjointW(const LocalArray& x, const LocalArray& du, LocalArray& dw,
                LocalArray& db) override {
    kernel_->adjointWeights(du.data<T>(), x.data<T>(), dw.mutableData<T>(), nullptr);
    if (db)
      blockMultiplyAdd<T>(du.context(), rank_, biasExtent_.data(), T(1), nullptr, nullptr,
                          du.data<T>() + biasOffset_, biasStrides_.data(), db.mutableData<T>(),
                          kChannelStrides.data());
  }
  void fill(const LocalArray& b, LocalArray& u) override {
    setZero(u);
    if (b)
      addBiasTo(u, b);
  }

  void addBiasTo(LocalArray& u, const LocalArray& b) const {
    blockMultiplyAdd<T>(u.context(), rank_, biasExtent_.data(), T(1), nullptr, nullptr, b.data<T>(),
                        kChannelStrides.data(), u.mutableData<T>() + biasOffset_,
                        biasStrides_.data());
  }
  // The adjoint of the convolution overwrites its result, so adding it needs a separate array. Only
  // tangents use this.
  void addProduct(const LocalArray& x, const LocalArray& w, LocalArray& u) {
    const Index bytes = elementsOfU_ * static_cast<Index>(sizeof(T));
    if (contribution_.bytes() < bytes)
      contribution_ = Buffer(bytes, "tangent of a transposed convolution", u.context().memory());
    const Index one = 1;
    kernel_->adjointData(w.data<T>(), x.data<T>(), contribution_.data<T>());
    blockMultiplyAdd<T>(u.context(), 1, &elementsOfU_, T(1), nullptr, nullptr,
                        contribution_.data<T>(), &one, u.mutableData<T>(), &one);
  }

  std::unique_ptr<Convolution<T>> kernel_;
  Index elementsOfU_;
  Index biasOffset_ = 0;                 // in u, of the block to which the bias is added
  int rank_;                             // number of dimensions of u
  Strides biasExtent_{}, biasStrides_{}; // of that block
  Buffer contribution_;                  // for tangents, allocated on first use
};

class TransposedConvolution final : public GroupedWindowed {
public:
  TransposedConvolution() : GroupedWindowed("transposedconv", kTransposedConvolutionSettings) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override;
  SignatureTable rows(const std::vector<Shape>& inputs) const override;
  Form form(const Layouts& inputs, const Choice& choice) const override;
  MapList maps(const Form& form, const Layouts& storage) const override;
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override;
  Work work(const Form& form, int position) const override;
  Example example(ExampleDraw& draw) const override;
  std::string summary() const override;

private:
  // The layout of the kernel's result: the output's, with a halo of contributions to be summed.
  Layout contributions(const Form& form) const;
  void check() const override;
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .appliesFunction = true,
            .gradients = Gradients::Separate};
  }
  void addParameters(const Layout& plain, Form& form) const override;
};

} // namespace

void TransposedConvolution::check() const {
  GroupedWindowed::check();
  if (!isSet(sizedBy()))
    return;
  const std::vector<Index> outputPadding = perDimension("output_padding", 0);
  const std::vector<Window> windowList = windows();
  for (std::size_t s = 0; s < windowList.size(); ++s) {
    if (outputPadding[s] >= std::max(windowList[s].stride, windowList[s].dilation))
      throw Error(TENON_ERR_ARG,
                  fmt::format("the output padding of {} in spatial dimension {} is {}; it must be "
                              "below the stride, {}, or the dilation, {}",
                              title(), s, outputPadding[s], windowList[s].stride,
                              windowList[s].dilation));
    // Results outside the domain are added back by the adjoint of the boundary mode, which does not
    // exist for values that the caller supplies.
    if (hasUserMode(windowList[s]))
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has boundary mode \"values\", but nothing is read beyond the "
                              "output of a transposed convolution; use none, zero, periodic, "
                              "reflect, replicate, symmetric, odd, odd_point, linked, pole or "
                              "pole_point",
                              title()));
  }
}

Shape TransposedConvolution::outputShape(const std::vector<Shape>& inputs) const {
  const Shape& x = inputs.front();
  const std::vector<Window> windowList = windows();
  const int spatial = spatialRankOf(x, title());
  if (spatial != spatialRank())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has shape [{}], but {} needs {} dimensions (batch, channel "
                            "and {} spatial)",
                            fmt::join(x, ","), title(), spatialRank() + kFirstSpatial,
                            spatialRank()));
  const std::vector<Index> outputPadding = perDimension("output_padding", 0);
  Shape shape = {x[0], integer("out_channels")};
  for (int s = 0; s < spatial; ++s) {
    const Index in = x[s + kFirstSpatial];
    const Window& window = windowList[s];
    // out = (in - 1) stride + reach - padding + output padding
    constexpr const char* kWhat = "the extent of the output of a transposed convolution";
    const Index span =
        checkedSum(checkedProduct(in - 1, window.stride, kWhat), window.reach(), kWhat);
    const Index out = checkedSum(
        checkedDifference(checkedDifference(span, window.padLow, kWhat), window.padHigh, kWhat),
        outputPadding[s], kWhat);
    if (in < 1 || out < 1)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the input of {} has extent {} in spatial dimension {}, which gives an "
                      "output of {} with padding {} + {}; use a larger input or less padding",
                      title(), in, s, out, window.padLow, window.padHigh));
    shape.push_back(out);
  }
  checkBoundaryShape(shape);
  return shape;
}

SignatureTable TransposedConvolution::rows(const std::vector<Shape>&) const {
  return rowsOf({.output = 1, .input = 0});
}

Form TransposedConvolution::form(const Layouts& inputs, const Choice& choice) const {
  const Layout& input = inputs.front();
  const Shape shape = outputShape({input.shape()});
  checkInput(input, choice.labels);
  const GridPtr grid = choice.grid ? choice.grid : input.gridPtr();
  const Signature signature =
      Signature::choose(rows({input.shape()}), input, grid, choice.labels, title());
  const Layout plain = plainLayout(input, grid, signature.input());
  LayoutSpec spec{.shape = shape, .grid = grid, .properties = signature.output().properties};
  spec.splitAxes.resize(shape.size());
  spec.cuts.resize(shape.size());
  const auto follow = [&](int d, std::vector<Index> cuts) {
    spec.splitAxes[d] = plain.splitAxes(d);
    spec.cuts[d] = std::move(cuts);
  };
  follow(0, plain.cuts(0));
  if (groups() > 1)
    follow(1, channelCuts(plain));
  const std::vector<Window> windowList = windows();
  for (int d = kFirstSpatial; d < plain.ndim(); ++d) {
    std::vector<Index> cuts;
    for (Index cut : plain.cuts(d))
      cuts.push_back(cutOfOutput(windowList[d - kFirstSpatial], cut, shape[d]));
    // The first and last block include elements past all window centres, such as output padding.
    cuts.front() = 0;
    cuts.back() = shape[d];
    // A dimension without split points is balanced.
    follow(d, outputCuts(choice) == OutputCuts::Balanced ? std::vector<Index>() : std::move(cuts));
  }
  Form form{
      .signature = signature, .inputs = inputs, .uses = {plain}, .output = Layout(std::move(spec))};
  if (auto links = linksOf(shape, input.shape()); links && contributions(form).hasLinkedHalos())
    form.links = std::move(links);
  addParameters(plain, form);
  return form;
}

// Each block has all elements that it owns, even those that its inputs do not reach because the
// kernel adds the bias to them, and further elements that its inputs reach.
Layout TransposedConvolution::contributions(const Form& form) const {
  const Layout &plain = form.uses.front(), &output = form.output;
  LayoutSpec spec = output.spec();
  const std::vector<Window> windowList = windows();
  for (int d = kFirstSpatial; d < output.ndim(); ++d) {
    const Window& window = windowList[d - kFirstSpatial];
    Halo halo = haloOf(window, output.shape()[kChannelDim]);
    halo.isPartial = true;
    bool isNeeded = false;
    for (int part = 0; part < output.parts(d); ++part) {
      const Interval owned = output.owned(d, part);
      Interval box = windowBox(window, output.shape()[d], plain.owned(d, part));
      if (box.empty())
        box = owned;
      else if (!owned.empty())
        box = {std::min(box.begin, owned.begin), std::max(box.end, owned.end)};
      isNeeded |= !(box == owned);
      halo.boxes.push_back(box);
    }
    if (isNeeded)
      spec.halos[d] = std::move(halo);
  }
  return Layout(std::move(spec));
}

MapList TransposedConvolution::maps(const Form& form, const Layouts& storage) const {
  MapList list;
  const ValueId x = list.input("x", form.inputs.front());
  const ValueId output = list.output("y", form.output);
  KernelEntry entry = kernel(form);
  addParameterSources(list, form, storage, entry);
  const ValueId use = addUse(list, x, "u", form.uses.front(), /*anyStrides=*/false);
  const Layout sums = contributions(form);
  // Without a halo there is nothing to sum, and the kernel writes the output directly.
  if (sums == form.output) {
    const ValueId y = list.stagedOutput();
    list.run(std::move(entry), {use}, y);
    list.unstage(y);
    return list;
  }
  const ValueId a = list.value("a", sums);
  list.run(std::move(entry), {use}, a);
  if (form.links)
    list.applyLinks(*form.links, /*transposed=*/true, a, output);
  else
    list.apply(OperatorKind::Conversion, a, output);
  return list;
}

void TransposedConvolution::addParameters(const Layout& plain, Form& form) const {
  Shape shape = {integer("in_channels"), outOfGroup()};
  std::vector<CutSource> cuts = {{&plain, 1}, {&form.output, 1}};
  for (const Window& window : windows()) {
    shape.push_back(window.kernel);
    cuts.push_back({});
  }
  const GridPtr& grid = plain.gridPtr();
  const Signature& signature = form.signature;
  form.parameters.push_back({.name = "weight",
                             .use = makeLayout(shape, grid, signature.parameter(0), cuts),
                             .fanIn = inOfGroup() * taps(),
                             .fanOut = outOfGroup() * taps()});
  if (flag("bias"))
    form.parameters.push_back({.name = "bias",
                               .use = makeLayout({integer("out_channels")}, grid,
                                                 signature.parameter(1), {{&form.output, 1}})});
}

Work TransposedConvolution::work(const Form& form, int position) const {
  const Box in = form.uses[0].box(position), out = form.output.box(position);
  // An input contributes only to the outputs of its group.
  const Index channels = groups() > 1 ? outOfGroup() : out[1].size();
  const double flops = 2.0 * double(elements(in)) * double(channels) * double(taps());
  return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
}

// u is the output of the layer with its halo of contributions, and the data of the convolution.
std::unique_ptr<ArrayKernel> TransposedConvolution::makeKernel(const KernelPlace& at) const {
  const Box x = at.input(), u = contributions(at.form).boxOfRank(at.rank);
  const Index inputGroups = groups() > 1 ? x[1].size() / inOfGroup() : 1;
  const ConvolutionShape shape{.batch = x[0].size(),
                               .inChannels = u[1].size(),
                               .outChannels = x[1].size(),
                               .window = localWindow(windows(), at.form.output.shape(), u, x),
                               .groups = std::max<Index>(1, inputGroups)};
  return makeTyped<LocalTransposedConvolution>(at.type, shape, u, at.outputs(), at.backend,
                                               at.context);
}

std::string TransposedConvolution::summary() const {
  const std::vector<Index> outputPadding = perDimension("output_padding", 0);
  const bool adds = std::ranges::any_of(outputPadding, [](Index m) { return m > 0; });
  return fmt::format("{}{}{}", channelText(),
                     adds ? fmt::format(", output padding {}", fmt::join(outputPadding, "x")) : "",
                     flag("bias") ? "" : ", no bias");
}

Example TransposedConvolution::example(ExampleDraw& draw) const {
  const int dims = draw.of({1, 1, 2, 2, 3});
  const Index groups = draw.of<Index>({1, 1, 2}), inputs = groups * draw.between(1, 2),
              outputs = groups * draw.between(1, 2);
  std::vector<Index> kernel, stride, dilation, low, high, outputPadding;
  std::vector<std::string> boundary;
  Shape input = {draw.between(1, 3), inputs};
  for (int d = 0; d < dims; ++d) {
    kernel.push_back(draw.between(1, dims == 3 ? 3 : 4));
    stride.push_back(draw.of<Index>({1, 2, 2, 3}));
    dilation.push_back(draw.of<Index>({1, 1, 2}));
    const Index reach = (kernel[d] - 1) * dilation[d];
    low.push_back(draw.between(0, reach));
    high.push_back(draw.between(0, reach));
    outputPadding.push_back(draw.between(0, std::max(stride[d], dilation[d]) - 1));
    boundary.push_back(draw.of({"none", "none", "zero", "periodic", "reflect/replicate",
                                "replicate/reflect", "odd", "symmetric/odd_point"}));
    // The smallest extent whose output is not empty.
    const Index minExtent =
        1 + std::max<Index>(0, low[d] + high[d] - reach + stride[d] - 1) / stride[d];
    input.push_back(draw.between(minExtent, minExtent + (dims == 1 ? 6 : 3)));
  }
  Shape field = input; // of the output
  for (int d = 0; d < dims; ++d)
    field[d + kFirstSpatial] = (input[d + kFirstSpatial] - 1) * stride[d] +
                               (kernel[d] - 1) * dilation[d] + 1 - low[d] - high[d] +
                               outputPadding[d];
  const Shape drawn = field;
  const std::optional<int> longitudes = drawPoles(draw, boundary, field);
  // Less padding for an even number of longitudes, and rows at both poles.
  for (int d = 0; d < dims; ++d)
    low[d] -= field[d + kFirstSpatial] - drawn[d + kFirstSpatial];
  return {{{"kernel", kernel},
           {"stride", stride},
           {"dilation", dilation},
           {"padding", low},
           {"padding_high", high},
           {"output_padding", outputPadding},
           {"boundary", joined(boundary, ",") + (!longitudes && draw.chance(25) ? ";0=odd" : "")},
           {"output_cuts", draw.of({"follow", "follow", "balanced"})},
           {"in_channels", inputs},
           {"out_channels", outputs},
           {"groups", groups},
           {"bias", draw.chance(70)}},
          {input}};
}

std::unique_ptr<Declaration> declareTransposedConvolution() {
  return std::make_unique<TransposedConvolution>();
}

} // namespace tenon
