// SPDX-License-Identifier: BSD-2-Clause
// What drawings share.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace tenon::tools {

// Okabe and Ito's colours, which do not depend on telling red from green.
inline constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#e69f00", "#56b4e9", "#000000", "#999933"};

inline const char* colourOf(int series) {
  return kColours[static_cast<std::size_t>(series) % std::size(kColours)];
}

// Round numbers from 0, of which the largest is no more than `most`.
inline std::vector<double> ticksTo(double most) {
  const double step = std::pow(10, std::floor(std::log10(most)));
  const double fine = most / step < 2 ? step / 5 : most / step < 5 ? step / 2 : step;
  std::vector<double> made;
  for (int i = 0; i * fine <= most; ++i)
    made.push_back(i * fine);
  return made;
}

// The line of an axis of numbers at a tick, from left to right, and the number.
inline std::string tickLine(double tick, double left, double right, double y) {
  return fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
      "stroke=\"#ddd\"/>\n<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}"
      "</text>\n",
      left, right, y, left - 6, y + 4, tick);
}

inline std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text)
    made += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return made;
}

} // namespace tenon::tools
