// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_conversions.hpp"

#include "tools/plan_system.hpp"

#include <fmt/format.h>

namespace tenon::tools {

const std::vector<ProgramOption> kConversionOptions{
    {"processes", TENON_OPTION_INT, "4", "number of processes along the axis"},
    {"shape", TENON_OPTION_STRING, "", "shape of the tensor: 8,8. Default: processes x processes"},
    {"json", TENON_OPTION_FLAG, "false", "print JSON"},
};

namespace {

constexpr const char* kProperties[] = {"S0", "S1", "B", "P", "R"};

struct ConversionRow {
  std::string from, to;
  TenonInt messages = 0, cells = 0;
};

std::vector<ConversionRow> allConversions(TenonInt processes, const Sizes& shape) {
  std::vector<ConversionRow> rows;
  for (const char* from : kProperties)
    for (const char* to : kProperties) {
      ConversionRow row{from, to};
      require(TenonPlanCountConversion(from, to, processes, static_cast<int>(shape.size()),
                                       shape.data(), &row.messages, &row.cells));
      if (row.messages > 0)
        rows.push_back(std::move(row));
    }
  return rows;
}

} // namespace

int planConversions() {
  const TenonInt processes = intOption("processes");
  const Sizes shape =
      textOption("shape").empty() ? Sizes{processes, processes} : sizesOption("shape");
  const std::vector<ConversionRow> rows = allConversions(processes, shape);
  TenonInt cells = 1;
  for (TenonInt extent : shape)
    cells *= extent;
  if (flagOption("json")) {
    std::string text;
    for (const ConversionRow& row : rows)
      text +=
          fmt::format("{}{{\"from\": \"{}\", \"to\": \"{}\", \"messages\": {}, \"elements\": {}}}",
                      text.empty() ? "" : ", ", row.from, row.to, row.messages, row.cells);
    fmt::print("{{\"conversions\": [{}]}}\n", text);
    return 0;
  }
  fmt::print("{} processes, {} elements; conversions that send nothing are left out\n"
             "  from  to   messages     elements   times the tensor\n",
             processes, cells);
  for (const ConversionRow& row : rows)
    fmt::print("  {:<4}  {:<2} {:>10} {:>12} {:>18.4g}\n", row.from, row.to, row.messages,
               row.cells, static_cast<double>(row.cells) / static_cast<double>(cells));
  return 0;
}

} // namespace tenon::tools
