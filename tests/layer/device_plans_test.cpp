// SPDX-License-Identifier: BSD-2-Clause
// On the device a convolution can be computed in several ways: by engines of cuDNN (its
// algorithms), graphs of engines with bias and rectifier, other number formats and layouts, or
// matrix products. Set-up measures them and must choose the fastest, the same on all ranks. The
// stand-in for cuDNN takes the time that a test sets with plant(); results are compared with the
// host.
#include "comm/agreement/agreement.hpp"
#include "layer_run.hpp"
#include "standin/costs.hpp"
#include "standin/failures.hpp"
#include "sys/options/options.hpp"

#include <cmath>
#include <cstdlib>

namespace tenon {
namespace {

using test::expectNear;
using test::localCells;
using test::onWorld;
using test::world;

constexpr int kMaxEngines = 200; // cuDNN 9.19 has numbers up to 80

class DevicePlans : public testing::Test {
protected:
  void TearDown() override {
    tenonStandinCost("", 0);
    tenonStandinFail("");
    options().set("-tenon_device_plans", "measured");
    options().set("-tenon_device_bfloat16", "false");
    options().set("-tenon_device_tf32", "false");
  }

  // Each test has its own number of rows, because convolutions of one shape are measured only once.
  void setUp(Index rows, const std::string& backend = "auto") {
    // A batch of two samples on each rank is large enough for measurements.
    input_ = onWorld({2 * world()->size(), 12, rows, 32}, "S0");
    layer_ = made(Space::Device, backend);
  }
  Ref<Layer> made(Space space, const std::string& backend) const {
    Ref<Layer> layer = test::newConv(
        world(), 12, 12, std::vector<Window>(2, {.kernel = 3, .padLow = 1, .padHigh = 1}));
    if (!function_.empty()) {
      const Ref<Layer> network = test::newLayer(world(), "sequential");
      appendLayer(*network, std::move(layer));
      appendLayer(*network, test::newPointwise(world(), function_));
      layer = network;
    }
    layer->setDataType(type_);
    layer->setSpace(space);
    layer->set("backend", backend);
    layer->setUp(input_);
    test::fillParameters(*layer);
    return layer;
  }

  // The number of the engine of the forward pass, which the view names first; -1 if products are
  // used.
  int engine() const {
    const std::string text = layer_->describe(), word = "measured: engine ";
    const std::size_t at = text.find(word);
    return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + word.size());
  }
  bool says(const char* words) const { return layer_->describe().find(words) != std::string::npos; }

  // Expects the results of the same layer on the host.
  void expectRight() const { expectRight(type_ == TENON_FLOAT32 ? 1e-4 : 1e-12); }
  void expectRight(double tolerance) const {
    std::vector<std::vector<double>> found[2];
    for (const Space space : {Space::Host, Space::Device}) {
      const Ref<Layer> layer = space == Space::Device ? layer_ : made(space, "auto");
      auto& values = found[static_cast<int>(space)];
      const auto x = tensor(input_, space), y = tensor(layer->outputLayout(), space),
                 dx = tensor(input_.dual(), space), dy = tensor(y->layout().dual(), space);
      fillUniform(*x, test::kSeed, /*stream=*/1, -1, 1);
      fillUniform(*dy, test::kSeed, /*stream=*/2, -1, 1);
      layer->zeroGradients();
      layer->apply(*x, *y);
      layer->applyAdjoint(*dy, dx.get());
      values = {localCells(*y), localCells(*dx)};
      for (const auto& parameter : layer->parameters())
        values.push_back(localCells(parameter->direction()));
    }
    for (std::size_t i = 0; i < found[0].size(); ++i)
      expectNear(found[1][i], found[0][i], tolerance, "values " + std::to_string(i));
  }
  Ref<DTensor> tensor(const Layout& layout, Space space) const {
    return makeRef<DTensor>(world(), layout, type_, space);
  }

  TenonDataType type_ = TENON_FLOAT32;
  std::string function_; // the function after the convolution; empty: none
  Layout input_ = onWorld({1}, "B");
  Ref<Layer> layer_;
};

// Seconds that the variants of an engine take.
struct Costs {
  double withBias = 1, withRectifier = 1, withChannelsLast = 1, inBFloat16 = 1;
};

// Sets the seconds that each engine, its variants and matrix products take in the measurements.
void plant(double (*seconds)(int engine), double ofProduct, const Costs& costs = {}) {
  for (int engine = 0; engine < kMaxEngines; ++engine) {
    const std::string name = "engine " + std::to_string(engine);
    tenonStandinCost(name.c_str(), seconds(engine));
    tenonStandinCost((name + " with a bias").c_str(), costs.withBias);
    tenonStandinCost((name + " with a bias and a rectifier").c_str(), costs.withRectifier);
    tenonStandinCost((name + " with channels last").c_str(), costs.withChannelsLast);
    tenonStandinCost((name + " in bfloat16").c_str(), costs.inBFloat16);
  }
  tenonStandinCost("product", ofProduct);
}

// Products, which would be faster, must not be used with backend cudnn.
TEST_F(DevicePlans, AreThoseOfTheFastestEngine) {
  plant([](int engine) { return 1e-3 * (1 + engine); }, 1);
  setUp(32);
  const int least = engine();
  plant([](int engine) { return 1e-3 * (kMaxEngines - engine); }, 0);
  setUp(33, "cudnn");
  EXPECT_GE(least, 0) << layer_->describe();
  EXPECT_GT(engine(), least) << layer_->describe();
  expectRight();
}

TEST_F(DevicePlans, AreLeftToProductsThatAreFaster) {
  type_ = TENON_FLOAT64;
  plant([](int) { return 1e-1; }, 1e-6);
  setUp(34);
  EXPECT_TRUE(says("measured: im2col+gemm; adjoints im2col+gemm and im2col+gemm"))
      << layer_->describe();
  expectRight();
}

// A graph of convolution and bias is used if it is the fastest. Variants in bfloat16, with channels
// last and with a rectifier would be faster, but are not allowed here.
TEST_F(DevicePlans, AddTheBiasWhereThatIsFaster) {
  plant([](int) { return 1e-1; }, 1, {1e-2, 1e-3, 1e-3, 1e-3});
  setUp(39);
  EXPECT_TRUE(says(" with the bias; adjoints engine")) << layer_->describe();
  expectRight();
}

// The rectifier is applied in the graph with the bias; its derivative is computed from y.
TEST_F(DevicePlans, ApplyARectifierWhereThatIsFaster) {
  function_ = "relu";
  plant([](int) { return 1e-1; }, 1, {2e-2, 1e-2});
  for (const auto type : {TENON_FLOAT32, TENON_FLOAT64}) {
    type_ = type;
    setUp(41);
    EXPECT_TRUE(says(" with the bias and the rectifier; adjoints engine")) << layer_->describe();
    expectRight();
  }
}

// Functions that are not rectifiers, or a graph that is slower than two kernels.
TEST_F(DevicePlans, LeaveFunctionsToKernelsOfTheirOwn) {
  for (const char* function : {"relu", "tanh"}) {
    function_ = function;
    plant([](int) { return 1e-1; }, 1, {1e-2, function_ == "relu" ? 2e-2 : 1e-3});
    setUp(42);
    EXPECT_TRUE(says(" with the bias; adjoints engine")) << layer_->describe();
    expectRight();
  }
}

// The convolution within a network uses a graph with a rectifier. Applied alone, the same layer
// must not apply the rectifier.
TEST_F(DevicePlans, KnowWhichFunctionComesBehind) {
  function_ = "relu";
  plant([](int) { return 1e-1; }, 1, {1, 1e-2});
  setUp(44);
  EXPECT_TRUE(says(" with the bias and the rectifier")) << layer_->describe();
  const Ref<Layer> conv = layer_->nodes()[0].layer;
  conv->setUp(input_);
  const auto x = tensor(input_, Space::Device), y = tensor(layer_->outputLayout(), Space::Device),
             v = tensor(conv->outputLayout(), Space::Device);
  fillUniform(*x, test::kSeed, /*stream=*/1, -1, 1);
  layer_->apply(*x, *y);
  conv->apply(*x, *v);
  std::vector<double> rectified = localCells(*v);
  EXPECT_LT(*std::ranges::min_element(rectified), 0);
  for (double& cell : rectified)
    cell = std::max(cell, 0.0);
  expectNear(localCells(*y), rectified, 1e-5, "rectified");
}

// A recomputation must use the same graph as Apply, which rounds differently from the convolution
// alone.
TEST_F(DevicePlans, AreTakenAgainWhereLayersRecompute) {
  std::vector<std::vector<double>> found;
  for (const bool again : {false, true}) {
    plant([](int) { return 1e-1; }, 1, {1, 1e-2});
    input_ = onWorld({2 * world()->size(), 12, 46, 32}, "S0");
    const std::vector<Window> windows(2, {.kernel = 3, .padLow = 1, .padHigh = 1});
    layer_ = test::newLayer(world(), "sequential");
    for (int i = 0; i < 2; ++i) {
      appendLayer(*layer_, test::newConv(world(), 12, 12, windows));
      appendLayer(*layer_, test::newPointwise(world(), "relu"));
      for (Layer* layer : layer_->children())
        layer->set("recompute", again);
    }
    layer_->setDataType(type_);
    layer_->setSpace(Space::Device);
    layer_->setUp(input_);
    test::fillParameters(*layer_);
    EXPECT_TRUE(says(" with the bias and the rectifier")) << layer_->describe();
    const auto x = tensor(input_, Space::Device), y = tensor(layer_->outputLayout(), Space::Device),
               dy = tensor(y->layout().dual(), Space::Device),
               dx = tensor(input_.dual(), Space::Device);
    fillUniform(*x, test::kSeed, /*stream=*/1, -1, 1);
    fillUniform(*dy, test::kSeed, /*stream=*/2, -1, 1);
    layer_->apply(*x, *y);
    layer_->applyAdjoint(*dy, dx.get());
    found.push_back(localCells(*dx));
    for (const auto& parameter : layer_->parameters()) {
      const std::vector<double> cells = localCells(parameter->direction());
      found.back().insert(found.back().end(), cells.begin(), cells.end());
    }
  }
  EXPECT_EQ(found[1], found[0]);
}

TEST_F(DevicePlans, HaveChannelsLastWhereThatIsFaster) {
  options().set("-tenon_device_tf32", "true");
  plant([](int) { return 1e-1; }, 1, {1e-2, 1e-2, 1e-3, 1e-4});
  for (const char* function : {"", "relu"}) {
    function_ = function;
    setUp(45);
    for (const char* words : {"measured: engine", " with channels last; adjoints engine",
                              " with channels last and engine"})
      EXPECT_TRUE(says(words)) << layer_->describe();
    expectRight();
  }
}

TEST_F(DevicePlans, RoundToBFloat16WhereTheOptionAllowsIt) {
  options().set("-tenon_device_bfloat16", "true");
  plant([](int) { return 1e-1; }, 1, {.withBias = 1e-2, .inBFloat16 = 1e-3});
  setUp(40);
  for (const char* words :
       {"measured: engine", " in bfloat16; adjoints engine", " in bfloat16 and engine"})
    EXPECT_TRUE(says(words)) << layer_->describe();
  expectRight(std::ldexp(1, -7));
}

// Without an agreement, the first rank would choose the engine with the smallest number, and the
// others, which measure equal times, the first of the list.
TEST_F(DevicePlans, AreTheSameOnAllRanks) {
  if (world()->rank() == 0)
    plant([](int engine) { return 1e-3 * (1 + engine); }, 1);
  else
    plant([](int) { return 5e-2; }, 1);
  setUp(35);
  EXPECT_GE(engine(), 0) << layer_->describe();
  const auto ownNumber = std::uint64_t(engine());
  std::vector<std::uint64_t> both{ownNumber, ~ownNumber};
  reduceNumbers(*world(), both, MPI_MAX);
  EXPECT_EQ(both[0], ownNumber);
  EXPECT_EQ(both[1], ~ownNumber);
}

TEST_F(DevicePlans, ThatFailAreNotTaken) {
  type_ = TENON_FLOAT64;
  tenonStandinFail("cudnnBackendExecute:*");
  setUp(37);
  tenonStandinFail("");
  EXPECT_TRUE(says("im2col+gemm")) << layer_->describe();
  expectRight();
}

TEST_F(DevicePlans, AreNotMeasuredWhereTheOptionSaysSo) {
  options().set("-tenon_device_plans", "heuristic");
  plant([](int) { return 1e-1; }, 1e-6);
  setUp(38);
  EXPECT_TRUE(says("backend cudnn (graph)")) << layer_->describe();
}

} // namespace
} // namespace tenon
