// SPDX-License-Identifier: BSD-2-Clause
// Declares the column MLP, a multilayer perceptron over the channels of each point, such as a
// closure of a solver's columns of cells:
//
//   h_0 = x[n,:,s],  h_l+1 = f(W_l h_l + b_l),  y[n,:,s] = W_last h_last + b_last
//
// The whole perceptron is one layer and one kernel (layer/types/column_mlp.cpp), which keeps the
// hidden layers of a block of points in cache. This file has its settings, the layouts of x, y and
// the parameters on all ranks, and the operation counts by which a plan predicts times.
//
// Labels, which state what an axis of the process grid does to x and y: n (splits the batch), S2,
// S3, ... (space), B (replicates them), R (holds them on its root only). Channels are not split,
// since that would need a sum over ranks in every hidden layer. The weights are small and are
// replicated (on the root with R).
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kColumnMlpSettings[] = {
    {"widths", OptionSpec::Ints, nullptr,
     "numbers of channels: of the input, of each hidden layer, of the output", nullptr, atLeast(1)},
    {"activation", OptionSpec::Choice, "tanh", "function of the hidden layers",
     "relu|tanh|sigmoid|gelu|gelutanh|silu|softplus|exp|sine|identity"},
    {"bias", OptionSpec::Flag, "true", "whether biases are added"},
};

class ColumnMlpDeclaration final : public Declaration {
public:
  ColumnMlpDeclaration() : Declaration("columnmlp", kColumnMlpSettings) {}
  // A function of single points gives the same values on the patches of a multi-block grid as on
  // the joined field, and can be evaluated in ghost cells as well.
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  std::string computedHaloObstacle() const override { return {}; }

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    Shape shape = inputs.front();
    const std::vector<Index> widths = value<std::vector<Index>>("widths");
    if (shape.size() < 2 || shape[1] != widths.front())
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{2}], but {0} needs [batch,{1},...]", title(),
                              widths.front(), fmt::join(shape, ",")));
    shape[1] = widths.back();
    return shape;
  }

  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    const Property B = Property::broadcast(), R = Property::root();
    const std::size_t parameters = parameterShapes().size();
    SignatureTable table;
    for (int d = 0; d < static_cast<int>(inputs.front().size()); ++d) {
      const Property S = Property::shard(d);
      if (d != kChannelDim)
        table.push_back({d == 0 ? "n" : S.describe(), S, Properties(parameters, B), S});
    }
    table.push_back({"B", B, Properties(parameters, B), B});
    table.push_back({"R", R, Properties(parameters, R), R});
    return table;
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    const Shape shape = outputShape({inputs.front().shape()});
    Form form = formLikeInput(inputs, choice);
    const Signature& signature = form.signature;
    const Layout& use = form.uses.front();
    const GridPtr grid = use.gridPtr();
    std::vector<CutSource> cuts;
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      cuts.push_back({&use, d});
    // Output and input have different channels, and neither is split.
    cuts[kChannelDim] = {};
    form.output = makeLayout(shape, grid, signature.output(), cuts);
    if (choice.computedHalo)
      form.output = withHalosOf(*choice.computedHalo, form.output);
    int number = 0; // of the parameter, in the order weight0, bias0, weight1, ...
    for (const Shape& parameterShape : parameterShapes()) {
      const bool isWeight = parameterShape.size() == 2;
      const std::string name =
          fmt::format("{}{}", isWeight ? "weight" : "bias", number / (flag("bias") ? 2 : 1));
      form.parameters.push_back(
          {.name = name,
           .use = makeLayout(parameterShape, grid, signature.parameter(number++),
                             std::vector<CutSource>(parameterShape.size())),
           .fanIn = isWeight ? parameterShape[1] : 0,
           .fanOut = isWeight ? parameterShape[0] : 0});
    }
    return form;
  }

  // Operations of Apply, of the input's cotangent, and of the rest of the adjoint. Since one kernel
  // runs all layers and saves nothing between them, that rest includes computing the hidden layers
  // again, the backward sweep and the gradients.
  Work work(const Form& form, int position) const override {
    const std::vector<Index> widths = value<std::vector<Index>>("widths");
    const double points = double(elements(form.uses[0].box(position))) / double(widths.front());
    double forward = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l)
      forward += 2 * points * double(widths[l]) * double(widths[l + 1]);
    const auto last = widths.size() - 1;
    const double toInput = 2 * points * double(widths[0]) * double(widths[1]);
    const double output = 2 * points * double(widths[last - 1]) * double(widths[last]);
    return {.forward = forward,
            .adjoint = toInput,
            .adjointParameters = (forward - output) + (forward - toInput) + forward};
  }
  // RowWork::Each: the kernel works on each row of a matrix separately, and can be fused with the
  // gathering and summing of rows (core/row_fusion.cpp).
  KernelEntry kernel(const Form&) const override {
    return {.name = type(),
            .savesInputs = true,
            .anyStrides = true,
            .gradients = Gradients::Within,
            .rows = RowWork::Each};
  }

  std::string summary() const override {
    return fmt::format("{} channels, {}{}", fmt::join(value<std::vector<Index>>("widths"), " -> "),
                       text("activation"), flag("bias") ? "" : ", no bias");
  }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(2, 4);
    std::vector<Index> widths = {shape[1]};
    for (Index remaining = draw.between(1, 3); remaining > 0; --remaining)
      widths.push_back(draw.between(1, 9));
    const std::string activation =
        draw.of<const char*>({"tanh", "sigmoid", "gelu", "silu", "softplus", "sine"});
    return {{{"widths", widths}, {"activation", activation}, {"bias", draw.chance(70)}}, {shape}};
  }

private:
  void check() const override {
    if (isSet("widths") && value<std::vector<Index>>("widths").size() < 2)
      throw Error(TENON_ERR_ARG,
                  fmt::format("the setting 'widths' of {} has one number; it needs that of the "
                              "input and that of the output at least",
                              title()));
  }
  // The shapes of the parameters, layer by layer: weights [out,in] and biases [out].
  std::vector<Shape> parameterShapes() const {
    const std::vector<Index> widths = value<std::vector<Index>>("widths");
    std::vector<Shape> shapes;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      shapes.push_back({widths[l + 1], widths[l]});
      if (flag("bias"))
        shapes.push_back({widths[l + 1]});
    }
    return shapes;
  }
};

} // namespace

std::unique_ptr<Declaration> declareColumnMlp() {
  return std::make_unique<ColumnMlpDeclaration>();
}

} // namespace tenon
