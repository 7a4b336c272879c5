// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/grouped_windowed.hpp"

#include "sys/error.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

namespace tenon {

SignatureTable GroupedWindowed::rowsOf(const WeightDims& weight) const {
  const auto S = [](int d) { return Property::shard(d); };
  const Property B = Property::broadcast(), P = Property::partial(), R = Property::root();
  SignatureTable table = {{"n", S(0), {B, B}, S(0)}};
  if (groups() > 1) {
    table.push_back({"g", S(1), {S(0), S(0)}, S(1)});
  } else {
    table.push_back({"o", B, {S(weight.output), S(0)}, S(1)});
    table.push_back({"i", S(1), {S(weight.input), R}, P});
  }
  for (int s = 0; s < spatialRank(); ++s) {
    const Property space = S(s + kFirstSpatial);
    table.push_back({spatialLetter(s, spatialRank()), space, {B, B}, space});
  }
  table.push_back({"B", B, {B, B}, B});
  table.push_back({"R", R, {R, R}, R});
  table.push_back({"P", P, {B, R}, P});
  return table;
}

void GroupedWindowed::check() const {
  Windowed::check();
  std::vector<std::string> channels;
  bool divides = true;
  for (const auto& [name, noun] : {std::pair("in_channels", "input"), {"out_channels", "output"}})
    if (settings().isSet(name)) {
      channels.push_back(fmt::format("{} {}", integer(name), noun));
      divides &= integer(name) % groups() == 0;
    }
  if (!divides)
    throw Error(TENON_ERR_ARG,
                fmt::format("the number of groups, {}, must divide the {} channels of {}", groups(),
                            joined(channels, " and "), title()));
}

void GroupedWindowed::checkInput(const Layout& input, const std::string& letters) const {
  const Index channels = integer("in_channels");
  if (input.shape()[1] != channels)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has {2} channels in dimension 1, but {0} needs {1}", title(),
                            channels, input.shape()[1]));
  if (groups() > 1 && letters.find_first_of("oi") != std::string::npos)
    throw Error(TENON_ERR_OPTION,
                fmt::format("the signature \"{}\" of {} splits channels by o or i, but the "
                            "channels are in {} groups; split them by g",
                            letters, title(), groups()));
}

Layout GroupedWindowed::plainLayout(const Layout& input, const MeshPtr& mesh,
                                    const TensorSignature& asked) const {
  Layout plain = Windowed::plainLayout(input, mesh, asked);
  LayoutSpec spec = plain.spec();
  spec.cuts[1] = plain.cuts(1);
  if (groups() == 1 || spec.cuts[1].size() <= 2)
    return plain;
  const Index channels = inOfGroup();
  for (Index& cut : spec.cuts[1])
    cut = (cut + channels / 2) / channels * channels;
  return Layout(std::move(spec));
}

std::vector<Index> GroupedWindowed::channelCuts(const Layout& plain) const {
  std::vector<Index> cuts;
  if (groups() > 1)
    for (Index cut : plain.cuts(1))
      cuts.push_back(cut / inOfGroup() * outOfGroup());
  return cuts;
}

Index GroupedWindowed::taps() const {
  Index taps = 1;
  for (const Index extent : windowSizes())
    taps *= extent;
  return taps;
}

std::string GroupedWindowed::channelText() const {
  return fmt::format("{}-D, {} -> {} channels{}, {}", spatialRank(), integer("in_channels"),
                     integer("out_channels"),
                     groups() > 1 ? fmt::format(" in {} groups", groups()) : "", windowText());
}

} // namespace tenon
