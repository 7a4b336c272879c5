// SPDX-License-Identifier: BSD-2-Clause
// Errors of layers on patches, and of the links between these: layers that would work on each patch
// separately, links that are missing or of another number of patches, and places and sides that do
// not fit. The texts name the patch and what to pass.
#include "layer_run.hpp"

namespace tenon {
namespace {

using test::expectErrorOnAll;
using test::world;

PatchLinksPtr rowOfTiles(Index tiles) {
  std::vector<std::vector<Index>> places(static_cast<std::size_t>(world()->size()));
  for (Index t = 0; t < tiles; ++t)
    places[t % world()->size()].push_back(t);
  return linkTiles({1, tiles}, places, {{}, {}});
}

TEST(Patches, LayersThatWorkOnEachPatchForItselfAreRefused) {
  const PatchLinksPtr links = rowOfTiles(3);
  const Layout field = rowsLayout(links->pattern(), {2, 4, 4});
  const auto expect = [&](const Ref<Layer>& layer, TenonErrorCode code,
                          std::initializer_list<const char*> parts) {
    const auto net = test::newLayer(world(), "sequential");
    appendLayer(*net, layer);
    net->setLinks(links);
    net->setDataType(TENON_FLOAT64);
    expectErrorOnAll(code, parts, [&] { net->setUp(field); });
  };
  for (const char* type : {"instancenorm", "globalaveragepooling", "flatten", "coordinates"}) {
    const auto layer = test::newLayer(world(), type);
    if (layer->declaration().settings().has("channels"))
      layer->set("channels", Index(2));
    expect(layer, TENON_ERR_SUPPORT, {type, "works on each patch for itself"});
  }
  const auto linear = test::newLayer(world(), "resample");
  linear->set("scale_factor", std::vector<Index>{2});
  linear->set("method", std::string("linear"));
  expect(linear, TENON_ERR_SUPPORT, {"resample", "works on each patch for itself"});
  using W = std::vector<Window>;
  const Window same{.kernel = 3, .padLow = 1, .padHigh = 1};
  expect(test::newConv(world(), 2, 1, W{same, same}), TENON_ERR_SUPPORT,
         {"pads each patch for itself in spatial dimension 1", "linked"});
  const Window valid{.kernel = 3, .lowMode = Boundary::Linked, .highMode = Boundary::Linked};
  expect(test::newConv(world(), 2, 1, W{valid, valid}), TENON_ERR_SHAPE,
         {"follow on", "expected 4"});
  const Window one{.kernel = 3, .padLow = 1, .padHigh = 1, .lowMode = Boundary::Linked};
  EXPECT_THROW(test::newConv(world(), 2, 1, W{one, same}), Error);
}

TEST(Patches, LinkedSidesNeedLinksOfTheirPatches) {
  using W = std::vector<Window>;
  const Window same{.kernel = 3,
                    .padLow = 1,
                    .padHigh = 1,
                    .lowMode = Boundary::Linked,
                    .highMode = Boundary::Linked};
  const Layout field = rowsLayout(rowOfTiles(3)->pattern(), {2, 4, 4});
  const auto conv = test::newConv(world(), 2, 1, W{same, same});
  expectErrorOnAll(TENON_ERR_STATE,
                   {"boundary mode \"linked\", but no links", "TenonLayerSetLinks()"},
                   [&] { conv->setUp(field); });
  conv->setLinks(rowOfTiles(2));
  expectErrorOnAll(TENON_ERR_SHAPE, {"works on 3 patches", "join 2 patches of 2 dimensions"},
                   [&] { conv->setUp(field); });
  conv->setLinks(rowOfTiles(3));
  conv->set("vectors", std::vector<Index>{1});
  expectErrorOnAll(TENON_ERR_ARG, {"names 1 channel", "give 2"}, [&] { conv->setUp(field); });
  conv->set("vectors", std::vector<Index>{1, 2});
  expectErrorOnAll(TENON_ERR_ARG, {"names channel 2"}, [&] { conv->setUp(field); });
}

TEST(Patches, LinksSayWhichPlacesAndSidesDoNotFit) {
  const auto expect = [](std::initializer_list<const char*> parts, auto&& call) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), TENON_ERR_ARG);
      for (const char* part : parts)
        EXPECT_NE(error.text().find(part), std::string::npos) << part << " in " << error.text();
    }
  };
  expect({"rank 1", "place 6 of 2x3"}, [] { linkTiles({2, 3}, {{0}, {6}}, {{}, {}}); });
  expect({"rank 1", "at 0,2 of 2x3", "patch 1"}, [] {
    linkTiles({2, 3}, {{0, 2}, {2}}, {{}, {}});
  });
  expect({"values"}, [] { linkTiles({1}, {{0}}, {{Boundary::Values, Boundary::Zero}}); });
  expect({"side 1 of patch 0", "side 0 of patch 1", "to none"}, [] {
    linkSides(1, {{{}, {.patch = 1, .side = 0}}, {{}, {}}}); // patch 1 has no link back
  });
  expect({"side 0 of patch 0", "side 2 of patch 0, turned 0"}, [] {
    linkSides(1, {{{.patch = 0, .side = 2}, {}}}); // in one dimension sides are 0 and 1
  });
}

} // namespace
} // namespace tenon
