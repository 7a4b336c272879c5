// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_figure.hpp"

#include "tools/plan_system.hpp"
#include "tools/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools {

namespace {

constexpr double kImages = 1.2e6;
constexpr TenonInt kStrongBatch = 2048, kSmallBatch = 512, kSamplesEach = 4;
constexpr TenonInt kProcesses[] = {8, 32, 128, 512};
constexpr TenonInt kManyProcesses[] = {512, 1024, 2048, 4096};

// The price of an iteration on a grid of rows x columns.
class FigureCost {
public:
  FigureCost(const std::string& network, TenonInt batch, double latency, double bandwidth)
      : batch_(batch) {
    for (auto* plan : {&once_, &twice_}) {
      require(
          TenonPlanCreateNamed(network.c_str(), plan == &once_ ? batch : 2 * batch, plan->out()));
      require(TenonPlanSetLink(*plan, latency, bandwidth));
    }
  }

  // The equations grow with the batch by the same amount for each sample.
  FigureBar bar(const char* equation, TenonInt rows, TenonInt columns, bool hasBatchOnly) const {
    const double once = seconds(once_, equation, rows, columns, hasBatchOnly);
    const double twice = seconds(twice_, equation, rows, columns, hasBatchOnly);
    const double epoch = kImages / static_cast<double>(batch_);
    return {fmt::format("{}x{}", rows, columns), epoch * once, epoch * (2 * once - twice)};
  }

private:
  static double seconds(TenonPlan plan, const char* equation, TenonInt rows, TenonInt columns,
                        bool hasBatchOnly) {
    double found = 0;
    require(TenonPlanGetPublishedSeconds(plan, equation, rows, columns, hasBatchOnly ? 1 : rows,
                                         hasBatchOnly ? rows * columns : columns, &found));
    return found;
  }

  TenonInt batch_;
  Plan once_, twice_;
};

// All grids of so many processes.
FigurePanel gridsOf(const FigureCost& cost, TenonInt batch, TenonInt processes, bool hasBatchOnly) {
  FigurePanel panel{fmt::format("{} processes, batch {}", processes, batch), {}};
  for (TenonInt rows = 1; rows <= processes; rows *= 2)
    panel.bars.push_back(cost.bar("eq8", rows, processes / rows, hasBatchOnly));
  return panel;
}

} // namespace

std::vector<FigurePanel> figureOf(const std::string& network, TenonInt figure, double latency,
                                  double bandwidth) {
  std::vector<FigurePanel> panels;
  const auto costFor = [&](TenonInt batch) {
    return FigureCost(network, batch, latency, bandwidth);
  };
  switch (figure) {
  case 6:
  case 7:
    for (TenonInt processes : kProcesses)
      panels.push_back(gridsOf(costFor(kStrongBatch), kStrongBatch, processes, figure == 7));
    return panels;
  case 9:
    for (TenonInt processes : kProcesses)
      panels.push_back(
          gridsOf(costFor(kSamplesEach * processes), kSamplesEach * processes, processes, false));
    return panels;
  case 10:
    for (const char* equation : {"eq9", "eq8"}) {
      FigurePanel& panel =
          panels.emplace_back(FigurePanel{fmt::format("{}, batch {}", equation, kSmallBatch), {}});
      for (TenonInt processes : kManyProcesses)
        panel.bars.push_back(
            costFor(kSmallBatch).bar(equation, processes / kSmallBatch, kSmallBatch, false));
    }
    return panels;
  default:
    throw std::runtime_error(
        fmt::format("-figure is {}; the figures that can be drawn are 6, 7, 9 and 10", figure));
  }
}

void printFigure(const std::vector<FigurePanel>& panels) {
  for (const FigurePanel& panel : panels) {
    fmt::print("{}\n", panel.title);
    const auto best = std::min_element(
        panel.bars.begin(), panel.bars.end(),
        [](const FigureBar& a, const FigureBar& b) { return a.seconds < b.seconds; });
    for (const FigureBar& bar : panel.bars)
      fmt::print("  {:>9} {:>10.3f} s, of which gradients {:>8.3f} s   {:.2f} times as fast{}\n",
                 bar.label, bar.seconds, bar.ofGradients, panel.bars.front().seconds / bar.seconds,
                 &bar == &*best ? ", the best" : "");
  }
}

namespace {

constexpr double kPanel = 440, kPanelHeight = 300, kMargin = 60, kTitle = 40;
constexpr double kPlot = kPanelHeight - kMargin - kTitle - 10; // height of an axis
constexpr double kAxisOverBatch = 2;

// A panel's axis. The dearest grids take a hundred times as long as the best, which would be invisible beside them: so
// the axis ends at twice batch parallelism, the first bar, and longer bars are cut.
struct Axis {
  double base, end; // where 0 is on the page, and its last second

  double y(double seconds) const { return base - std::min(seconds, end) / end * kPlot; }
};

// A white stripe near the end of a bar that goes on.
std::string drawCut(double x, double width, double top) {
  return fmt::format("<path d=\"M{:.1f} {:.1f}l{:.1f} -8\" stroke=\"white\" stroke-width=\"4\"/>\n",
                     x - 2, top + 14, width + 4);
}

std::string drawBar(const FigureBar& bar, double x, double width, const Axis& axis) {
  const auto rectangle = [&](double from, double to, int colour, const char* what) {
    return fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\">"
        "<title>{}: {} {:.4g} s</title></rect>\n",
        x, axis.y(to), width, axis.y(from) - axis.y(to), colourOf(colour), escaped(bar.label), what,
        to - from);
  };
  const double top = axis.y(bar.seconds);
  return rectangle(0, bar.ofGradients, 0, "gradients") +
         rectangle(bar.ofGradients, bar.seconds, 1, "activations") +
         (bar.seconds > axis.end ? drawCut(x, width, top) : "") +
         fmt::format(
             "<text transform=\"translate({:.1f} {:.1f}) rotate(-45)\" text-anchor=\"end\">{}"
             "</text>\n<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>\n",
             x + width / 2 + 4, axis.base + 12, escaped(bar.label), x + width / 2, top - 4,
             bar.seconds);
}

std::string drawPanel(const FigurePanel& panel, double left, double top) {
  const double longest = std::ranges::max(panel.bars, {}, &FigureBar::seconds).seconds;
  const Axis axis{top + kPanelHeight - kMargin,
                  std::min(longest, kAxisOverBatch * panel.bars.front().seconds)};
  const double step = (kPanel - kMargin) / static_cast<double>(panel.bars.size());
  std::string svg = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}, seconds of an epoch</text>\n",
                                left, top + 16, escaped(panel.title));
  for (const double tick : ticksTo(axis.end))
    svg += tickLine(tick, left, left + kPanel - kMargin, axis.y(tick));
  for (std::size_t i = 0; i < panel.bars.size(); ++i)
    svg += drawBar(panel.bars[i], left + (static_cast<double>(i) + 0.15) * step, 0.7 * step, axis);
  return svg;
}

} // namespace

std::string drawFigure(const std::string& title, const std::vector<FigurePanel>& panels) {
  const std::size_t rows = (panels.size() + 1) / 2;
  const double width = 2 * kPanel + kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<text x=\"{2}\" y=\"20\" font-size=\"14\">{3}</text>\n<text x=\"{2}\" "
      "y=\"38\">lower part: sums of gradients; upper part: what depends on the batch. Panels have "
      "axes of their own; a cut bar is as long as its number.</text>\n",
      width, kTitle + kPanelHeight * static_cast<double>(rows), kMargin, escaped(title));
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % 2, row = i / 2;
    svg += drawPanel(panels[i], kMargin + kPanel * static_cast<double>(column),
                     kTitle + kPanelHeight * static_cast<double>(row));
  }
  return svg + "</svg>\n";
}

} // namespace tenon::tools
