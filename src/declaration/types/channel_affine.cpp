// SPDX-License-Identifier: BSD-2-Clause
// Declares two elementwise types with parameters per channel:
//
//   channelaffine   y[n,c,s] = scale[c] x[n,c,s] + shift[c]
//   prelu           y = x for x > 0, else weight[c] x
//
// No kernel needs a message: each rank has the parameters of the channels that it stores.
//
// Labels of the rows: n (the axis splits the batch), c (channels, and with them the parameters),
// S2, S3, ... (space), B (replicates all), R (holds all on its root only). channelaffine also has
// P: x is a partial sum and its contributions are scaled, but only the root of the axis has the
// shift, which is added once. declareChannelAffine() and declarePRelu() are declared in
// core/types.hpp.
#include "declaration/core/channel_table.hpp"
#include "declaration/core/elementwise.hpp"
#include "declaration/core/kernel_maps.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/pointwise.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kChannelSettings[] = {
    {"channels", OptionSpec::Int, nullptr, "number of channels", nullptr, atLeast(1)}};

// Base of elementwise functions with parameters per channel.
class OfChannels : public Elementwise {
public:
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& x = inputs.front();
    if (x.size() < 2 || x[1] != integer("channels"))
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1},...]", title(),
                              integer("channels"), fmt::join(x, ",")));
    return x;
  }
  std::string summary() const override { return fmt::format("{} channels", integer("channels")); }
  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 4);
    return {{{"channels", shape[1]}}, {shape}};
  }

protected:
  explicit OfChannels(const char* type) : Elementwise(type, kChannelSettings) {}
};

// Works on this rank's arrays, viewed as [batch, channel, elements of space]. An array with one
// number per channel is read with stride 0 along the other two dimensions. In the terms of the base
// class, the scale is the factor w and the shift is the bias b.
template <class T>
class LocalChannelAffine final : public BilinearKernel {
public:
  explicit LocalChannelAffine(const Box& box)
      : BilinearKernel(2.0 * double(elements(box))), extent_{box[0].size(), box[1].size(), 1} {
    for (std::size_t d = 2; d < box.size(); ++d)
      extent_[2] *= box[d].size();
    elements_ = {extent_[1] * extent_[2], extent_[2], 1};
  }

  std::string describe() const override { return "each channel for itself"; }

private:
  using Steps = std::array<Index, 3>;
  static constexpr Steps kChannelStrides = {0, 1, 0}; // of an array with one number per channel

  void product(const LocalArray& x, const LocalArray& scale, const LocalArray& shift, bool adds,
               LocalArray& y) override {
    if (!adds)
      fill(shift, y);
    addScaled(scale, x, y);
  }
  void adjointX(const LocalArray& scale, const LocalArray& dy, LocalArray& dx) override {
    setZero(dx);
    addScaled(scale, dy, dx);
  }
  // Gradient of the scale: sum of dy x per channel. Gradient of the shift: sum of dy (a null factor
  // counts as 1).
  void adjointW(const LocalArray& x, const LocalArray& dy, LocalArray& dScale,
                LocalArray& dShift) override {
    const auto add = [&](const T* factor, LocalArray& gradient) {
      blockMultiplyAdd<T>(dy.context(), 3, extent_.data(), 1, factor, elements_.data(),
                          dy.data<T>(), elements_.data(), gradient.mutableData<T>(),
                          kChannelStrides.data());
    };
    add(x.data<T>(), dScale);
    if (dShift)
      add(nullptr, dShift);
  }
  void fill(const LocalArray& shift, LocalArray& y) override {
    if (!shift)
      return setZero(y);
    blockCombine(y.context(), Combine::Copy, 3, extent_.data(), shift.data<T>(),
                 kChannelStrides.data(), y.mutableData<T>(), elements_.data());
  }
  // y += scale x
  void addScaled(const LocalArray& scale, const LocalArray& x, LocalArray& y) const {
    blockMultiplyAdd<T>(y.context(), 3, extent_.data(), 1, scale.data<T>(), kChannelStrides.data(),
                        x.data<T>(), elements_.data(), y.mutableData<T>(), elements_.data());
  }

  Steps extent_, elements_; // of the box, and strides of its arrays
};

class ChannelAffine final : public OfChannels {
public:
  ChannelAffine() : OfChannels("channelaffine") {}

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = channelTable(static_cast<int>(inputs.front().size()));
    const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
    table.push_back({"P", P, {B, R}, P}); // label, x, {scale, shift}, y
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    const Layout& use = form.uses.front();
    for (const auto& [index, name] : {std::pair(0, "scale"), {1, "shift"}})
      form.parameters.push_back({.name = name,
                                 .use = makeLayout({shape[1]}, use.gridPtr(),
                                                   form.signature.parameter(index), {{&use, 1}}),
                                 .initial = index == 0 ? 1.0 : 0.0});
    return form;
  }

  // One multiplication and one addition per element, in Apply and in both adjoints.
  Work work(const Form& form, int position) const override {
    const double flops = 2.0 * double(elements(form.uses[0].box(position)));
    return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
  }
  KernelEntry kernel(const Form&) const override {
    return {.name = type(), .savesInputs = true, .gradients = Gradients::Separate};
  }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalChannelAffine>(at.type, at.outputs());
  }

private:
  bool isLinear() const override { return true; }
};

} // namespace

std::unique_ptr<Declaration> declareChannelAffine() {
  return std::make_unique<ChannelAffine>();
}

// PReLU, a rectifier with one slope per channel (He et al. 2015). It is computed as y = max(x, 0) +
// weight[c] min(x, 0), the sum of two values `above` and `scaled`. The type leakyrelu
// (pointwise.cpp) is the same with a single slope.

namespace {

class PRelu final : public OfChannels {
public:
  PRelu() : OfChannels("prelu") {}

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    SignatureTable table = channelTable(static_cast<int>(inputs.front().size()));
    for (SignatureRow& row : table)
      row.parameters.pop_back(); // the table is for two parameters per channel
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = Elementwise::form(inputs, choice);
    const Layout& use = form.uses.front();
    form.parameters.push_back(
        {.name = "weight",
         .use = makeLayout({shape[1]}, use.gridPtr(), form.signature.parameter(0), {{&use, 1}}),
         .initial = 0.25});
    return form;
  }

  MapList maps(const Form& form, const Layouts& storage) const override {
    MapList list;
    const Layout& use = form.uses.front();
    const ValueId x = list.input("x", form.inputs.front()), output = list.output("y", form.output);
    KernelEntry slope{.name = "slope", .savesInputs = true, .gradients = Gradients::Separate};
    addParameterSources(list, form, storage, slope);
    const ValueId u = addUse(list, x, "u", use, /*anyStrides=*/false);
    const ValueId above = list.value("above", use), below = list.value("below", use),
                  scaled = list.value("scaled", use);
    list.run({.name = "above", .savesOutput = true}, {u}, above);
    list.run({.name = "below", .savesInputs = true}, {u}, below);
    list.run(std::move(slope), {below}, scaled);
    // Two maps that write one value add up.
    list.apply(OperatorKind::Conversion, above, output);
    list.apply(OperatorKind::Conversion, scaled, output);
    return list;
  }
  // The slope is a channel affine without a shift.
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    if (at.name() == "slope")
      return makeTyped<LocalChannelAffine>(at.type, at.outputs());
    if (at.name() == "above")
      return makePointwise(at.type, Pointwise::Relu);
    return makePointwise(at.type, Pointwise::NegativePart);
  }

  Work work(const Form& form, int position) const override {
    const double flops = 2.0 * double(elements(form.uses[0].box(position)));
    return {.forward = flops, .adjoint = flops, .adjointParameters = flops};
  }

private:
  bool isLinear() const override { return false; }
};

} // namespace

std::unique_ptr<Declaration> declarePRelu() {
  return std::make_unique<PRelu>();
}

} // namespace tenon
