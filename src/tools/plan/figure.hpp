// SPDX-License-Identifier: BSD-2-Clause
// Drawings of predictions as SVG, and figures as text.
#pragma once

#include "studies/paper_figures.hpp"

#include <string>
#include <vector>

namespace tenon::tools {

// A point of the chart of predictions, after Figure 11 of Xie, Norman, Grewe and Vytiniotis: one
// point per reduction program, in the order of their times, coloured by placement (series). A dot
// is the program of a placement that consists of a single AllReduce.
struct ChartPoint {
  double seconds;
  int series; // index of its name in the legend
  bool isAllReduce;
  std::string label;
};

// The drawing as SVG. The points must be in the order in which they are drawn, and their times must
// be positive.
std::string drawChart(const std::string& title, const std::vector<std::string>& series,
                      const std::vector<ChartPoint>& points);

void printFigure(const std::vector<FigurePanel>& panels);
std::string drawFigure(const std::string& title, const std::vector<FigurePanel>& panels);

} // namespace tenon::tools
