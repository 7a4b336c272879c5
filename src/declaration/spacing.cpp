// SPDX-License-Identifier: BSD-2-Clause
#include "declaration/spacing.hpp"

#include "sys/error.hpp"
#include "sys/option_text.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

std::vector<double> spacing(const std::string& text, int dims, const std::string& who) {
  std::vector<double> numbers;
  for (const auto& word : split(text, ',')) {
    const auto number = parseReal(word);
    if (!number || !std::isfinite(*number) || !(*number > 0))
      throw Error(TENON_ERR_ARG,
                  fmt::format("the spacing \"{}\" of {} holds \"{}\"; give positive numbers, "
                              "separated by commas",
                              text, who, word));
    numbers.push_back(*number);
  }
  if (dims > 0 && numbers.size() == 1)
    numbers.resize(static_cast<std::size_t>(dims), numbers.front());
  if (dims > 0 && numbers.size() != static_cast<std::size_t>(dims))
    throw Error(TENON_ERR_ARG,
                fmt::format("the spacing \"{}\" of {} has {}, but the input has {}; give one for "
                            "all or one each",
                            text, who, counted(static_cast<Index>(numbers.size()), "number"),
                            counted(dims, "spatial dimension")));
  return numbers;
}

} // namespace tenon
