// SPDX-License-Identifier: BSD-2-Clause
// The text of a view (layouts, messages, bytes, memory), against numbers counted by hand.
#include "layer_run.hpp"

#include "kernels/convolution/backends.hpp"
#include "sys/options/options.hpp"
#include "sys/text/text.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// Expects this line in the view of the layer.
void expectLine(const Layer& layer, const std::string& line) {
  EXPECT_NE(layer.describe().find(line), std::string::npos) << "'" << line << "' is missing in\n"
                                                            << layer.describe();
}

// The line of the view about memory.
std::string memory(Index parameters, Index buffers, Index stack) {
  return fmt::format("memory on rank {}: parameters {}, buffers {}, saved activations {}\n",
                     world()->rank(), sizeText(parameters), sizeText(buffers), sizeText(stack));
}

// An all-gather: each of n ranks sends its two rows of three elements to the n - 1 others.
TEST(View, CountsMessagesAndBytesOfAnAllGather) {
  const Index n = world()->size();
  const auto move = test::newRepartition(world(), onWorld({2 * n, 3}, "B"));
  move->setDataType(TENON_FLOAT64);
  move->setUp(onWorld({2 * n, 3}, "S0"));
  expectLine(*move, fmt::format("at most {}, {} per rank; {} total", counted(n - 1, "message"),
                                sizeText((n - 1) * 48), sizeText(n * (n - 1) * 48)));
}

// In data parallel training, the gradients of the replicated weight [2, 3] and bias [2] are summed
// over the ranks.
TEST(View, CountsTheReductionOfGradients) {
  const Index n = world()->size();
  const auto layer = test::newAffine(world(), 3, 2);
  layer->setUp(onWorld({4, 3}, "S0"));
  if (n > 1)
    expectLine(*layer, fmt::format("weight  [2,3] B   gradient reduction: at most {}",
                                   counted(n - 1, "message")));
  else
    EXPECT_EQ(layer->describe().find("gradient reduction"), std::string::npos);
}

// Memory is allocated on first use, and SetUp sets the parameters: each rank has two of the
// outputs.
TEST(View, CountsMemoryAllocatedNow) {
  const auto layer = test::newAffine(world(), 3, 2 * world()->size());
  layer->setDataType(TENON_FLOAT64);
  layer->setUp(onWorld({4, 3}, "B"));
  expectLine(*layer, memory(8 * (6 + 2), 0, 0));
}

// Ten elements of 8 bytes need two lines of 64 bytes; tanh saves its output only.
TEST(View, CountsTheStackOfConvertedInputs) {
  for (const auto& [type, saved] : {std::pair("gelu", 3 * 128), std::pair("tanh", 0)}) {
    const auto layer = test::newPointwise(world(), type);
    layer->setDataType(TENON_FLOAT64);
    layer->setStackDepth(3);
    layer->setText("signature", "B");
    layer->setUp(onWorld({5, 2}, "S0"));
    const std::string text = layer->describe();
    const std::string stack =
        fmt::format("saved activations {} B\n", world()->size() > 1 ? saved : 0);
    EXPECT_NE(text.find(stack), std::string::npos) << text;
  }
}

TEST(View, ShowsBoundaryModesAndTheInputOfTheirValues) {
  const Window window{.kernel = 3,
                      .padLow = 1,
                      .padHigh = 1,
                      .lowMode = Boundary::Values,
                      .highMode = Boundary::Reflect};
  const auto conv = test::newConv(world(), 1, 1, std::vector<Window>{window});
  const Layout line = onWorld({1, 1, 16}, "S2"), values = conv->form({line}).uses.front();
  conv->setUp(Layouts{line, values});
  expectLine(*conv, "kernel 3, stride 1, padding 1, boundary values/reflect");
  expectLine(*conv, "  boundary values " + values.summary(values.grid()));
  const auto fixed = test::newConv(world(), 1, 1, std::vector<Window>{window});
  fixed->set("boundary_constant", double(2.5));
  fixed->setUp(line);
  expectLine(*fixed, "boundary constant 2.5");
}

TEST(View, NamesTheInstructionsOfADirectConvolution) {
  const std::vector<InstructionSet> sets = directInstructionSets();
  if (sets.empty())
    GTEST_SKIP() << "this processor has neither AVX2 with FMA nor NEON";
  const Window window{.kernel = 3, .padLow = 1, .padHigh = 1};
  const auto conv = test::newConv(world(), 3, 4, std::vector<Window>(2, window));
  conv->setText("backend", "direct");
  conv->setUp(onWorld({1, 3, 8, 40}, "S2"));
  expectLine(*conv, fmt::format("backend direct ({})\n", instructionSetName(sets.back())));
}

// A convolution whose rows are split over the ranks: each fact has a line of its own, and the
// process grid is shown once.
TEST(View, HasTheNameFirstAndAFactALine) {
  const int n = world()->size();
  const Window window{.kernel = 3, .padLow = 1, .padHigh = 1};
  const auto conv = test::newConv(world(), 1, 8, std::vector<Window>(2, window));
  conv->setName("conv1");
  conv->setDataType(TENON_FLOAT64);
  conv->setText("backend", "blas");
  EXPECT_EQ(conv->describe(), "Layer \"conv1\": conv 2-D, 1 -> 8 channels, kernel 3x3, stride 1, "
                              "padding 1, float64\n  not set up\n");
  conv->setUp(onWorld({1, 1, 4 * n, 6}, "S2"));
  const std::string text = conv->describe();
  EXPECT_EQ(text.find(fmt::format("\n  process grid {}, signature h, backend blas (", n)),
            text.find('\n'))
      << text;
  EXPECT_EQ(text.find("process grid"), text.rfind("process grid")) << text;
  expectLine(*conv, fmt::format("\n  output  [1,8,{},6] S2\n", 4 * n));
  if (n > 2)
    expectLine(*conv,
               fmt::format("\n  input   [1,1,{0},6] S2 + halo of 1 in dim 2: at most 2 messages, "
                           "96 B per rank; {1} total\n",
                           4 * n, sizeText(2 * (n - 1) * 48)));
  EXPECT_EQ(text.find("glorot"), std::string::npos) << text;
  for (const std::string& line : split(wrapped(text), '\n'))
    EXPECT_LE(line.size(), 100U) << line;
}

// The layer is used on a grid with the ranks in reverse order. First each rank sends its block of
// four rows of six elements to the reversed rank, except the rank in the middle; then the halos are
// exchanged.
TEST(View, CountsTheWholeWayToAnotherGrid) {
  const int n = world()->size();
  if (n == 1)
    GTEST_SKIP() << "nothing travels";
  std::vector<int> reversed;
  for (int r = n; r-- > 0;)
    reversed.push_back(r);
  const Shape shape{1, 1, 4 * n, 6};
  const Window window{.kernel = 3, .padLow = 1, .padHigh = 1};
  const auto conv = test::newConv(world(), 1, 8, std::vector<Window>(2, window));
  conv->setDataType(TENON_FLOAT64);
  conv->setAssignment(test::usesOf(*conv, {Layout({.shape = shape,
                                                   .grid = Grid::make({n}, reversed),
                                                   .properties = {Property::shard(2)}})}));
  conv->setText("signature", "h");
  conv->setUp(onWorld(shape, "S2"));
  const int block = 4 * 6 * 8, row = 6 * 8,
            borders = n > 3 ? 2 : 1; // halo messages of a rank that also sends its block
  expectLine(*conv, fmt::format(": at most {} messages, {} per rank; {} total\n", 1 + borders,
                                sizeText(block + borders * row),
                                sizeText((n - n % 2) * block + 2 * (n - 1) * row)));
}

TEST(View, ShowsAllSettingsInDetail) {
  const auto layer = test::newAffine(world(), 3, 2);
  layer->setUp(onWorld({4, 3}, "S0"));
  options().set("-tenon_view_detail", "true");
  const std::string text = layer->describe();
  options().set("-tenon_view_detail", "false");
  EXPECT_NE(text.find("initializer glorot_uniform"), std::string::npos) << text;
  EXPECT_NE(text.find(onWorld({4, 3}, "S0").describe()), std::string::npos) << text;
}

// A ghosted array is copied for the kernel, and a contiguous array of the caller for the adjoint.
// Tensors of the library are not copied.
TEST(View, NamesTheArraysThatAreCopiedAtEachApply) {
  const auto layer = test::newAffine(world(), 3, 2);
  test::Step step(layer, onWorld({2 * world()->size(), 3}, "S0"));
  const auto copied = [&] { return layer->describe().find("copied at each") != std::string::npos; };
  const auto applyAndAdjoint = [&] {
    step.apply();
    step.adjoint();
  };
  applyAndAdjoint();
  EXPECT_FALSE(copied()) << layer->describe();
  step.x->setName("u");
  step.y->setName("r");
  std::vector<double> x(2 * 5), y(2 * 4);
  step.x->placeArray(&x[1], {5, 1}, {0, 1}, {0, 1}, /*readOnly=*/false);
  step.y->placeArray(y.data(), {4, 1}, {0, 0}, {0, 2}, /*readOnly=*/false);
  applyAndAdjoint();
  expectLine(*layer, "copied at each Apply: input, tensor \"u\" (strided array), 48 B");
  expectLine(*layer, "copied at each Apply: output, tensor \"r\" (strided array), 32 B");
  step.x->placeArray(x.data(), {3, 1}, {0, 0}, {0, 0}, /*readOnly=*/false);
  step.y->resetArray();
  applyAndAdjoint();
  expectLine(*layer,
             "copied at each Apply in training: input, tensor \"u\" (saved for the adjoint), 48");
  EXPECT_EQ(layer->describe().find("strided"), std::string::npos) << layer->describe();
  step.x->resetArray();
  applyAndAdjoint();
  EXPECT_FALSE(copied()) << layer->describe();
}

TEST(View, ShowsEachSharedLayerOnce) {
  const auto graph = test::residualNet(world());
  graph->setUp(onWorld({2, 3, 6, 5}, "S2"));
  const std::string text = graph->describe();
  const std::string line = "\n  weight ";
  EXPECT_NE(text.find(line), std::string::npos) << text;
  EXPECT_EQ(text.find(line), text.rfind(line)) << text;
}

} // namespace
} // namespace tenon
