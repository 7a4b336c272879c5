// SPDX-License-Identifier: BSD-2-Clause
// Predictions as a drawing, after Figure 11 of Xie, Norman, Grewe and Vytiniotis: programs in order of
// their time, in the colour of their placement. A dot is the single AllReduce of a placement.
#pragma once

#include <string>
#include <vector>

namespace tenon::tools {

struct ChartPoint {
  double seconds;
  int series; // whose name stands in the legend
  bool isAllReduce;
  std::string label;
};

// SVG; the points must be in the order in which they are drawn, and their times above 0.
std::string drawChart(const std::string& title, const std::vector<std::string>& series,
                      const std::vector<ChartPoint>& points);

} // namespace tenon::tools
