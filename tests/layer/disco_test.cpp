// SPDX-License-Identifier: BSD-2-Clause
// Discrete-continuous convolutions on the sphere against torch-harmonics 0.9.3 (tests/data/
// disco.json): output, input gradient and parameter gradients of every basis and normalisation, in
// every layout and with every label. Fields whose first row is in the south give the mirrored
// output. The numbers see filters that are turned the wrong way, are not normalised, or miss a row
// beyond a block.
#include "run_layer.hpp"
#include "support/draws.hpp"
#include "support/finds_a_fault.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace tenon {
namespace {

using test::elementsOf;
using test::gathered;
using test::onWorld;

using Json = nlohmann::json;

const Json& discoCases() {
  static const Json all = Json::parse(std::ifstream(TENON_TEST_DATA "/disco.json"));
  return all;
}

Shape discoField(const Json& c) {
  const auto field = c["field"].get<std::vector<Index>>();
  return {1, c["inputs"].get<Index>(), field[0], field[1]};
}

Ref<Layer> discoLayer(const Json& c) {
  return test::layerWith(c["transposed"].get<bool>() ? "transposeddisco" : "disco",
                         {{"in_channels", c["inputs"].get<Index>()},
                          {"out_channels", c["outputs"].get<Index>()},
                          {"groups", c["groups"].get<Index>()},
                          {"kernel", c["kernel"].get<std::vector<Index>>()},
                          {"basis", c["basis"].get<std::string>()},
                          {"normalisation", c["normalisation"].get<std::string>()},
                          {"cutoff", c["cutoff"].get<double>()},
                          {"grid", c["grid"].get<std::string>()},
                          {"output_grid", c["output_grid"].get<std::string>()},
                          {"size", c["size"].get<std::vector<Index>>()}});
}

void setParameters(Layer& layer) {
  const int seeds[] = {2, 4}; // of weight and bias, as in the file
  for (std::size_t p = 0; p < 2; ++p) {
    Parameter& parameter = *layer.parameters()[p];
    test::fillFrom(parameter.value(), elementsOf(parameter.value().layout().shape(), seeds[p]));
    parameter.valueChanged();
  }
}

void expectDisco(const Json& c, const Layout& input, const std::string& labels,
                 TenonDataType type = TENON_FLOAT64) {
  const Ref<Layer> layer = discoLayer(c);
  if (!labels.empty())
    layer->setText("signature", labels);
  test::Step step(layer, input, type);
  test::fillFrom(*step.x, elementsOf(discoField(c)));
  setParameters(*layer);
  const auto expect = [&](const std::vector<double>& got, const char* name) {
    test::expectNear(got, c[name].get<std::vector<double>>(), type == TENON_FLOAT64 ? 1e-12 : 1e-5,
                     name + (" of " + layer->describe()) + " in " + input.describe());
  };
  step.apply();
  ASSERT_NO_FATAL_FAILURE(expect(gathered(*step.y), "y"));
  if (step.dy->layout().holdsPartialSums())
    return;
  test::fillFrom(*step.dy, elementsOf(step.dy->layout().shape(), 3));
  step.adjoint();
  ASSERT_NO_FATAL_FAILURE(expect(gathered(*step.dx), "dx"));
  ASSERT_NO_FATAL_FAILURE(expect(gathered(layer->parameters()[0]->gradient()), "dw"));
  ASSERT_NO_FATAL_FAILURE(expect(gathered(layer->parameters()[1]->gradient()), "db"));
}

// All cases on one and two ranks; on more, one of each direction with groups, and one without.
std::vector<Json> testedCases() {
  const Json& all = discoCases();
  if (test::world()->size() <= 2)
    return {all.begin(), all.end()};
  return {all[1], all[4], all[8]};
}

TEST(Disco, EqualsTorchHarmonicsInEveryLayout) {
  int number = 0;
  for (const Json& c : testedCases())
    for (const std::string& split : test::splitsOf(discoField(c)))
      ASSERT_NO_FATAL_FAILURE(expectDisco(c, onWorld(discoField(c), split), "",
                                          ++number % 4 == 0 ? TENON_FLOAT32 : TENON_FLOAT64));
}

TEST(Disco, EqualsTorchHarmonicsWithEveryLabel) {
  const int size = test::world()->size();
  for (const Json& c : testedCases()) {
    const bool isGrouped = c["groups"] > 1;
    for (const std::string first :
         {"n", "h", "w", isGrouped ? "g" : "o", isGrouped ? "g" : "i", "B", "R"})
      if (size % 2 == 0) {
        ASSERT_NO_FATAL_FAILURE(
            expectDisco(c, onWorld(discoField(c), {2, size / 2}, "S2,S3"), first + ",w"));
        ASSERT_NO_FATAL_FAILURE(
            expectDisco(c, onWorld(discoField(c), {2, size / 2}, "S3,S1"), "h," + first));
      } else {
        ASSERT_NO_FATAL_FAILURE(expectDisco(c, onWorld(discoField(c), "S3"), first));
      }
  }
}

TEST(Disco, EqualsTorchHarmonicsInDrawnLayouts) {
  test::LayoutDraw draw(67);
  for (int i = 0, end = test::draws(20); i < end; ++i) {
    const Json& c = discoCases()[std::size_t(i) % discoCases().size()];
    const Layout input = test::drawInput(draw, discoField(c));
    if (!input.holdsPartialSums()) {
      ASSERT_NO_FATAL_FAILURE(expectDisco(c, input, ""));
    }
  }
}

// Turns a list of fields over, so the first row becomes the last one.
std::vector<double> turnedOver(const std::vector<double>& x, Index rows, Index columns) {
  std::vector<double> turned;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index column = Index(i) % columns, row = Index(i) / columns % rows,
                field = Index(i) / (rows * columns);
    turned.push_back(x[std::size_t((field * rows + rows - 1 - row) * columns + column)]);
  }
  return turned;
}

TEST(Disco, MirrorsFieldsFromTheSouth) {
  for (const Json& c : discoCases()) {
    const Shape field = discoField(c);
    const Ref<Layer> layer = discoLayer(c);
    layer->setText("first_row", "south");
    test::Step step(layer, onWorld(field, "S2"));
    test::fillFrom(*step.x, turnedOver(elementsOf(field), field[2], field[3]));
    setParameters(*layer);
    step.apply();
    const Shape y = step.y->layout().shape();
    // The direction of a point at the centre of a filter is arbitrary at a pole.
    test::expectNear(turnedOver(gathered(*step.y), y[2], y[3]), c["y"].get<std::vector<double>>(),
                     1e-12, layer->describe());
  }
}

// Exchanges east and west.
std::vector<double> mirrored(const std::vector<double>& x, Index columns) {
  std::vector<double> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Index column = Index(i) % columns;
    result[i + std::size_t((columns - column) % columns) - std::size_t(column)] = x[i];
  }
  return result;
}

// Whether the numbers of a case tell apart the output of a layer with another setting, of which
// `before` changes the input and `after` the output.
template <class Before, class After>
bool seesFault(const Json& c, const char* setting, const char* value, const Before& before,
               const After& after) {
  const Shape field = discoField(c);
  const Ref<Layer> layer = discoLayer(c);
  layer->setText(setting, value);
  test::Step step(layer, onWorld(field, "S2"));
  test::fillFrom(*step.x, before(elementsOf(field)));
  setParameters(*layer);
  step.apply();
  const std::vector<double> y = after(gathered(*step.y), step.y->layout().shape());
  return test::findsAFault(
      [&] { test::expectNear(y, c["y"].get<std::vector<double>>(), 1e-12, "y"); });
}

TEST(Disco, TheNumbersSeeFaults) {
  const Json& c = discoCases()[1];
  const Shape field = discoField(c);
  const auto same = [](const std::vector<double>& x, auto&&...) { return x; };
  const auto normalisation = c["normalisation"].get<std::string>();
  EXPECT_FALSE(seesFault(c, "normalisation", normalisation.c_str(), same, same));
  EXPECT_TRUE(seesFault(c, "normalisation", "none", same, same));
  // A filter that is turned to the west instead of to the east.
  EXPECT_TRUE(seesFault(
      c, "normalisation", normalisation.c_str(),
      [&](const std::vector<double>& x) { return mirrored(x, field[3]); },
      [](const std::vector<double>& y, const Shape& shape) { return mirrored(y, shape[3]); }));
  // A row of the input that does not arrive.
  for (Index row = 0; row < field[2]; ++row)
    EXPECT_TRUE(seesFault(
        c, "normalisation", normalisation.c_str(),
        [&](std::vector<double> x) {
          for (std::size_t i = 0; i < x.size(); ++i)
            if (Index(i) / field[3] % field[2] == row)
              x[i] = 0;
          return x;
        },
        same))
        << row;
}

// A filter of one hat on all of the sphere, normalised to 1: the layer is a mean, also at the
// poles, where all longitudes are one point.
TEST(Disco, KeepsAConstantField) {
  for (const char* grid : {"gauss", "poles", "cells"}) {
    const Shape field = {2, 1, 9, 16};
    const Ref<Layer> layer = test::layerWith("disco", {{"in_channels", Index(1)},
                                                       {"out_channels", Index(1)},
                                                       {"kernel", std::vector<Index>{1}},
                                                       {"cutoff", 0.6},
                                                       {"grid", std::string(grid)},
                                                       {"size", std::vector<Index>{5, 8}},
                                                       {"bias", false}});
    test::Step step(layer, onWorld(field, "S3"));
    test::fillFrom(*step.x, std::vector<double>(std::size_t(elements(field)), 3));
    Parameter& weight = *layer->parameters()[0];
    test::fillFrom(weight.value(), {0.5});
    weight.valueChanged();
    step.apply();
    test::expectNear(gathered(*step.y), std::vector<double>(80, 1.5), 1e-13, grid);
  }
}

} // namespace
} // namespace tenon
