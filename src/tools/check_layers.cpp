// SPDX-License-Identifier: BSD-2-Clause
// The layers that `tenon check` draws.
#include "tools/check_kinds.hpp"
#include "tools/check_layer.hpp"
#include "tools/check_window.hpp"
#include "tools/layout_draw.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::tools {

namespace {

std::vector<std::string> splits(std::size_t ndim) {
  std::vector<std::string> letters = {"B", "R"};
  for (std::size_t d = 0; d < ndim; ++d)
    letters.push_back("S" + std::to_string(d));
  return letters;
}

Indices batchShape(Draw& draw, int minDims) {
  return drawShape(draw, minDims, 3, 6);
}

void checkAffine(Case& c) {
  const Index inputs = c.draw.between(1, 6), outputs = c.draw.between(1, 6);
  const bool bias = c.draw.chance(70);
  c.text += fmt::format(" to {}{}", outputs, bias ? "" : " without bias");
  checkLayer(c, {.inputs = {{c.draw.between(0, 5), inputs}},
                 .make =
                     [=](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateAffine(comm, inputs, outputs, layer.out()));
                       require(TenonLayerSetBias(layer, bias));
                       return layer;
                     },
                 .letters = {"n", "o", "i", "B", "R", "P"}});
}

void checkPointwise(Case& c) {
  const std::string name =
      c.draw.of<std::string>({"relu", "leakyrelu", "tanh", "sigmoid", "gelu", "gelutanh", "silu",
                              "softplus", "scale", "identity"});
  const Indices shape = batchShape(c.draw, 1);
  std::vector<std::string> letters = splits(shape.size());
  if (name == "scale" || name == "identity")
    letters.push_back("P");
  c.text += " " + name;
  checkLayer(c, {.inputs = {shape},
                 .make =
                     [=](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreatePointwise(comm, name.c_str(), layer.out()));
                       if (name == "leakyrelu")
                         require(TenonLayerSetSlope(layer, 0.25));
                       if (name == "scale")
                         require(TenonLayerSetFactor(layer, -1.5));
                       return layer;
                     },
                 .letters = letters});
}

void checkFlatten(Case& c) {
  Indices shape = {c.draw.between(0, 4), c.draw.between(1, 4)};
  for (int more = c.draw.between(0, 2); more > 0; --more)
    shape.push_back(c.draw.between(1, 4));
  checkLayer(c, {.inputs = {shape},
                 .make =
                     [](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateFlatten(comm, layer.out()));
                       return layer;
                     },
                 .letters = {"n", "c", "B", "R", "P"}});
}

void checkDropout(Case& c) {
  const Indices shape = batchShape(c.draw, 1);
  checkLayer(c, {.inputs = {shape},
                 .make =
                     [](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateDropout(comm, 0.4, layer.out()));
                       return layer;
                     },
                 .letters = splits(shape.size()),
                 .isRandom = true});
}

void checkCrossEntropy(Case& c) {
  const Index samples = c.draw.between(1, 6), classes = c.draw.between(1, 6);
  LayerPlan plan{.inputs = {{samples, classes}},
                 .make =
                     [](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateCrossEntropy(comm, layer.out()));
                       return layer;
                     },
                 .letters = {"n", "c", "B", "R"},
                 .targetShape = {samples}};
  for (Index i = 0; i < samples; ++i)
    plan.target.push_back(c.draw.upTo(static_cast<int>(classes) - 1));
  checkLayer(c, plan);
}

void checkMeanSquaredError(Case& c) {
  Indices shape(c.draw.between(1, 3));
  for (Index& extent : shape)
    extent = c.draw.between(1, 5);
  LayerPlan plan{.inputs = {shape},
                 .make =
                     [](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(TenonLayerCreateMeanSquaredError(comm, layer.out()));
                       return layer;
                     },
                 .letters = splits(shape.size()),
                 .targetShape = shape,
                 .targetType = drawFloating(c.draw)};
  const Filling filling{c.draw.number(), Numbers::Fractions};
  for (Index i = 0; i < cellsOf(shape); ++i)
    plan.target.push_back(filling.at(static_cast<std::uint64_t>(i)));
  checkLayer(c, plan);
}

// Sums and concatenations of one to three inputs.
void checkJoin(Case& c) {
  const bool isSum = c.draw.chance(50);
  const Indices shape = batchShape(c.draw, 1);
  const int dim = c.draw.upTo(static_cast<int>(shape.size()) - 1);
  std::vector<Indices> inputs(c.draw.between(1, 3), shape);
  for (Indices& input : inputs)
    input[dim] = isSum ? shape[dim] : c.draw.between(1, 4);
  std::vector<std::string> letters = splits(shape.size());
  letters.push_back("P");
  c.text += isSum ? " add" : fmt::format(" concatenate along {}", dim);
  checkLayer(c, {.inputs = inputs,
                 .make =
                     [=](MPI_Comm comm, const MeshSpec*) {
                       Layer layer;
                       require(isSum ? TenonLayerCreateAdd(comm, layer.out())
                                     : TenonLayerCreateConcatenate(comm, dim, layer.out()));
                       return layer;
                     },
                 .letters = letters});
}

void checkMove(Case& c) {
  const Indices shape = batchShape(c.draw, 1);
  const LayoutSpec to = drawLayout(c.draw, shape, drawMesh(c.draw, c.ranks));
  c.text += " to " + to.text();
  checkLayer(c, {.inputs = {shape}, .make = [=](MPI_Comm comm, const MeshSpec* mesh) {
                   Layer layer;
                   require(TenonLayerCreateRepartition(
                       comm, makeLayout(comm, mesh ? to : everywhere(shape, 1)), layer.out()));
                   return layer;
                 }});
}

} // namespace

std::vector<CaseKind> layerKinds() {
  return {
      {"convolution", checkConvolution, 4},
      {"pooling", checkPooling, 2},
      {"affine", checkAffine},
      {"pointwise", checkPointwise},
      {"flatten", checkFlatten},
      {"dropout", checkDropout},
      {"crossentropy", checkCrossEntropy},
      {"meansquarederror", checkMeanSquaredError},
      {"join", checkJoin},
      {"move", checkMove},
      {"network", checkNetwork},
  };
}

} // namespace tenon::tools
