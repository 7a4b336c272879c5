// SPDX-License-Identifier: BSD-2-Clause
// Draws two kinds of SVG: a chart of predicted times, one mark per program (drawChart()), and the
// bar panels of a paper's figures (studies/paper_figures.hpp), one bar per process grid. The SVG
// text is assembled here without a library, and depends only on the numbers.
#include "tools/plan/figure.hpp"

#include "tools/plan/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools {

namespace {

// Parts that both drawings have. Texts are a few pixels beside the lines and marks that they name,
// by numbers such as 4 and 6 in the formats.

// Okabe and Ito's colours, which do not rely on the difference between red and green.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#000000", "#999933"};

const char* colourOf(int series) {
  return kColours[static_cast<std::size_t>(series) % std::size(kColours)];
}

// Round numbers from 0 to at most `most`, with a spacing of 1, 2 or 5 times a power of ten:
// readable, and not too many.
std::vector<double> ticksTo(double most) {
  const double step = std::pow(10, std::floor(std::log10(most)));
  const double fine = most / step < 2 ? step / 5 : most / step < 5 ? step / 2 : step;
  std::vector<double> result;
  for (int i = 0; i * fine <= most; ++i)
    result.push_back(i * fine);
  return result;
}

// Three digits, or all digits before the point: 2670 instead of 2.67e+03.
std::string numberText(double number) {
  return number >= 1000 && number < 1e6 ? fmt::format("{:.0f}", number)
                                        : fmt::format("{:.3g}", number);
}

// The grid line of a tick, from left to right, and its number.
std::string tickLine(double tick, double left, double right, double y) {
  return fmt::format("<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
                     "stroke=\"#ddd\"/>\n<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}"
                     "</text>\n",
                     left, right, y, left - 6, y + 4, numberText(tick));
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    // Characters that would end a text or an attribute of SVG are escaped.
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return result;
}

// Lengths of the chart in pixels of the SVG: the page, its margins, and a line of the legend.
constexpr double kWidth = 900, kHeight = 420, kLeft = 80, kRight = 20, kTop = 50, kBottom = 50;
constexpr double kLegendLine = 18;

// Maps seconds to heights on the page: logarithmically if the times differ by more than a factor of
// 30, because on a linear scale the small times would all be at the bottom.
class Scale {
public:
  Scale(double least, double most) : isLog_(most > 30 * least) {
    low_ = isLog_ ? std::floor(std::log10(least)) : 0;
    high_ = isLog_ ? std::ceil(std::log10(most)) : most * 1.05;
    // A single time that is a power of ten would make an axis of length 0.
    if (high_ <= low_)
      high_ = low_ + 1;
  }

  double y(double seconds) const {
    const double at = ((isLog_ ? std::log10(seconds) : seconds) - low_) / (high_ - low_);
    return kHeight - kBottom - at * (kHeight - kTop - kBottom);
  }
  std::vector<double> ticks() const {
    if (!isLog_)
      return ticksTo(high_);
    std::vector<double> result;
    for (long power = std::lround(low_); power <= std::lround(high_); ++power)
      result.push_back(std::pow(10, power));
    return result;
  }

private:
  bool isLog_;
  double low_, high_;
};

std::string axes(const Scale& scale) {
  std::string svg;
  for (const double tick : scale.ticks())
    svg += tickLine(tick, kLeft, kWidth - kRight, scale.y(tick));
  svg +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">programs in order of predicted "
                  "time</text>\n",
                  (kLeft + kWidth - kRight) / 2, kHeight - 18);
  svg +=
      fmt::format("<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">seconds"
                  "</text>\n",
                  (kTop + kHeight - kBottom) / 2);
  return svg;
}

// A program as a dot or a cross. Browsers show its <title> under the mouse pointer.
std::string mark(const ChartPoint& point, double x, double y) {
  const std::string title =
      fmt::format("<title>{}: {:.4g} s</title>", escaped(point.label), point.seconds);
  if (point.isAllReduce)
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\">{}</circle>\n", x,
                       y, colourOf(point.series), title);
  return fmt::format("<path d=\"M{:.1f} {:.1f}l6 6m0 -6l-6 6\" stroke=\"{}\" stroke-width=\"1.5\" "
                     "opacity=\"0.7\">{}</path>\n",
                     x - 3, y - 3, colourOf(point.series), title);
}

std::string legend(const std::vector<std::string>& series) {
  std::string svg;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double y = kHeight + kLegendLine * static_cast<double>(i);
    svg += fmt::format("<circle cx=\"{0}\" cy=\"{1}\" r=\"5\" fill=\"{2}\"/><text x=\"{3}\" "
                       "y=\"{4}\">{5}</text>\n",
                       kLeft + 5, y, colourOf(static_cast<int>(i)), kLeft + 18, y + 4,
                       escaped(series[i]));
  }
  return svg;
}

} // namespace

std::string drawChart(const std::string& title, const std::vector<std::string>& series,
                      const std::vector<ChartPoint>& points) {
  // Times are positive, as the logarithm requires.
  double least = points.front().seconds, most = least;
  for (const ChartPoint& point : points) {
    least = std::min(least, point.seconds);
    most = std::max(most, point.seconds);
  }
  const Scale scale(least, most);
  const double height = kHeight + kLegendLine * static_cast<double>(series.size());
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(points.size());
  std::string svg =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                  "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                  "<text x=\"{2}\" y=\"20\" font-size=\"14\">{3}</text>\n"
                  "<text x=\"{2}\" y=\"38\">cross: a program; dot: the single AllReduce of a "
                  "placement; colour: its matrix</text>\n",
                  kWidth, height, kLeft, escaped(title));
  svg += axes(scale);
  for (const bool isDot : {false, true}) // dots are drawn on top
    for (std::size_t i = 0; i < points.size(); ++i)
      if (points[i].isAllReduce == isDot)
        svg += mark(points[i], kLeft + (static_cast<double>(i) + 0.5) * step,
                    scale.y(points[i].seconds));
  return svg + legend(series) + "</svg>\n";
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

// Lengths of a page of bar panels, in pixels of the SVG: two panels per row, below a title.
constexpr double kPanel = 440, kPanelHeight = 320;    // width and height of one panel
constexpr double kMargin = 60;                        // for the numbers and labels of the axes
constexpr double kTitle = 62;                         // height of the title and the legend
constexpr double kPlot = kPanelHeight - kMargin - 60; // height of an axis
constexpr double kAxisOverBatch = 2;                  // end of the axis / time of batch parallelism

// The axis of all panels, at the position of one. The most expensive grids take a hundred times as
// long as the best, which would be invisible. The axis therefore ends at twice the longest time of
// batch parallelism, the first bar of a panel, and longer bars are cut.
struct Axis {
  double base, end; // page coordinate of 0, and seconds at the end of the axis

  double y(double seconds) const { return base - std::min(seconds, end) / end * kPlot; }
};

double endOfAxis(const std::vector<FigurePanel>& panels) {
  double longest = 0, batch = 0;
  for (const FigurePanel& panel : panels) {
    longest = std::max(longest, std::ranges::max(panel.bars, {}, &FigureBar::seconds).seconds);
    batch = std::max(batch, panel.bars.front().seconds);
  }
  return std::min(longest, kAxisOverBatch * batch);
}

// A white stripe near the end of a bar that exceeds the axis.
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
             "</text>\n<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
             x + width / 2 + 4, axis.base + 12, escaped(bar.label), x + width / 2, top - 4,
             numberText(bar.seconds));
}

std::string drawPanel(const FigurePanel& panel, double end, double left, double top) {
  const Axis axis{top + kPanelHeight - kMargin, end};
  const double width = kPanel - kMargin, step = width / static_cast<double>(panel.bars.size());
  std::string svg = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, top + 16,
                                escaped(panel.title));
  for (const double tick : ticksTo(axis.end))
    svg += tickLine(tick, left, left + width, axis.y(tick));
  svg += fmt::format("<polyline points=\"{0:.1f},{1:.1f} {0:.1f},{2:.1f} {3:.1f},{2:.1f}\" "
                     "fill=\"none\" stroke=\"black\"/>\n",
                     left, axis.base - kPlot, axis.base, left + width);
  svg += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" "
                     "text-anchor=\"middle\">seconds of an epoch</text>\n",
                     left - 44, axis.base - kPlot / 2);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">process grid: rows x "
                     "columns, of which columns split the batch</text>\n",
                     left + width / 2, axis.base + kMargin - 8);
  for (std::size_t i = 0; i < panel.bars.size(); ++i)
    svg += drawBar(panel.bars[i], left + (static_cast<double>(i) + 0.15) * step, 0.7 * step, axis);
  return svg;
}

// The legend of the colours of a bar, in one line.
std::string legendOfBars() {
  std::string svg;
  double x = kMargin;
  for (const auto& [colour, text] :
       {std::pair(0, "sums of gradients"), {1, "what depends on the batch"}}) {
    svg += fmt::format("<rect x=\"{0}\" y=\"46\" width=\"12\" height=\"12\" fill=\"{1}\"/><text "
                       "x=\"{2}\" y=\"56\">{3}</text>\n",
                       x, colourOf(colour), x + 18, text);
    x += 160;
  }
  return svg;
}

} // namespace

std::string drawFigure(const std::string& title, const std::vector<FigurePanel>& panels) {
  const std::size_t rows = (panels.size() + 1) / 2;
  const double width = 2 * kPanel + kMargin, end = endOfAxis(panels);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<text x=\"{2}\" y=\"20\" font-size=\"14\">{3}</text>\n<text x=\"{2}\" "
      "y=\"38\">communication, predicted. All panels have one scale; a cut bar is as long as its "
      "number.</text>\n",
      width, kTitle + kPanelHeight * static_cast<double>(rows), kMargin, escaped(title));
  svg += legendOfBars();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::size_t column = i % 2, row = i / 2;
    svg += drawPanel(panels[i], end, kMargin + kPanel * static_cast<double>(column),
                     kTitle + kPanelHeight * static_cast<double>(row));
  }
  return svg + "</svg>\n";
}

} // namespace tenon::tools
