// SPDX-License-Identifier: BSD-2-Clause
// A network whose kernels apply the function that follows them (an epilogue, such as a rectifier)
// in the same step, compared bit by bit with its layers one after the other, in Apply and in
// derivatives.
#include "layer_run.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <functional>

namespace tenon {
namespace {

using test::localCells;
using test::onWorld;
using test::tensor;
using test::world;

struct Case {
  const char* name;
  std::function<Ref<Layer>()> make; // the layer before the function
  std::vector<std::string> functions;
  Layout input;
  bool sums = false; // whether the result is a sum of contributions of several ranks
};

// Layers of each kind that can apply the function that follows them.
std::vector<Case> cases() {
  const std::vector<Window> windows(2, {.kernel = 3, .padLow = 1, .padHigh = 1});
  const auto conv = [=] { return test::newConv(world(), 3, 4, windows); };
  const auto inPieces = [=] {
    const Ref<Layer> layer = conv();
    layer->setText("overlap", "on");
    return layer;
  };
  const auto transposed = [] {
    const Ref<Layer> layer = test::newLayer(world(), "transposedconv");
    layer->set("in_channels", 3);
    layer->set("out_channels", 2);
    test::setWindows(*layer, std::vector<Window>(2, {.kernel = 2, .stride = 2}));
    return layer;
  };
  const auto batch = [] {
    const Ref<Layer> layer = test::newLayer(world(), "batchnorm");
    layer->set("channels", 3);
    return layer;
  };
  const Index rows = 3 * world()->size() + 1;
  const std::vector<std::string> functions{"relu", "tanh", "gelu", "leakyrelu", "scale"};
  return {{"of rows with halos", conv, functions, onWorld({2, 3, rows, 5}, "S2")},
          {"of rows in pieces", inPieces, functions, onWorld({2, 3, rows, 5}, "S2")},
          {"of columns in pieces", inPieces, functions, onWorld({2, 3, 5, rows}, "S3")},
          {"of samples", conv, functions, onWorld({rows, 3, 6, 5}, "S0")},
          {"of channels", conv, {"relu"}, onWorld({2, 3, 6, 5}, "S1"), true},
          {"transposed", transposed, functions, onWorld({2, 3, rows, 5}, "S2")},
          {"of batches", batch, functions, onWorld({rows, 3, 4, 5}, "S0")},
          {"of batches of rows", batch, functions, onWorld({2, 3, rows, 5}, "S2")},
          {"affine", [] { return test::newAffine(world(), 6, 5); }, functions,
           onWorld({rows, 6}, "S0")}};
}

struct Results {
  std::vector<std::vector<double>> values;
  bool operator==(const Results&) const = default;
};

// A layer and a function: as a network of both (ofNetwork), and one after the other (ofLayers).
class Chain {
public:
  Chain(const Case& c, const std::string& function)
      : first_(c.make()), second_(test::newPointwise(world(), function)), input_(c.input) {
    appendLayer(*network_, first_);
    appendLayer(*network_, second_);
    network_->setDataType(TENON_FLOAT64);
    network_->setUp(input_);
    test::fillParameters(*network_);
    first_->setUp(input_);
    between_ = first_->outputLayout(input_);
    second_->setUp(between_);
    x_ = tensor(input_);
    dz_ = tensor(second_->outputLayout(between_).dual());
    test::fillValid(*x_, 1);
    test::fillValid(*dz_, 2);
  }

  Results ofNetwork(bool trains) {
    const auto z = tensor(dz_->layout().dual()), dx = tensor(input_.dual());
    network_->setRecording(trains);
    network_->zeroGradients();
    network_->apply(*x_, *z);
    if (!trains)
      return {{localCells(*z)}};
    network_->applyAdjoint(*dz_, dx.get());
    return {{localCells(*z), localCells(*dx), gradient()}};
  }
  Results ofLayers() {
    const auto v = tensor(between_), dv = tensor(between_.dual()), z = tensor(dz_->layout().dual()),
               dx = tensor(input_.dual());
    network_->zeroGradients();
    first_->apply(*x_, *v);
    second_->apply(*v, *z);
    second_->applyAdjoint(*dz_, dv.get());
    first_->applyAdjoint(*dv, dx.get());
    return {{localCells(*z), localCells(*dx), gradient()}};
  }
  // Whether the view shows that Apply in training runs the layer and the function in one step.
  bool isOneStep() const {
    options().set("-tenon_view_detail", "true");
    const std::string text = network_->describe();
    options().set("-tenon_view_detail", "false");
    return text.find(fmt::format("{} then {}", first_->type(), second_->type())) !=
           std::string::npos;
  }

private:
  std::vector<double> gradient() const {
    return localCells(first_->parameters().front()->direction());
  }

  Ref<Layer> network_ = test::newLayer(world(), "sequential"), first_, second_;
  Layout input_, between_ = onWorld({1}, "B");
  Ref<DTensor> x_, dz_;
};

TEST(Epilogues, GiveTheBitsOfTheLayersOneAfterTheOther) {
  for (const Case& c : cases())
    for (const std::string& function : c.functions) {
      Chain chain(c, function);
      // With other functions, derivatives read the value between the two layers; and contributions
      // of several ranks must be summed before the function.
      const bool isKnown = function == "relu" || function == "tanh" || function == "scale";
      EXPECT_EQ(chain.isOneStep(), isKnown && !(c.sums && world()->size() > 1))
          << c.name << ", " << function;
      const Results want = chain.ofLayers();
      EXPECT_EQ(chain.ofNetwork(true), want) << c.name << ", " << function;
      EXPECT_EQ(chain.ofNetwork(false).values[0], want.values[0]) << c.name << ", " << function;
    }
}

} // namespace
} // namespace tenon
