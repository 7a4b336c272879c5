// SPDX-License-Identifier: BSD-2-Clause
// Declares the layer `linkedhalo`. A field can consist of patches, boxes of equal size that are the
// entries of the batch and that links join to one field (a multi-block grid). The output is the
// field together with a halo around each patch, which is filled with the elements of the adjacent
// patches:
//
//   patch 0  | a b c d |            out  | a b c d e |     (padding 0 before, 1 after)
//   patch 1  | e f g h |            (its right neighbour)
//
// Layers with windows usually exchange their halos themselves. As a layer, the halo is a value of
// the network: several layers can read a halo that was exchanged once, and a second source can
// write ghosts. For patches of a refined level that source is a sparse map from the coarser level,
// u = E x + F c: the links E leave zero where no patch of the level is adjacent, and the index map
// F fills these ghosts.
//
// Links and index map communicate, without a kernel. Settings give the width of the halo
// (padding). declareLinkedHalo() is declared in core/types.hpp.
#include "declaration/core/types.hpp"
#include "declaration/core/windowed.hpp"
#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

// The fields of a setting are name, type, default (nullptr: none), help, choices and bounds.
constexpr OptionSpec kLinkedHalo[] = {
    {"padding", OptionSpec::Ints, "0",
     "elements of the halo before each patch, one number for all spatial dimensions or one each",
     nullptr, atLeast(0)},
    {"padding_high", OptionSpec::Ints, nullptr,
     "elements of the halo after each patch, where they differ from those before it", nullptr,
     atLeast(0)},
    kVectorsSetting,
    {"index_map", OptionSpec::String, nullptr,
     "name of an index map to the field with its halo, whose result for a second input is added"}};

class LinkedHalo final : public Declaration {
public:
  LinkedHalo() : Declaration("linkedhalo", kLinkedHalo) {}
  bool takesLists() const override { return true; }
  bool fillsOutputHalo() const override { return true; }
  bool joinsPatches(const std::vector<Shape>&) const override { return true; }
  int inputCount() const override { return hasSecond() ? 2 : 1; }
  std::string inputAdvice() const override {
    return "; its second input is what its index map, which the setting index_map names, is "
           "applied to";
  }

  Shape outputShape(const std::vector<Shape>& inputs) const override { return inputs.front(); }
  SignatureTable rows(const std::vector<Shape>& inputs) const override {
    return elementwiseTable(static_cast<int>(inputs.front().size()), /*linear=*/true);
  }

  Form form(const Layouts& inputs, const Choice& choice) const override {
    if (!choice.labels.empty())
      throw Error(
          TENON_ERR_OPTION,
          fmt::format("{} does not take a signature, but \"{}\" was set; its output lies as "
                      "its input does",
                      title(), choice.labels));
    const Layout plain = inputs.front().withoutHalos(), output = withHalo(plain);
    checkPatches(plain);
    Form form{.signature = Signature::following(rows({plain.shape()}), plain),
              .inputs = inputs,
              .uses = {plain},
              .output = output};
    if (output.hasLinkedHalos())
      form.links = PatchRule{lists().links(),
                             vectorChannels(*this, plain.shape()[1], plain.ndim() - kFirstSpatial)};
    if (!hasSecond())
      return form;
    form.uses.push_back(inputs[1]);
    if (const Layout mapLayout = map()->rangeFor(inputs[1]); !(mapLayout == output))
      throw Error(
          TENON_ERR_LAYOUT,
          fmt::format("the index map \"{}\" of {} is to {}, but the field with its halo is {}; "
                      "make the map to that layout",
                      text("index_map"), title(), mapLayout.describe(), output.describe()));
    return form;
  }

  MapList maps(const Form& form, const Layouts&) const override {
    MapList list;
    ValueId x = list.input("x", form.inputs.front());
    const ValueId c = hasSecond() ? list.input("c", form.inputs[1]) : kNoValue,
                  y = list.output("y", form.output);
    if (!haveSameMemory(form.inputs.front(), form.uses.front()))
      x = list.convert("u", x, form.uses.front());
    // Without a linked halo the output is just a conversion of the input.
    if (form.links)
      list.applyLinks(*form.links, /*transposed=*/false, x, y);
    else
      list.apply(OperatorKind::Conversion, x, y);
    if (c != kNoValue)
      list.applyMap(map(), /*transposed=*/false, c, y); // is added to y
    return list;
  }

  std::string summary() const override {
    return hasSecond() ? fmt::format("and the index map \"{}\"", text("index_map")) : "";
  }

private:
  bool hasSecond() const { return isSet("index_map"); }

  void checkPatches(const Layout& plain) const {
    // Patches are the entries of the batch, dimension 0.
    const PatchLinksPtr& links = lists().links();
    if (!links)
      throw Error(TENON_ERR_STATE,
                  fmt::format("{} has no links; call TenonLayerSetLinks() of it or of the network "
                              "that contains it",
                              title()));
    if (links->patches() != plain.shape().front() ||
        links->spatialRank() != plain.ndim() - kFirstSpatial)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("{} reads {}, but its links join {} of {} spatial dimensions; patches "
                      "are the batch",
                      title(), plain.describe(), counted(links->patches(), "patch", "patches"),
                      links->spatialRank()));
    links->checkExtents({plain.shape().begin() + kFirstSpatial, plain.shape().end()});
  }

  IndexMapPtr map() const {
    if (IndexMapPtr map = lists().map(text("index_map")))
      return map;
    throw Error(
        TENON_ERR_STATE,
        fmt::format("{} has no index map \"{}\"; call TenonLayerSetIndexMap() of it or of a "
                    "network that contains it",
                    title(), text("index_map")));
  }

  // The layout of the field with a linked halo around each block: [4, 8) becomes [4 - low, 8 +
  // high), also where that is beyond the ends of the patch.
  Layout withHalo(const Layout& plain) const {
    const int spatial = spatialRankOf(plain.shape(), title());
    const auto low = value<std::vector<Index>>("padding"),
               high = isSet("padding_high") ? value<std::vector<Index>>("padding_high") : low;
    LayoutSpec spec = plain.spec();
    for (int s = 0; s < spatial; ++s) {
      const Index before = numberPerDimension(low, s, spatial, "padding", title()),
                  after = numberPerDimension(high, s, spatial, "padding_high", title());
      if (before == 0 && after == 0)
        continue;
      Halo halo{.boxes = {}, .low = Boundary::Linked, .high = Boundary::Linked};
      for (int part = 0; part < plain.parts(s + kFirstSpatial); ++part) {
        // Every block gets a halo, except empty ones.
        const Interval own = plain.owned(s + kFirstSpatial, part);
        constexpr const char* kBox = "an end of a patch with its halo";
        halo.boxes.push_back(own.empty() ? own
                                         : Interval{checkedDifference(own.begin, before, kBox),
                                                    checkedSum(own.end, after, kBox)});
      }
      spec.halos[s + kFirstSpatial] = std::move(halo);
    }
    return Layout(std::move(spec));
  }
};

} // namespace

std::unique_ptr<Declaration> declareLinkedHalo() {
  return std::make_unique<LinkedHalo>();
}

} // namespace tenon
