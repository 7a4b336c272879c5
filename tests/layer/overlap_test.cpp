// SPDX-License-Identifier: BSD-2-Clause
// Convolutions that compute during their halo exchange. The output is divided into pieces, of which
// the interior needs no halo. Tested are the division, when it is used and refused, and late and
// early messages: an exchange can write its result from its beginning on, so no other value may be
// in that memory until its end. boundary_layer_test.cpp tests that the values are correct.
#include "declaration/core/window_layout.hpp"
#include "layer_run.hpp"
#include "support/delay.hpp"
#include "support/networks.hpp"
#include "support/random_layout.hpp"
#include "sys/options/options.hpp"

namespace tenon {
namespace {

using test::LayoutDraw;
using test::onWorld;
using test::world;
using Windows = std::vector<Window>;

constexpr Window kSame{.kernel = 3, .padLow = 1, .padHigh = 1};

Ref<Layer> convolution(const Windows& windows, const char* overlap) {
  auto layer = test::newConv(world(), 2, 2, windows);
  layer->setText("overlap", overlap);
  return layer;
}

// Whether the layer computes its output in pieces.
bool hasStrips(const Layer& layer) {
  return layer.describe().find("  strip 0 of the output") != std::string::npos;
}

bool contains(const Box& box, const std::vector<Index>& index) {
  for (std::size_t d = 0; d < box.size(); ++d)
    if (index[d] < box[d].begin || index[d] >= box[d].end)
      return false;
  return true;
}

Window drawWindow(LayoutDraw& draw) {
  const Boundary mode = kExtensions[draw.upTo(kExtensionCount - 1)];
  return {.kernel = draw.between(1, 4),
          .stride = draw.between(1, 3),
          .dilation = draw.between(1, 2),
          .padLow = draw.between(0, 3),
          .padHigh = draw.between(0, 3),
          .lowMode = mode,
          .highMode = mode};
}

// Each output is in exactly one piece, and the windows of a piece read only the elements of its
// input layout.
void expectPartition(const Windows& windows, const Layout& plain, const Layout& output,
                     const std::vector<FormPiece>& pieces, int position) {
  const Box all = output.box(position);
  std::vector<Box> outputs, inputs;
  for (const FormPiece& piece : pieces) {
    outputs.push_back(piece.outputs[position]);
    inputs.push_back(piece.use.box(position));
  }
  Index sum = 0;
  for (const Box& box : outputs)
    sum += elements(box);
  EXPECT_EQ(sum, elements(all));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (elements(outputs[i]) == 0)
      continue;
    EXPECT_TRUE(contains(
        all, {outputs[i][0].begin, outputs[i][1].begin, outputs[i][2].begin, outputs[i][3].begin}));
    for (std::size_t j = 0; j < i; ++j) {
      Index common = 1;
      for (std::size_t d = 0; d < all.size(); ++d)
        common *= intersect(outputs[i][d], outputs[j][d]).size();
      EXPECT_EQ(common, 0) << "pieces " << i << " and " << j << " of " << output.describe();
    }
    for (int d = kFirstSpatial; d < plain.ndim(); ++d) {
      const Interval reads = windowBox(windows[d - kFirstSpatial], plain.shape()[d], outputs[i][d]);
      EXPECT_TRUE(reads.empty() ||
                  (reads.begin >= inputs[i][d].begin && reads.end <= inputs[i][d].end))
          << "piece " << i << " in dimension " << d << " of " << plain.describe();
    }
  }
}

TEST(Overlap, PiecesPartitionTheOutputs) {
  LayoutDraw draw(71);
  for (int trial = 0; trial < 300; ++trial) {
    const Windows windows = {drawWindow(draw), drawWindow(draw)};
    const Shape shape = {1, 2, draw.between(14, 20), draw.between(14, 20)};
    const Layout drawn =
        draw.layout(shape, draw.grid(8, 3), /*haloPercent=*/0, /*coveringHalos=*/true);
    const Layout plain = drawn.withoutHalos();
    const Shape outShape = windowOutputShape(windows, plain.shape(), 2, "a convolution");
    const Layout output =
        windowOutputLayout(windows, plain, outShape, plain.properties(), plain.cuts(1),
                           trial % 2 == 0 ? OutputCuts::Follow : OutputCuts::Balanced);
    const std::vector<FormPiece> pieces = windowPieces(windows, plain, output);
    for (int position = 0; position < plain.grid().size(); ++position)
      ASSERT_NO_FATAL_FAILURE(expectPartition(windows, plain, output, pieces, position));
  }
}

TEST(Overlap, IsUsedWhereItIsPredictedToBeFaster) {
  const Window periodic{.kernel = 3,
                        .padLow = 1,
                        .padHigh = 1,
                        .lowMode = Boundary::Periodic,
                        .highMode = Boundary::Periodic};
  const auto stripsOn = [&](const Shape& shape, const char* overlap) {
    const auto layer = convolution({periodic, kSame}, overlap);
    layer->setUp(onWorld(shape, "S2"));
    return hasStrips(*layer);
  };
  const Shape small = {1, 2, 24, 5}, large = {1, 2, 2048, 1024};
  EXPECT_FALSE(stripsOn(small, "auto"));
  EXPECT_TRUE(stripsOn(large, "auto"));
  EXPECT_TRUE(stripsOn(small, "on"));
  EXPECT_FALSE(stripsOn(large, "off"));
}

TEST(Overlap, IsNotUsedWithoutAHalo) {
  const auto layer = convolution({kSame, kSame}, "on");
  layer->setUp(onWorld({8, 2, 6, 6}, "S0"));
  EXPECT_FALSE(hasStrips(*layer));
}

TEST(Overlap, IsRefusedWhereTheInputIsConvertedOtherwise) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one rank converts nothing";
  const auto layer = convolution({kSame, kSame}, "on");
  layer->setText("signature", "h");
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"overlap", "signature", "\"auto\" or \"off\""}, [&] {
    layer->setUp(onWorld({8, 2, 16, 6}, "S0"));
  });
  layer->setText("overlap", "auto");
  layer->setUp(onWorld({8, 2, 16, 6}, "S0"));
}

TEST(Overlap, IsRefusedWhereTheInputComesFromAnotherGrid) {
  if (world()->size() == 1)
    GTEST_SKIP() << "one process has one grid";
  const Shape shape = {8, 2, 16, 6};
  std::vector<int> reversed;
  for (int rank = world()->size(); rank-- > 0;)
    reversed.push_back(rank);
  const auto layer = convolution({kSame, kSame}, "on");
  layer->setAssignment(
      test::usesOf(*layer, {Layout({.shape = shape,
                                    .grid = Grid::make({1, world()->size()}, reversed),
                                    .properties = parseProperties("B,S2")})}));
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"overlap", "more than a halo exchange"},
                         [&] { layer->setUp(onWorld(shape, "S2")); });
  layer->setText("overlap", "auto");
  layer->setUp(onWorld(shape, "S2"));
  EXPECT_FALSE(hasStrips(*layer));
}

TEST(Overlap, IsRefusedWhereTheCallerFillsTheHalo) {
  const Window values{.kernel = 3,
                      .padLow = 1,
                      .padHigh = 1,
                      .lowMode = Boundary::Values,
                      .highMode = Boundary::Values};
  const auto layer = convolution({values, kSame}, "on");
  layer->set("boundary_constant", double(1));
  test::expectErrorOnAll(TENON_ERR_SUPPORT, {"overlap", "values"}, [&] {
    layer->setUp(onWorld({1, 2, 32, 6}, "S2"));
  });
}

// All results of a step, with or without overlap.
std::vector<std::vector<double>> stepWith(const char* overlap, const std::string& properties) {
  const auto layer = convolution({kSame, kSame}, overlap);
  test::Step step(layer, onWorld({2, 2, 24, 7}, properties));
  test::fillParameters(*layer);
  test::fillValid(*step.x, 1);
  test::fillValid(*step.dy, 2);
  step.apply();
  step.adjoint();
  return {test::gathered(*step.y), test::gathered(*step.dx),
          test::gathered(layer->parameters()[0]->gradient())};
}

TEST(Overlap, IsRightWhenMessagesAreLate) {
  const auto want = stepWith("off", "S2");
  const test::Delay delay(2e-3);
  const auto got = stepWith("on", "S2");
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NO_FATAL_FAILURE(test::expectNear(got[i], want[i], 1e-13, "result"));
}

// Messages can arrive in the array of y as soon as an exchange has begun. When one begins that
// neither reads nor adds to y, all of y becomes NaN here: a value that is still read from this
// memory, or an exchange that does not write all of y, makes results NaN. Shortly before its end,
// each element of y must be NaN still or have arrived, which is then its final value.
class EarlyArrivals : private ScheduleExecutor::Watch {
public:
  EarlyArrivals() { ScheduleExecutor::watch = this; }
  ~EarlyArrivals() override { ScheduleExecutor::watch = nullptr; }
  EarlyArrivals(const EarlyArrivals&) = delete;
  EarlyArrivals& operator=(const EarlyArrivals&) = delete;

  int exchanges() const { return exchanges_; }
  int overwritten() const { return overwritten_; }

private:
  void begins(const ScheduleExecutor& executor, const Action& action) override {
    if (!action.isPlain() || executor.isInPlace(action))
      return;
    DTensor& y = *action.y;
    DTensor spoiled(y.comm(), y.layout(), y.dataType());
    visitFloating(y.dataType(), [&]<class T>(T) {
      std::fill_n(spoiled.mutableData<T>(), spoiled.localElements(),
                  std::numeric_limits<T>::quiet_NaN());
    });
    copyLocal(spoiled, y);
    inFlight_[&executor] = {};
  }
  void looks(const ScheduleExecutor& executor, const Action& action) override {
    if (const auto found = inFlight_.find(&executor); found != inFlight_.end())
      found->second = test::localCells(*action.y);
  }
  void ended(const ScheduleExecutor& executor, const Action& action) override {
    const auto found = inFlight_.find(&executor);
    if (found == inFlight_.end())
      return;
    const std::vector<double> before = std::move(found->second),
                              after = test::localCells(*action.y);
    inFlight_.erase(found);
    ++exchanges_;
    for (std::size_t i = 0; i < after.size(); ++i)
      overwritten_ += !std::isnan(before[i]) && before[i] != after[i];
  }

  std::map<const ScheduleExecutor*, std::vector<double>> inFlight_;
  int exchanges_ = 0, overwritten_ = 0;
};

struct NetworkCase {
  Ref<Layer> (*make)(const CommPtr&);
  Shape input;
  const char* properties;
};

// All results of two steps of a network.
std::vector<std::vector<double>> stepsOf(const NetworkCase& one) {
  test::Step step(one.make(world()), onWorld(one.input, one.properties));
  test::fillParameters(*step.layer);
  std::vector<std::vector<double>> results;
  for (std::uint64_t round = 1; round < 3; ++round) {
    test::fillValid(*step.x, round);
    test::fillValid(*step.dy, 10 + round);
    step.apply();
    step.adjoint();
    results.push_back(test::localCells(*step.y));
    results.push_back(test::localCells(*step.dx));
    for (const auto& parameter : step.layer->parameters())
      results.push_back(test::localCells(parameter->gradient()));
  }
  return results;
}

TEST(Overlap, SharesNoMemoryWithMessagesThatAreEarly) {
  const NetworkCase cases[] = {{.make = test::residual, .input = {4, 1, 8, 8}, .properties = "S2"},
                               {.make = test::unet3d, .input = {1, 1, 8, 8, 8}, .properties = "S2"},
                               {.make = test::lenet5, .input = {6, 1, 28, 28}, .properties = "S3"}};
  for (const char* order : {"true", "false"})
    for (const NetworkCase& one : cases) {
      options().set("-tenon_overlap_steps", order);
      const auto want = stepsOf(one);
      EarlyArrivals early;
      EXPECT_EQ(stepsOf(one), want) << "with steps overlapped: " << order;
      EXPECT_EQ(early.overwritten(), 0);
      EXPECT_TRUE(early.exchanges() > 0 || world()->size() == 1);
    }
  options().set("-tenon_overlap_steps", "true");
}

// A tensor that Apply saved by reference must not change before the adjoint.
TEST(Overlap, RefusesAnInputThatChanged) {
  const auto layer = convolution({kSame, kSame}, "on");
  test::Step step(layer, onWorld({2, 2, 24, 7}, "S2"));
  step.apply();
  test::fillValid(*step.x, 3);
  EXPECT_THROW(step.adjoint(), Error);
}

// The kernel throws, because of its weight, during a halo exchange. The exchange must still be
// completed.
TEST(Overlap, EndsWhatItHasBegunWhenAKernelFails) {
  const auto layer = convolution({kSame, kSame}, "on");
  test::Step step(layer, onWorld({2, 2, 24, 7}, "S2"));
  test::fillParameters(*layer);
  test::fillValid(*step.x, 1);
  test::fillValid(*step.dy, 2);
  DTensor& weight = layer->parameters()[0]->value();
  // An array of the user with a gap after each element, which the kernel refuses.
  std::vector<double> strided(2 * weight.localElements());
  weight.placeArray(strided.data(), {36, 18, 6, 2}, {0, 0, 0, 0}, {0, 0, 0, 0}, /*readOnly=*/false);
  EXPECT_THROW(step.apply(), Error);
  weight.resetArray();
  step.apply();
  step.adjoint();
  const auto want = stepWith("off", "S2");
  test::expectNear(test::gathered(*step.y), want[0], 1e-13, "output");
  test::expectNear(test::gathered(*step.dx), want[1], 1e-13, "input gradient");
}

} // namespace
} // namespace tenon
