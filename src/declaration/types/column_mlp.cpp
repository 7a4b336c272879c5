// SPDX-License-Identifier: BSD-2-Clause
// Declares the column MLP, a multilayer perceptron over the channels of each point, such as a
// closure of a solver's columns of cells:
//
//   h_0 = x[n,:,s],  h_l+1 = f(W_l h_l + b_l),  y[n,:,s] = W_last h_last + b_last
//
// The whole perceptron is one layer and one kernel (kernels/products/column_mlp.hpp), which keeps
// the hidden layers of a block of points in cache, on arrays with any strides. It stores a packed
// copy of the weights, which is updated only when the weights have changed.
//
// Labels, which state what an axis of the process grid does to x and y: n (splits the batch), S2,
// S3, ... (space), B (replicates them), R (holds them on its root only). Channels are not split,
// since that would need a sum over ranks in every hidden layer. The weights are small and are
// replicated (on the root with R).
#include "kernels/products/column_mlp.hpp"
#include "declaration/core/types.hpp"
#include "declaration/core/window_layout.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "declaration/types/pointwise.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

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

// The box of the points: all dimensions of x [batch, channels, space...] except the channels.
PointBox boxOf(const LocalArray& x) {
  PointBox box;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != kChannelDim)
      box.extent[box.rank++] = x.extent()[d];
  return box;
}

// An array, which can be strided, as points and channels.
template <class T>
PointArray<T> pointsOf(T* first, const LocalArray& x) {
  if (!x)
    return {};
  PointArray<T> array{.first = first, .strides = {}, .channel = x.strides()[kChannelDim]};
  int pointDim = 0;
  for (int d = 0; d < x.ndim(); ++d)
    if (d != kChannelDim)
      array.strides[pointDim++] = x.strides()[d];
  return array;
}

// Also called by the kernel that fuses the operations on the edges of a mesh
// (mesh/edge_network.cpp), for the rows of a block of edges.
template <class T>
class LocalColumnMlp final : public ArrayKernel {
public:
  LocalColumnMlp(const std::vector<Index>& widths, bool hasBiases,
                 const PointwiseFunction& function, const KernelContextPtr& context)
      : kernel_(widths, function, context), layers_(static_cast<int>(widths.size()) - 1),
        hasBiases_(hasBiases), space_(context->space()) {
    for (int l = 0; l < layers_; ++l)
      flops_.push_back(2.0 * double(widths[l] * widths[l + 1]));
  }

  void forward(Arrays x, KernelParameters p, LocalArray& y, Buffer*) override {
    updateWeights(p);
    const PointBox box = boxOf(x[0]);
    kernel_.forward(box, pointsOf(x[0].data<T>(), x[0]), pointsOf(y.mutableData<T>(), y));
    logFlops(double(box.count()) * allFlops());
  }
  void tangent(const SavedArrays& point, Arrays dx, KernelParameters p, LocalArray& dy) override {
    updateWeights(p);
    const LocalArray& x = point.inputs[0];
    tangents_.resize(layers_);
    for (int l = 0; l < layers_; ++l) {
      const KernelParameter &w = weights(p, l), *b = biases(p, l);
      tangents_[l] = {w.tangent.data<T>(), b ? b->tangent.data<T>() : nullptr};
    }
    kernel_.tangent(boxOf(dy), pointsOf(x.data<T>(), x), pointsOf(dx[0].data<T>(), dx[0]),
                    tangents_, pointsOf(dy.mutableData<T>(), dy));
  }
  void adjoint(const SavedArrays& point, const LocalArray& dy, KernelParameters p,
               WrittenArrays dx) override {
    updateWeights(p);
    const LocalArray& x = point.inputs[0];
    const PointBox box = boxOf(dy);
    gradients_.resize(layers_);
    for (int l = 0; l < layers_; ++l) {
      KernelParameter &w = weights(p, l), *b = biases(p, l);
      gradients_[l] = {w.gradient.mutableData<T>(), b ? b->gradient.mutableData<T>() : nullptr};
    }
    kernel_.adjoint(box, pointsOf(x.data<T>(), x), pointsOf(dy.data<T>(), dy),
                    pointsOf(dx[0].mutableData<T>(), dx[0]), gradients_);
    // Operations of the adjoint: the forward pass again up to the last hidden layer (its values are
    // not saved), the cotangents of the hidden layers, the gradients of all weights, and the
    // cotangent of the input if it is requested.
    const double forward = allFlops(), toInput = flops_.front();
    const double again = forward - flops_.back(), hidden = forward - toInput, weights = forward;
    logFlops(double(box.count()) * (again + hidden + weights + (dx[0] ? toInput : 0)));
  }
  std::string describe() const override {
    if (space_ == Space::Device)
      return kernel_.isFusedOnDevice() ? "fused over tiles of points" : "matrix products";
    return fmt::format("fused over blocks of points ({})", instructionSetName(instructionSet()));
  }

private:
  // The parameters of a layer in the list W0, b0, W1, b1, ... or, without biases, W0, W1, ...
  KernelParameter& weights(KernelParameters p, int layer) const {
    return p[hasBiases_ ? 2 * layer : layer];
  }
  KernelParameter* biases(KernelParameters p, int layer) const {
    return hasBiases_ ? &p[2 * layer + 1] : nullptr;
  }
  double allFlops() const { return std::accumulate(flops_.begin(), flops_.end(), 0.0); }
  // Passes weights that have changed to the kernel. A rank without points can be without weights,
  // and needs none.
  void updateWeights(KernelParameters p) {
    if (p.front().value.elements() == 0)
      return;
    packedStates_.resize(layers_);
    for (int l = 0; l < layers_; ++l) {
      const KernelParameter &w = weights(p, l), *b = biases(p, l);
      const States states = {w.state + 1, b ? b->state + 1 : 0};
      if (packedStates_[l] != states)
        kernel_.setLayer(l, {w.value.data<T>(), b ? b->value.data<T>() : nullptr});
      packedStates_[l] = states;
    }
  }

  using States = std::array<std::uint64_t, 2>; // of weights and biases
  ColumnMlp<T> kernel_;
  // Addresses of the parameters' tangents and gradients, one element per dense layer. They are set
  // in each call; the lists are members to avoid an allocation per call.
  std::vector<LayerNumbers<const T>> tangents_;
  std::vector<LayerNumbers<T>> gradients_;
  int layers_;
  bool hasBiases_;
  Space space_;
  std::vector<double> flops_;        // operations per point, by layer
  std::vector<States> packedStates_; // by layer: the states + 1 when it was packed; 0 before
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
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return makeTyped<LocalColumnMlp>(at.type, value<std::vector<Index>>("widths"), flag("bias"),
                                     pointwiseFunction(text("activation"), *this), at.context);
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
