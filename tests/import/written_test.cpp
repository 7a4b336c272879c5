// SPDX-License-Identifier: BSD-2-Clause
// Networks that `tenon import FILE -o NAME` has written (write_networks.sh): NAME.json is a network
// of Tenon's own, and NAME.safetensors has its weights. Their outputs and the gradients of their
// inputs must be those that PyTorch computed of the model (arrays.hpp), to 1e-11. The model's file
// is not read.
#include "import/arrays.hpp"
#include "layer/networks/network_file.hpp"
#include "layer/networks/path.hpp"
#include "layer/networks/state.hpp"
#include "layer/networks/weights.hpp"
#include "weights/assignment.hpp"

#include <set>

namespace tenon {
namespace {

using test::Arrays;
using test::distance;
using test::fillWith;
using test::world;

constexpr double kTolerance = 1e-11;

class WrittenNetwork {
public:
  WrittenNetwork(const std::string& name, const std::string& properties)
      : arrays_(TENON_TEST_MODELS "/" + name + ".npz"),
        layer_(readNetwork(world(), name + ".json")) {
    layer_->setDataType(TENON_FLOAT64);
    Layouts inputs;
    for (const std::string& input : arrays_.names("in."))
      inputs.push_back(test::onWorld(arrays_.find("in." + input)->shape, properties));
    layer_->setUp(inputs);
    loadWeights(*layer_, name + ".safetensors", "");
  }

  void expectPyTorchsResults() {
    std::vector<Ref<DTensor>> tensors;
    // Creates a tensor, filled with an array if one is named; `tensors` keeps it.
    const auto newTensor = [&](const Layout& layout, const std::string& filledWith = "") {
      tensors.push_back(test::tensor(layout));
      if (!filledWith.empty())
        fillWith(*tensors.back(), arrays_, filledWith);
      return tensors.back().get();
    };
    const std::vector<std::string> inputs = arrays_.names("in."), outputs = arrays_.names("out.");
    const Layouts from = layer_->inputLayouts(), to = layer_->outputLayouts();
    ASSERT_EQ(from.size(), inputs.size());
    ASSERT_EQ(to.size(), outputs.size());
    std::vector<const DTensor*> x, dy;
    std::vector<DTensor*> y, dx;
    for (std::size_t i = 0; i < from.size(); ++i) {
      x.push_back(newTensor(from[i], "in." + inputs[i]));
      dx.push_back(newTensor(from[i].dual()));
    }
    for (std::size_t i = 0; i < to.size(); ++i) {
      y.push_back(newTensor(to[i]));
      dy.push_back(newTensor(to[i].dual(), "cot." + outputs[i]));
    }
    layer_->apply(Inputs(x.data(), x.size()), Outputs(y.data(), y.size()));
    layer_->applyAdjoint(OutputCotangents(dy.data(), dy.size()),
                         InputCotangents(dx.data(), dx.size()));
    for (std::size_t i = 0; i < to.size(); ++i)
      expectEqual(*y[i], "out." + outputs[i]);
    for (std::size_t i = 0; i < from.size(); ++i)
      if (arrays_.find("grad." + inputs[i]))
        expectEqual(*dx[i], "grad." + inputs[i]);
  }

  // Returns the paths of the parameters that are trained.
  std::set<std::string> parameters() const {
    std::set<std::string> names;
    for (const NamedParameter& named : namedParameters(*layer_))
      if (!named.parameter->isFrozen())
        names.insert(named.path);
    return names;
  }
  const Arrays& arrays() const { return arrays_; }

private:
  void expectEqual(const DTensor& found, const std::string& array) const {
    EXPECT_LT(distance(test::gathered(found), arrays_.numbers(*arrays_.find(array))), kTolerance)
        << array;
  }

  Arrays arrays_;
  Ref<Layer> layer_;
};

struct WrittenCase {
  const char *name, *properties;
};

// The networks have: a periodic convolution, running statistics, a class token, layers that steps
// share, spectra, two inputs, a product with a gate, and two outputs.
class WrittenNetworks : public testing::TestWithParam<WrittenCase> {};

TEST_P(WrittenNetworks, GiveWhatPyTorchComputes) {
  WrittenNetwork(GetParam().name, GetParam().properties).expectPyTorchsResults();
}

INSTANTIATE_TEST_SUITE_P(
    Networks, WrittenNetworks,
    testing::Values(WrittenCase{"gz_circular", "S2"}, WrittenCase{"column_normalised", "S0"},
                    WrittenCase{"vit_cls", "S0"}, WrittenCase{"recurrent", "B"},
                    WrittenCase{"fno_core", "S2"}, WrittenCase{"masked", "S2"},
                    WrittenCase{"squeeze_excite", "S2"}, WrittenCase{"conv_lstm", "S2"}),
    [](const auto& info) { return info.param.name; });

// Trained parameters have PyTorch's names in files, so weights can be exchanged in both directions.
TEST(WrittenWeights, HaveThePathsOfPyTorchsNames) {
  const WrittenNetwork network("column_normalised", "S0");
  std::set<std::string> expected;
  for (const std::string& name : network.arrays().names("param."))
    expected.insert(name);
  std::set<std::string> found;
  for (const std::string& path : network.parameters())
    found.insert(nameInFile(path));
  EXPECT_EQ(found, expected);
}

} // namespace
} // namespace tenon
