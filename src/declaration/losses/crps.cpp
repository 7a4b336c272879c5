// SPDX-License-Identifier: BSD-2-Clause
// Declares the loss `crps`, the continuous ranked probability score of an ensemble (Gneiting and
// Raftery 2007). The batch has the E members of each sample one after the other, and the target has
// one field for each sample. The terms, one for each element of the target, are
//
//   (1/E) sum over i of |x_i - t|  -  f/2 sum over i and j of |x_i - x_j|
//
// with f = 1/E^2 for the plain score, that of the empirical distribution of the members; the fair
// score, f = 1/(E (E - 1)), is independent of E on average (Ferro 2014). `alpha` mixes the factors:
// f = alpha / (E (E - 1)) + (1 - alpha) / E^2, as in the almost fair score of Lang et al. 2024.
//
// All members of a sample are on one rank. Axes that split the batch split samples; if there are
// fewer samples than processes, they split the longest other dimension instead, so an ensemble
// whose members are on different ranks is exchanged once.
//
// declareCrps() is declared in core/types.hpp; the kernel is in layer/types/crps.cpp.
#include "declaration/core/types.hpp"
#include "declaration/losses/losses.hpp"
#include "geometry/layout/layout.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kCrpsSettings[] = {
    kReductionSetting,
    kWeightsSetting,
    kAreaSetting,
    kAreaDimSetting,
    {"members", OptionSpec::Int, nullptr,
     "members of an ensemble, which follow each other in the batch", nullptr, atLeast(1)},
    {"alpha", OptionSpec::Real, "1",
     "1: the fair score; 0: the score of the members' empirical distribution; between them, a mean "
     "with these weights"},
};

class Crps final : public Loss {
public:
  Crps() : Loss("crps", kCrpsSettings, "u") {}

  Layout termsLayout(const Layout& use) const override {
    LayoutSpec spec = use.withoutHalos().spec();
    spec.shape[kSamples] /= members();
    for (Index& cut : spec.cuts[kSamples])
      cut /= members();
    return Layout(std::move(spec));
  }
  Example example(ExampleDraw& draw) const override {
    Shape shape = draw.shape(1, 3);
    const Index members = draw.between(2, 4);
    const Shape target = shape;
    shape[kSamples] *= members;
    return {.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})},
                         {"members", members},
                         {"alpha", 0.25 * double(draw.between(0, 4))}},
            .inputs = {shape},
            .target = target};
  }

private:
  Index members() const { return integer("members"); }

  void check() const override {
    const double alpha = real("alpha");
    if (!(alpha >= 0 && alpha <= 1))
      throw Error(TENON_ERR_ARG,
                  fmt::format("alpha of {} is {}; set a number from 0 to 1", title(), alpha));
  }
  void checkInput(const Shape& x) const override {
    if (members() == 1 && real("alpha") > 0)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} has 1 member, but the fair score needs at least 2; set alpha to "
                              "0, or more members",
                              title()));
    if (x.empty() || x[kSamples] % members() != 0)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the input has shape [{1}], but {0} has {2} members, which must "
                              "divide the batch, dimension 0",
                              title(), fmt::join(x, ","), members()));
  }

  // All members of a sample on one rank.
  Layout readLayout(const Layout& use) const override {
    const Shape& shape = use.shape();
    const auto longest = std::max_element(shape.begin() + 1, shape.end());
    const Property instead = longest == shape.end()
                                 ? Property::broadcast()
                                 : Property::shard(static_cast<int>(longest - shape.begin()));
    Properties properties = use.properties();
    std::vector<CutSource> cuts;
    for (int d = 0; d < use.ndim(); ++d)
      cuts.push_back({&use, d});
    Index parts = 1;
    for (int axis = 0; axis < use.grid().axes(); ++axis) {
      if (properties[axis] != Property::shard(kSamples))
        continue;
      const Index extent = use.grid().extent(axis);
      if (parts * extent <= shape[kSamples] / members())
        parts *= extent;
      else
        properties[axis] = instead;
    }
    const Layout whole =
        properties == use.properties() ? use : makeLayout(shape, use.gridPtr(), properties, cuts);
    return cutAtMultiples(whole, kSamples, members());
  }
  SourceEntry target(const Layout& use) const override {
    return {.name = "target", .of = SourceEntry::Of::Target, .use = termsLayout(use)};
  }
};

} // namespace

std::unique_ptr<Declaration> declareCrps() {
  return std::make_unique<Crps>();
}

} // namespace tenon
