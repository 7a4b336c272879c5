// SPDX-License-Identifier: BSD-2-Clause
// What a declaration says of a layer without a rank is what the set-up layer is: layouts of output and
// parameters, conversions, operations, on every rank, for every type and every combination of labels.
#include "layer_run.hpp"

#include "declaration/declaration_types.hpp"
#include "sys/log.hpp"

namespace tenon {
namespace {

using test::onWorld;
using test::world;

// Meshes of all ranks: one axis, and two where that can be.
std::vector<MeshPtr> meshes() {
  const int ranks = world()->size();
  std::vector<MeshPtr> all = {Mesh::make({ranks})};
  for (int rows = 2; rows < ranks; ++rows)
    if (ranks % rows == 0)
      all.push_back(Mesh::make({rows, ranks / rows}));
  return all;
}

// Every word of labels on a mesh.
std::vector<std::string> wordsOn(const SignatureTable& table, int axes) {
  std::vector<std::string> words = {""};
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<std::string> longer;
    for (const std::string& word : words)
      for (const SignatureRow& row : table)
        longer.push_back(word + (word.empty() ? "" : ",") + row.letter);
    words = std::move(longer);
  }
  return words;
}

// On this rank, since the log was reset.
double countedFlops() {
  double sum = 0;
  for (const EventRecord& record : logSnapshot())
    if (record.event == "LocalKernel")
      sum += record.flops;
  return sum;
}

void expectForm(const test::LayerCase& sample, const Layout& input, const std::string& letters) {
  const auto layer = sample.make(world());
  layer->setText("signature", letters);
  const auto declaration = makeDeclaration(layer->type());
  declaration->takeSettings(layer->declaration());
  const Form form = declaration->form({input}, {.letters = letters});
  layer->setUp(input);
  const std::string what = sample.name + (" " + letters) + " for " + input.describe();
  EXPECT_EQ(form.output, layer->outputLayout()) << what;
  const auto parameters = layer->parameters();
  ASSERT_EQ(form.parameters.size(), parameters.size()) << what;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    EXPECT_EQ(form.parameters[p].name, parameters[p]->name()) << what;
    EXPECT_EQ(form.parameters[p].use.withoutMargins(), parameters[p]->storage()) << what;
  }
  EXPECT_EQ(form.output.shape(), declaration->outputShape({input.shape()})) << what;
  if (!layer->declaration().takesTarget()) {
    test::Step step(layer, input, TENON_FLOAT32);
    logReset();
    logEnable(true);
    step.apply();
    const double counted = countedFlops();
    logEnable(false);
    const int here = form.output.mesh().position(world()->rank());
    EXPECT_EQ(counted, declaration->work(form, here).forward) << what;
  }
}

TEST(Forms, AreTheSetUpLayers) {
  for (const std::string& type : test::typesWithExamples())
    for (const test::LayerCase& sample : test::exampleCases(type, 4))
      for (const MeshPtr& mesh : meshes()) {
        const auto layer = sample.make(world());
        const SignatureTable table = layer->declaration().rows({sample.input});
        for (const std::string& letters : wordsOn(table, mesh->axes())) {
          const Layout input({.shape = sample.input,
                              .mesh = mesh,
                              .properties = Properties(mesh->axes(), Property::broadcast())});
          ASSERT_NO_FATAL_FAILURE(expectForm(sample, input, letters));
        }
      }
}

// A layer may be asked to lie on a mesh that its input does not lie on.
TEST(Forms, MayLieOnAnotherMesh) {
  const auto conv = makeDeclaration("conv");
  conv->set("in_channels", Index(3));
  conv->set("out_channels", Index(8));
  conv->set("kernel", std::vector<Index>{3, 3});
  const Layout input(
      {.shape = {16, 3, 32, 32}, .mesh = Mesh::make({6}), .properties = {Property::shard(2)}});
  const MeshPtr other = Mesh::make({2, 4});
  const Form form = conv->form({input}, {.mesh = other, .letters = "n,o"});
  EXPECT_EQ(form.output.mesh(), *other);
  EXPECT_EQ(form.output.properties(), parseProperties("S0,S1"));
  EXPECT_EQ(form.uses[0].properties(), parseProperties("S0,B"));
  EXPECT_EQ(form.parameters[0].use.properties(), parseProperties("B,S0"));
  EXPECT_THROW(conv->form({input}, {.mesh = other}), Error); // labels must be named
}

} // namespace
} // namespace tenon
