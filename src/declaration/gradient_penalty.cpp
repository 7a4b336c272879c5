// SPDX-License-Identifier: BSD-2-Clause
// The squared gradient of a field e, the error x - t or x itself, by first differences in space:
//
//   terms of cells  sum over d of ((e[i + 1 in d] - e[i]) / spacing_d)^2,
//
// where a difference beyond the domain's last cell is left out, or goes round where it is periodic.
// Each rank has the differences whose low end it owns, and reads one cell further: a halo.
#include "declaration/declaration_types.hpp"
#include "declaration/loss.hpp"
#include "declaration/spacing.hpp"
#include "declaration/window_layout.hpp"
#include "sys/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr OptionSpec kGradientPenaltySettings[] = {
    kReductionSetting,
    kWeightsSetting,
    {"spacing", OptionSpec::String, "1",
     "distance of grid points: one number for all spatial dimensions, or one each as in 0.1,0.2"},
    {"periodic", OptionSpec::Flag, "false", "differences go round from the last cell to the first"},
    {"with_target", OptionSpec::Flag, "true",
     "penalize the gradient of the error, input minus target, instead of that of the input"},
};

class GradientPenalty final : public Loss {
public:
  GradientPenalty() : Loss("gradientpenalty", kGradientPenaltySettings, "u") {}
  bool takesTarget() const override { return flag("with_target"); }

  Example example(ExampleDraw& draw) const override {
    const Shape shape = draw.shape(3, 5);
    return {.settings = {{"loss_reduction", draw.of<std::string>({"mean", "sum"})},
                         {"spacing", draw.of<std::string>({"1", "0.5"})},
                         {"periodic", draw.chance(50)}},
            .inputs = {shape},
            .target = shape};
  }

private:
  void check() const override { spacing(text("spacing"), 0, title()); }

  void checkInput(const Shape& x) const override {
    const int spatial = static_cast<int>(x.size()) - kFirstSpatial;
    if (spatial < 1 || spatial > kMostSpatial)
      throw Error(
          TENON_ERR_SHAPE,
          fmt::format("the input has shape [{1}], but {0} needs 1 to {2} spatial dimensions "
                      "behind batch and channel",
                      title(), fmt::join(x, ","), kMostSpatial));
    spacing(text("spacing"), spatial, title());
  }

  Layout readLayout(const Layout& use) const override {
    LayoutSpec spec = use.spec();
    for (int d = kFirstSpatial; d < use.rank(); ++d) {
      const bool periodic = flag("periodic");
      if (use.parts(d) == 1 && !periodic)
        continue;
      Margin margin{.boxes = {}, .high = periodic ? Boundary::Periodic : Boundary::None};
      const Index last = use.shape()[d] + (periodic ? 1 : 0);
      for (int part = 0; part < use.parts(d); ++part) {
        const Interval owned = use.owned(d, part);
        margin.boxes.push_back(
            {owned.begin, owned.empty() ? owned.end : std::min(owned.end + 1, last)});
      }
      spec.margins[d] = std::move(margin);
    }
    return Layout(std::move(spec));
  }
};

} // namespace

std::unique_ptr<Declaration> declareGradientpenalty() {
  return std::make_unique<GradientPenalty>();
}

} // namespace tenon
