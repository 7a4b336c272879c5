// SPDX-License-Identifier: BSD-2-Clause
// Reads lists of numbers from options, wraps the library's lists of placements, and writes both as
// text. Numbers are parsed to their last character and within 64 bits: if 4,16x were read as 4,16,
// the answer would be right for the wrong question.
#include "tools/plan/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>
#include <stdexcept>

namespace tenon::tools {

namespace {

// The largest -size: more instructions than any program has. The output has one number per size.
constexpr TenonInt kMaxSteps = 1'000;

} // namespace

Sizes sizesOption(const char* name) {
  const std::string given = textOption(name);
  if (given.empty())
    throw std::runtime_error(fmt::format(
        "-{} is missing; pass integers separated by commas, such as -{} 4,16", name, name));
  return sizesFrom(name, given);
}

Sizes sizesFrom(const char* name, const std::string& given) {
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
          fmt::format("-{} {}: '{}' is not an integer; pass integers separated by commas", name,
                      given, std::string(first, last)));
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

std::vector<int> reducedAxesOption() {
  std::vector<int> axes;
  for (TenonInt axis : sizesOption("reduce"))
    // Axes are ints in the interface; the library checks whether they exist.
    if (axis < 0 || axis > std::numeric_limits<int>::max())
      throw std::runtime_error(
          fmt::format("-reduce contains axis {}; axes are numbered from 0", axis));
    else
      axes.push_back(static_cast<int>(axis));
  return axes;
}

int programSizeOption() {
  const TenonInt size = intOption("size");
  if (size < 1 || size > kMaxSteps)
    throw std::runtime_error(fmt::format("-size is {}; it must be in 1 to {}", size, kMaxSteps));
  return static_cast<int>(size);
}

std::string programText(const ReductionPrograms& programs, TenonInt index) {
  return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonReductionProgramsGetText(programs, index, text, length, needed);
  });
}

PlannedPlacements PlannedPlacements::fromOptions(const std::function<void()>& printNone) {
  return on(sizesOption("system"), printNone);
}

PlannedPlacements PlannedPlacements::on(Sizes system, const std::function<void()>& printNone) {
  PlannedPlacements result{std::move(system), sizesOption("axes"), {}};
  const TenonErrorCode code = TenonPlacementListCreate(
      static_cast<int>(result.system.size()), result.system.data(),
      static_cast<int>(result.axes.size()), result.axes.data(), result.list.out());
  // A request for JSON gets JSON even if there is no placement.
  if (code == TENON_ERR_SHAPE)
    printNone();
  require(code);
  return result;
}

TenonInt PlannedPlacements::count() const {
  TenonInt count = 0;
  require(TenonPlacementListGetCount(list, &count));
  return count;
}

std::vector<Sizes> PlannedPlacements::matrix(TenonInt index) const {
  Sizes flat(axes.size() * system.size());
  require(TenonPlacementListGetMatrix(list, index, flat.data()));
  // The library returns one array, row by row.
  std::vector<Sizes> rows;
  for (auto row = flat.begin(); row != flat.end();
       row += static_cast<std::ptrdiff_t>(system.size()))
    rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(system.size()));
  return rows;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      result += c;
  return result + "\"";
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
