// SPDX-License-Identifier: BSD-2-Clause
// Set-up of a layer: options, storage of parameters, initial weights, settings that containers pass
// on, and errors. Many tests let one rank alone fail, or have other settings, and expect an error
// on all ranks.
#include "layer_run.hpp"

#include "kernels/convolution/backends.hpp"
#include "sys/expect_error.hpp"
#include "sys/options/options.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::gathered;
using test::onWorld;
using test::tensor;
using test::world;

Layout batch() {
  return onWorld({8, 6}, "S0");
}

bool isLastRank() {
  return world()->rank() == world()->size() - 1;
}

Ref<Layer> affine() {
  auto layer = test::newAffine(world(), 6, 5);
  layer->setDataType(TENON_FLOAT64);
  return layer;
}

TEST(LayerSetUp, ComesBeforeEverything) {
  const auto layer = affine();
  const auto x = tensor(batch()), y = tensor(onWorld({8, 5}, "S0"));
  expectError(TENON_ERR_STATE, {"SetUp"}, [&] { layer->apply(*x, *y); });
  expectError(TENON_ERR_STATE, {"SetUp"}, [&] { layer->outputLayout(batch()); });
  expectError(TENON_ERR_STATE, {"SetUp"}, [&] { layer->initialize(1, 0); });
}

TEST(LayerSetUp, EndsTheTimeOfSettings) {
  const auto layer = affine();
  layer->setUp(batch());
  expectError(TENON_ERR_STATE, {"data_type"}, [&] { layer->setDataType(TENON_FLOAT32); });
  expectError(TENON_ERR_STATE, {"stack_depth"}, [&] { layer->setStackDepth(2); });
  expectError(TENON_ERR_STATE, {"signature"}, [&] { layer->setText("signature", "n"); });
  expectError(TENON_ERR_STATE, {"storage"}, [&] { layer->setText("storage", "root"); });
  expectError(TENON_ERR_STATE, {"backend"}, [&] { layer->setText("backend", "blas"); });
  expectError(TENON_ERR_STATE, {"bias"}, [&] { layer->set("bias", false); });
  const auto net = test::newLayer(world(), "sequential");
  appendLayer(*net, layer);
  net->setDataType(TENON_FLOAT64);
  net->setUp(batch());
  expectError(TENON_ERR_STATE, {"adding a layer"}, [&] { appendLayer(*net, affine()); });
}

TEST(LayerSetUp, RefusesBadSettings) {
  const auto layer = affine();
  expectError(TENON_ERR_DATATYPE, {"int64"}, [&] { layer->setDataType(TENON_INT64); });
  expectError(TENON_ERR_ARG, {"is 0", "[1,1000000]"}, [&] { layer->setStackDepth(0); });
  expectError(TENON_ERR_LAYOUT, {"'X'"}, [&] { layer->setText("storage", "X"); });
  EXPECT_THROW(layer->setText("backend", "mkl"), Error);
  layer->setUp(batch());
  EXPECT_EQ(layer->stackDepth(), 1);
}

TEST(LayerSetUp, NamesAWrongInput) {
  const auto layer = affine();
  expectErrorOnAll(TENON_ERR_SHAPE, {"[batch,6]", "[8,7]"}, [&] {
    layer->setUp(onWorld({8, 7}, "S0"));
  });
  const auto conv = test::newConv(world(), 2, 3, std::vector<Window>{{.kernel = 3}, {.kernel = 3}});
  expectErrorOnAll(TENON_ERR_SHAPE, {"4 dimensions", "[8,2,5]"}, [&] {
    conv->setUp(onWorld({8, 2, 5}, "B"));
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"4 channels", "needs 2"}, [&] {
    conv->setUp(onWorld({8, 4, 5, 5}, "B"));
  });
  expectErrorOnAll(TENON_ERR_SHAPE, {"spans 3 elements", "input of 2"}, [&] {
    conv->setUp(onWorld({8, 2, 5, 2}, "B"));
  });

  layer->setUp(batch());
  const auto y = tensor(layer->outputLayout(batch()));
  expectError(TENON_ERR_SHAPE, {"[4,6]", "[8,6]", "SetUp"}, [&] {
    layer->apply(*tensor(onWorld({4, 6}, "S0")), *y);
  });
  if (world()->size() > 1) // one process has the same array in all layouts
    expectError(TENON_ERR_LAYOUT, {"] B", "] S0"}, [&] {
      layer->apply(*tensor(onWorld({8, 6}, "B")), *y);
    });
  expectError(TENON_ERR_DATATYPE, {"float32", "float64", "input"},
              [&] { layer->apply(*tensor(batch(), TENON_FLOAT32), *y); });
  expectError(TENON_ERR_SHAPE, {"output", "[8,5]", "[8,6]"},
              [&] { layer->apply(*tensor(batch()), *tensor(batch())); });
  if (world()->size() > 1)
    expectError(TENON_ERR_LAYOUT, {"output"}, [&] {
      layer->apply(*tensor(batch()), *tensor(onWorld({8, 5}, "B")));
    });
}

TEST(LayerSetUp, NamesAWrongCotangent) {
  if (world()->size() == 1)
    GTEST_SKIP() << "on one process all layouts of a shape are equal";
  const auto layer = affine();
  const Layout input = onWorld({8, 6}, "B");
  layer->setText("signature", "B");
  layer->setUp(input);
  layer->apply(*tensor(input), *tensor(onWorld({8, 5}, "B")));
  expectError(TENON_ERR_LAYOUT, {"cotangent of the output", "] P", "] B"}, [&] {
    layer->applyAdjoint(*tensor(onWorld({8, 5}, "B")), nullptr);
  });
  expectError(TENON_ERR_LAYOUT, {"cotangent of the input", "] P", "] B"}, [&] {
    layer->applyAdjoint(*tensor(onWorld({8, 5}, "P")), tensor(input).get());
  });
  layer->applyAdjoint(*tensor(onWorld({8, 5}, "P")), nullptr);
}

TEST(LayerSetUp, ListsTheSignaturesThatThereAre) {
  const auto layer = affine();
  layer->setText("signature", "h");
  expectErrorOnAll(TENON_ERR_OPTION, {"'h'", "n, o, i, B, R, P"}, [&] { layer->setUp(batch()); });
  layer->setText("signature", "n,o");
  expectErrorOnAll(TENON_ERR_OPTION, {"\"n,o\"", "2 labels", "1 axis"},
                   [&] { layer->setUp(batch()); });
  layer->setText("signature", "o");
  layer->setUp(batch());
}

// A failed set-up must leave no parameters and states behind.
TEST(LayerSetUp, MayBeTriedAgainWithOtherSettings) {
  const auto layer = affine();
  layer->setText("backend", "cudnn"); // a backend of the device
  expectErrorOnAll(TENON_ERR_SUPPORT, {"layer", "cudnn"}, [&] { layer->setUp(batch()); });
  EXPECT_TRUE(layer->parameters().empty());
  layer->setText("backend", "auto");
  layer->setDataType(TENON_FLOAT32);
  test::Step step(layer, batch(), TENON_FLOAT32);
  test::fillParameters(*layer);
  step.apply();
  step.adjoint();
}

// A requested direct convolution is not replaced by another algorithm.
TEST(LayerSetUp, RefusesADirectConvolutionWithAStride) {
  const Window strided{.kernel = 3, .stride = 2};
  const auto conv = test::newConv(world(), 4, 8, std::vector<Window>(2, strided));
  conv->setName("conv1");
  conv->setText("backend", "direct");
  const char* reason = directInstructionSets().empty() ? "AVX2" : "stride";
  expectErrorOnAll(TENON_ERR_SUPPORT, {"conv1", "'direct'", reason, "'auto'"}, [&] {
    conv->setUp(onWorld({2, 4, 9, 9}, "S0"));
  });
}

TEST(LayerSetUp, FailsOnAllRanksIfOneHasOtherSettings) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const auto signature = affine();
  signature->setText("signature", isLastRank() ? "n" : "o");
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"signature"}, [&] { signature->setUp(batch()); });
  const auto storage = affine();
  storage->setText("storage", isLastRank() ? "root" : "use");
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"storage"}, [&] { storage->setUp(batch()); });
  const auto depth = affine();
  depth->setStackDepth(isLastRank() ? 2 : 1);
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"depth"}, [&] { depth->setUp(batch()); });
  const auto shape = test::newAffine(world(), 6, isLastRank() ? 4 : 5);
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"'outputs 4,' in place of 'outputs 5,'", "inputs 6"},
                   [&] { shape->setUp(batch()); });
  const auto window = test::newConv(
      world(), 2, 3,
      std::vector<Window>{{.kernel = 3, .padLow = isLastRank(), .padHigh = !isLastRank()}});
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"padding 1, padding_high 0", "padding 0, padding_high 1"},
                   [&] {
                     window->setUp(onWorld({2, 2, 9}, "S2"));
                   });
  const auto input = affine();
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"S0", "B"}, [&] {
    input->setUp(onWorld({8, 6}, isLastRank() ? "S0" : "B"));
  });
}

// The map list depends on options too, which must be equal on all ranks.
TEST(LayerSetUp, FailsOnAllRanksIfOneHasOtherOptionsOfWhatRuns) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  for (const auto& [name, said] : {std::pair{"-tenon_fuse_rows", "rows not fused"},
                                   std::pair{"-tenon_overlap_steps", "steps in order"}}) {
    const auto layer = affine();
    options().set(name, isLastRank() ? "false" : "true");
    expectErrorOnAll(TENON_ERR_COLLECTIVE, {said}, [&] { layer->setUp(batch()); });
    options().set(name, "true");
    layer->setUp(batch());
  }
}

TEST(LayerSetUp, FailsOnAllRanksIfOneHasAnotherNetwork) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank agrees with itself";
  const auto net = test::newLayer(world(), "sequential");
  if (!isLastRank())
    appendLayer(*net, test::newAffine(world(), 6, 6));
  expectErrorOnAll(TENON_ERR_COLLECTIVE, {"affine"}, [&] { net->setUp(batch()); });
}

TEST(LayerSetUp, FailsOnAllRanksIfOneFails) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank fails alone";
  options().set("-tenon_odd_signature", isLastRank() ? "x" : "o");
  const auto net = test::newLayer(world(), "sequential");
  net->setDataType(TENON_FLOAT64);
  const auto odd = affine();
  odd->setPrefix("odd_");
  appendLayer(*net, odd);
  net->setFromOptions();
  options().clear();
  EXPECT_THROW(net->setUp(batch()), Error);

  // With equal settings on all ranks, set-up and messages work.
  odd->setText("signature", "o");
  test::Step step(net, batch());
  test::fillParameters(*net);
  test::fillValid(*step.x, 1);
  step.apply();
  step.adjoint();
}

// A layer whose form() calls this function, which can throw; set-up calls form().
using Failure = std::function<void(const Layouts& inputs)>;
class Special final : public Declaration {
public:
  explicit Special(Failure fail) : Declaration("special", {}), fail_(std::move(fail)) {}
  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>&) const override { return {}; }
  Form form(const Layouts& inputs, const Choice&) const override {
    fail_(inputs);
    throw Error(TENON_ERR_INTERNAL, "set up although it should have failed");
  }

private:
  Failure fail_;
};

Ref<Layer> special(Failure fail) {
  return makeRef<Layer>(world(), std::make_unique<Special>(std::move(fail)), nullptr);
}

// Throws on the last rank only, before it has created the objects that other ranks create.
void failOnLast(const Layouts& inputs) {
  const Layout& input = inputs.front();
  if (!isLastRank())
    makeConversion(world(), input, onWorld(input.shape(), "B"), TENON_FLOAT64);
  throw Error(TENON_ERR_SUPPORT, isLastRank() ? "this machine is odd" : "never seen");
}

// After a failure, ranks have created different numbers of objects. Messages of later objects must
// still match.
TEST(LayerSetUp, LeavesMessagesInStepIfItFails) {
  const auto odd = special(failOnLast);
  EXPECT_THROW(odd->setUp(batch()), Error);
  const auto x = tensor(batch());
  fillUniform(*x, /*seed=*/1, /*stream=*/1, -1, 1);
  const auto before = gathered(*x);
  EXPECT_EQ(before.size(), 48u);
}

// In a container, one rank fails alone while the others set up the next layer. They continue as far
// as possible without this rank, and then throw the same error.
TEST(LayerSetUp, FailsOnAllRanksIfOneFailsBetweenTwoLayers) {
  const auto inner = affine();
  const auto container = special([&](const Layouts& inputs) {
    if (isLastRank())
      throw Error(TENON_ERR_MEMORY, "no room here");
    inner->setUp(inputs);
    throw Error(TENON_ERR_MEMORY, "no room here");
  });
  expectErrorOnAll(TENON_ERR_MEMORY, {"no room here"}, [&] { container->setUp(batch()); });
  EXPECT_FALSE(inner->isSetUp());
}

TEST(Sequential, HandsItsSettingsOn) {
  const auto net = test::newLayer(world(), "sequential");
  const auto plain = test::newAffine(world(), 6, 6), own = test::newAffine(world(), 6, 6);
  net->setDataType(TENON_FLOAT64);
  net->setStackDepth(3);
  net->setText("storage", "root");
  net->setText("backend", "blas");
  own->setText("storage", "B");
  own->setText("backend", "reference");
  appendLayer(*net, plain);
  appendLayer(*net, own);
  net->setUp(batch());
  for (const auto& layer : {plain, own}) {
    EXPECT_EQ(layer->dataType(), TENON_FLOAT64);
    EXPECT_EQ(layer->stackDepth(), 3);
  }
  EXPECT_EQ(plain->parameters()[0]->storage(), onWorld({6, 6}, "R"));
  EXPECT_EQ(own->parameters()[0]->storage(), onWorld({6, 6}, "B"));
  EXPECT_NE(plain->describe().find("backend blas"), std::string::npos) << plain->describe();
  EXPECT_NE(own->describe().find("backend reference"), std::string::npos) << own->describe();
}

// Settings that were set on a layer remain, also if they equal the defaults.
TEST(Sequential, LeavesSettingsThatALayerHas) {
  const auto net = test::newLayer(world(), "sequential");
  const auto told = test::newAffine(world(), 6, 6);
  net->setDataType(TENON_FLOAT64);
  net->setText("storage", "root");
  net->setText("initializer", "he_normal");
  told->setDataType(TENON_FLOAT64);
  told->setText("storage", "use");
  told->setText("initializer", "glorot_uniform");
  told->setStackDepth(3);
  appendLayer(*net, told);
  net->setUp(batch());
  EXPECT_EQ(told->stackDepth(), 3);
  EXPECT_EQ(told->parameters()[0]->storage().properties(), parseProperties("B"));
  EXPECT_EQ(told->declaration().value<std::string>("initializer"), "glorot_uniform");
}

// After a failed set-up, a layer has inherited no settings.
TEST(Sequential, RefusesALayerWithContradictingSettings) {
  const auto net = test::newLayer(world(), "sequential");
  const auto wide = test::newAffine(world(), 6, 6), shallow = test::newAffine(world(), 6, 6);
  wide->setDataType(TENON_FLOAT64);
  appendLayer(*net, wide);
  expectErrorOnAll(TENON_ERR_DATATYPE, {"float64", "float32"}, [&] { net->setUp(batch()); });
  EXPECT_FALSE(wide->declaration().settings().isSet("stack_depth"));
  const auto deep = test::newLayer(world(), "sequential");
  deep->setStackDepth(2);
  shallow->setStackDepth(1);
  appendLayer(*deep, shallow);
  expectErrorOnAll(TENON_ERR_STATE, {"stack depth 1", "needs 2"}, [&] { deep->setUp(batch()); });
}

TEST(Sequential, IsAsBeforeIfALayerFailsInApply) {
  const auto net = test::newLayer(world(), "sequential");
  const auto loss = test::newLayer(world(), "crossentropy");
  net->setDataType(TENON_FLOAT64);
  appendLayer(*net, test::newAffine(world(), 6, 5));
  appendLayer(*net, loss);
  test::Step step(net, batch());
  for (int i = 0; i < 2; ++i)
    expectError(TENON_ERR_STATE, {"no target"}, [&] { step.apply(); });
  loss->setTarget(tensor(onWorld({8}, "S0"), TENON_INT64));
  step.apply();
  step.adjoint();
}

// Sets options for a test and removes them afterwards.
class Options : public testing::Test {
protected:
  ~Options() override { options().clear(); }
};

TEST_F(Options, SetTheLayerOfThatPrefix) {
  options().set("-tenon_fc_signature", "o");
  options().set("-tenon_fc_storage", "root");
  options().set("-tenon_fc_backend", "reference");
  options().set("-tenon_fc_stack_depth", "4");
  options().set("-tenon_fc_initializer", "he_normal");
  const auto layer = affine(), other = affine(), same = affine();
  layer->setPrefix("fc_");
  for (const auto& l : {layer, other}) {
    l->setFromOptions();
    l->setUp(batch());
    l->initialize(1, 0);
  }
  same->setUp(batch());
  same->initialize(1, 0);
  EXPECT_EQ(layer->stackDepth(), 4);
  EXPECT_EQ(layer->parameters()[0]->storage().describe(), onWorld({5, 6}, "R").describe());
  EXPECT_EQ(layer->outputLayout(batch()).describe(), onWorld({8, 5}, "S1").describe());
  EXPECT_NE(layer->describe().find("reference"), std::string::npos);
  EXPECT_EQ(other->stackDepth(), 1);
  EXPECT_EQ(other->outputLayout(batch()).describe(), onWorld({8, 5}, "S0").describe());
  EXPECT_EQ(gathered(other->parameters()[0]->value()), gathered(same->parameters()[0]->value()));
  EXPECT_NE(gathered(layer->parameters()[0]->value()), gathered(same->parameters()[0]->value()));
}

TEST_F(Options, ThatAreWrongAreRefused) {
  EXPECT_THROW(options().set("-tenon_fc_backend", "gpu"), Error);
  expectError(TENON_ERR_OPTION, {"stack_depth", "'0'", "[1,"},
              [] { options().set("-tenon_fc_stack_depth", "0"); });
}

TEST(ParameterStorage, IsWhereItIsAskedFor) {
  for (const char* storage : {"use", "root", "S0", "B"}) {
    const auto layer = affine();
    layer->setText("storage", storage);
    layer->setText("signature", "o");
    layer->setUp(batch());
    const std::string want = std::string(storage) == "use"    ? "S0"
                             : std::string(storage) == "root" ? "R"
                                                              : storage;
    EXPECT_EQ(layer->parameters()[0]->storage(), onWorld({5, 6}, want)) << storage;
    EXPECT_EQ(layer->parameters()[1]->storage(), onWorld({5}, want)) << storage;
  }
}

TEST(ParameterStorage, TakesOnePropertyForEachAxis) {
  const std::vector<int> grid = {world()->size(), 1};
  const auto layer = affine();
  layer->setText("storage", "S0,B");
  layer->setUp(onWorld({8, 6}, grid, "S0,S1"));
  EXPECT_EQ(layer->parameters()[0]->storage(), onWorld({5, 6}, grid, "S0,B"));
  const auto wrong = affine();
  wrong->setText("storage", "S0");
  expectErrorOnAll(TENON_ERR_LAYOUT, {"2 axes", "1 property was"}, [&] {
    wrong->setUp(onWorld({8, 6}, grid, "S0,S1"));
  });
}

TEST(ParameterStorage, CannotBePartial) {
  const auto layer = affine();
  layer->setText("storage", "P");
  expectErrorOnAll(TENON_ERR_OPTION, {"\"P\"", "partial sums"}, [&] { layer->setUp(batch()); });
  layer->setText("storage", "B");
  layer->setUp(batch());
}

TEST(InitialWeights, AreTheSameOnAnyPartition) {
  auto weights = [](const Layout& input, const char* storage) {
    const auto net = test::newLayer(world(), "sequential");
    net->setDataType(TENON_FLOAT64);
    for (int i = 0; i < 2; ++i) {
      const auto layer = test::newAffine(world(), 6, 6);
      layer->setText("storage", storage);
      appendLayer(*net, layer);
    }
    net->setUp(input);
    net->initialize(5, 0);
    std::vector<std::vector<double>> values;
    for (const auto& p : net->parameters())
      values.push_back(gathered(p->value()));
    return values;
  };
  const auto want = weights(onWorld({8, 6}, "B"), "use");
  for (const char* properties : {"S0", "S1", "R", "P"})
    for (const char* storage : {"use", "root", "S0"})
      EXPECT_EQ(weights(onWorld({8, 6}, properties), storage), want) << properties << storage;
  EXPECT_NE(want[0], want[2]);                   // two layers have different values
  EXPECT_EQ(want[1], std::vector<double>(6, 0)); // the bias
  const double bound = std::sqrt(6.0 / (6 + 6));
  for (double w : want[0])
    EXPECT_LE(std::abs(w), bound);
}

TEST(InitialWeights, DifferInNestedContainers) {
  const auto outer = test::newLayer(world(), "sequential");
  for (int i = 0; i < 2; ++i) {
    const auto inner = test::newLayer(world(), "sequential");
    for (int j = 0; j < 2; ++j)
      appendLayer(*inner, test::newAffine(world(), 6, 6));
    appendLayer(*outer, inner);
  }
  outer->setDataType(TENON_FLOAT64);
  outer->setUp(batch());
  outer->initialize(5, 0);
  const auto parameters = outer->parameters();
  for (std::size_t i = 0; i < parameters.size(); i += 2)
    for (std::size_t j = 0; j < i; j += 2)
      EXPECT_NE(gathered(parameters[i]->value()), gathered(parameters[j]->value()));
}

} // namespace
} // namespace tenon
