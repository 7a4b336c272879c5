// SPDX-License-Identifier: BSD-2-Clause
// What drawings share.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

namespace tenon::tools {

// Okabe and Ito's colours, which do not depend on telling red from green.
inline constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                           "#e69f00", "#56b4e9", "#000000", "#999933"};

inline const char* colourOf(int series) {
  return kColours[static_cast<std::size_t>(series) % std::size(kColours)];
}

inline std::string escaped(const std::string& text) {
  std::string made;
  for (const char c : text)
    made += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return made;
}

} // namespace tenon::tools
