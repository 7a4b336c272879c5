// SPDX-License-Identifier: BSD-2-Clause
// Tests plans of imported networks (models exported from PyTorch). Outputs and input cotangents
// must be those that PyTorch has computed, which are stored beside each model, for a searched plan,
// a loaded plan, and a plan with fixed layouts of input and output.
#include "plan/layer_plan.hpp"

#include "import/arrays.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/network.hpp"

#include <cstdio>

namespace tenon {
namespace {

using test::Arrays;
using test::world;

constexpr const char* kModels[] = {"gz_circular", "column_normalised", "squeeze_excite"};

Ref<Layer> modelNamed(const std::string& name) {
  const Ref<Layer> model = makeModel(world());
  model->set("path", TENON_TEST_MODELS "/" + name + ".f64.pt2");
  model->setDataType(TENON_FLOAT64);
  readModel(*model);
  return model;
}

class ModelPlan : public testing::TestWithParam<const char*> {
protected:
  ModelPlan() : arrays_(TENON_TEST_MODELS "/" + std::string(GetParam()) + ".npz") {}

  Ref<LayerPlan> plan() const {
    const Shape shape = arrays_.find("in.x")->shape;
    const Ref<LayerPlan> made = makeRef<LayerPlan>(modelNamed(GetParam()), shape[0]);
    made->set("input_shape", Shape(shape.begin() + 1, shape.end()));
    return made;
  }
  void expectPyTorchsResults(const LayerPlan& plan) const {
    Layer& layer = plan.layer();
    const Layout &from = plan.inputLayout(), to = layer.outputLayout();
    const Ref<DTensor> x = test::tensor(from), y = test::tensor(to), dx = test::tensor(from.dual()),
                       dy = test::tensor(to.dual());
    test::fillWith(*x, arrays_, "in.x");
    test::fillWith(*dy, arrays_, "cot.y");
    layer.apply(*x, *y);
    layer.applyAdjoint(*dy, dx.get());
    EXPECT_LT(test::distance(test::gathered(*y), arrays_.numbers(*arrays_.find("out.y"))), 1e-11);
    EXPECT_LT(test::distance(test::gathered(*dx), arrays_.numbers(*arrays_.find("grad.x"))), 1e-11);
  }

  Arrays arrays_;
};

TEST_P(ModelPlan, FromAFileIsThePlanThatWasSaved) {
  const std::string path = fmt::format("model_plan.{}.{}.json", GetParam(), world()->size());
  const Ref<LayerPlan> made = plan(), loaded = plan();
  made->setUp();
  expectPyTorchsResults(*made);
  made->save(path);
  loaded->load(path);
  loaded->setUp();
  expectPyTorchsResults(*loaded);
  EXPECT_FALSE(made->found().layers.empty());
  for (const PlannedLayer& layer : made->found().layers)
    EXPECT_EQ(loaded->layerNamed(layer.name).labels, layer.labels) << layer.name;
  EXPECT_EQ(loaded->layer().outputLayout(), made->layer().outputLayout());
  MPI_Barrier(world()->mpi());
  if (world()->rank() == 0)
    std::remove(path.c_str());
}

// The graph that a plan puts around the network for a fixed output layout does not change the
// weights.
TEST_P(ModelPlan, HasItsWeightsBetweenPinnedEnds) {
  const Ref<LayerPlan> pinned = plan();
  pinned->setInput(test::onWorld(arrays_.find("in.x")->shape, "B"));
  pinned->setOutput(test::onWorld(arrays_.find("out.y")->shape, "S1"));
  pinned->setUp();
  EXPECT_EQ(pinned->layer().outputLayout(), test::onWorld(arrays_.find("out.y")->shape, "S1"));
  expectPyTorchsResults(*pinned);
}

INSTANTIATE_TEST_SUITE_P(Networks, ModelPlan, testing::ValuesIn(kModels),
                         [](const auto& of) { return of.param; });

TEST(PlanOfModels, AreOfOneModelAlone) {
  const Ref<Layer> network = makeLayer(world(), "sequential");
  appendLayer(*network, modelNamed("gz_circular"));
  const Ref<LayerPlan> plan = makeRef<LayerPlan>(network, 1);
  plan->set("input_shape", Shape{2, 12, 8});
  expectError(TENON_ERR_SUPPORT, {"plan the model by itself"}, [&] { plan->search(); });
  const Ref<Layer> unread = makeModel(world());
  const Ref<LayerPlan> early = makeRef<LayerPlan>(unread, 1);
  early->set("input_shape", Shape{2, 12, 8});
  expectError(TENON_ERR_STATE, {"has not read its file", "TenonLayerCreateFromModel()"},
              [&] { early->search(); });
}

} // namespace
} // namespace tenon
