// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <stdexcept>

namespace tenon::tools {

Sizes sizesOption(const char* name) {
  char text[4096] = "";
  require(TenonOptionsGetString("-", name, text, sizeof text));
  const std::string given = text;
  if (given.empty())
    throw std::runtime_error(fmt::format(
        "-{} is missing; give integers with commas between, such as -{} 4,16", name, name));
  Sizes sizes;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t end = std::min(given.find(',', begin), given.size());
    const char *first = given.data() + begin, *last = given.data() + end;
    TenonInt size = 0;
    const auto [stop, error] = std::from_chars(first, last, size);
    if (error == std::errc::result_out_of_range)
      throw std::runtime_error(fmt::format("-{} {}: {} does not fit into 64 bits", name, given,
                                           std::string(first, last)));
    if (error != std::errc() || stop != last)
      throw std::runtime_error(
          fmt::format("-{} {}: '{}' is no integer; expected integers with commas between", name,
                      given, std::string(first, last)));
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

bool flagOption(const char* name) {
  TenonBool value = TENON_FALSE;
  require(TenonOptionsGetFlag("-", name, &value));
  return value != TENON_FALSE;
}

PlannedPlacements PlannedPlacements::fromOptions(const std::function<void()>& printNone) {
  PlannedPlacements made{sizesOption("system"), sizesOption("axes"), {}};
  const TenonErrorCode code = TenonPlacementListCreate(
      static_cast<int>(made.system.size()), made.system.data(), static_cast<int>(made.axes.size()),
      made.axes.data(), made.list.out());
  if (code == TENON_ERR_SHAPE)
    printNone();
  require(code);
  return made;
}

TenonInt PlannedPlacements::count() const {
  TenonInt count = 0;
  require(TenonPlacementListGetCount(list, &count));
  return count;
}

std::vector<Sizes> PlannedPlacements::matrix(TenonInt index) const {
  Sizes flat(axes.size() * system.size());
  require(TenonPlacementListGetMatrix(list, index, flat.data()));
  std::vector<Sizes> rows;
  for (auto row = flat.begin(); row != flat.end();
       row += static_cast<std::ptrdiff_t>(system.size()))
    rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(system.size()));
  return rows;
}

std::string counted(TenonInt count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string textOf(const Sizes& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ","));
}

std::string textOf(const std::vector<Sizes>& matrix) {
  std::string text;
  for (const Sizes& row : matrix)
    text += (text.empty() ? "" : ",") + textOf(row);
  return "[" + text + "]";
}

} // namespace tenon::tools
