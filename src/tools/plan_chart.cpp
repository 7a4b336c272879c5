// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_chart.hpp"

#include "tools/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::tools {

namespace {

constexpr double kWidth = 900, kHeight = 420, kLeft = 80, kRight = 20, kTop = 50, kBottom = 50;
constexpr double kLegendLine = 18;

// From seconds to the height on the page: by logarithm where the times differ much.
class Scale {
public:
  Scale(double least, double most) : isLog_(most > 30 * least) {
    low_ = isLog_ ? std::floor(std::log10(least)) : 0;
    high_ = isLog_ ? std::ceil(std::log10(most)) : most * 1.05;
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
    std::vector<double> made;
    for (long power = std::lround(low_); power <= std::lround(high_); ++power)
      made.push_back(std::pow(10, power));
    return made;
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
  for (const bool isDot : {false, true}) // dots lie on top
    for (std::size_t i = 0; i < points.size(); ++i)
      if (points[i].isAllReduce == isDot)
        svg += mark(points[i], kLeft + (static_cast<double>(i) + 0.5) * step,
                    scale.y(points[i].seconds));
  return svg + legend(series) + "</svg>\n";
}

} // namespace tenon::tools
