// SPDX-License-Identifier: BSD-2-Clause
// Checks of fields on latitudes and longitudes (output_field.hpp). Settings can be set in any
// order, so those not set yet contradict nothing.
#include "declaration/sphere/output_field.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

Shape outputFieldOf(const Declaration& type, const Shape& input) {
  Shape field = {input[0], type.value<Index>("out_channels"), input[2], input[3]};
  if (type.isSet("size")) {
    const auto size = type.value<std::vector<Index>>("size");
    field[2] = size[0];
    field[3] = size[1];
  }
  return field;
}

std::string outputGridOf(const Declaration& type) {
  const auto grid = type.value<std::string>("output_grid");
  return grid.empty() ? type.value<std::string>("grid") : grid;
}

void checkOutputSettings(const Declaration& type, Index groups) {
  const auto grid = type.value<std::string>("output_grid");
  if (!grid.empty() && grid != "gauss" && grid != "poles" && grid != "cells")
    throw Error(TENON_ERR_ARG,
                fmt::format("output_grid of {} is '{}'; set gauss, poles or cells, or leave it "
                            "empty for the grid of the input",
                            type.title(), grid));
  if (type.isSet("size"))
    if (const auto size = type.value<std::vector<Index>>("size"); size.size() != 2)
      throw Error(TENON_ERR_ARG,
                  fmt::format("size of {} has {}; set the rows and columns of its output",
                              type.title(), counted(Index(size.size()), "number")));
  if (!type.isSet("in_channels") || !type.isSet("out_channels"))
    return;
  const auto in = type.value<Index>("in_channels"), out = type.value<Index>("out_channels");
  if (in % groups != 0 || out % groups != 0)
    throw Error(TENON_ERR_ARG, fmt::format("groups, {}, of {} must divide {} input and {} output "
                                           "channels",
                                           groups, type.title(), in, out));
}

void checkSphereField(const Declaration& type, const Shape& field, const std::string& grid) {
  if (field.size() != 4)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the field has shape [{}], but {} needs [batch, channel, rows, "
                            "columns], rows of latitude and columns of longitude",
                            fmt::join(field, ","), type.title()));
  const Index least = grid == "poles" ? 2 : 1;
  if (field[2] < least)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("{} has a grid {}, but the field has {}; give one of at least {}",
                            type.title(), grid == "poles" ? "with both poles" : "of latitudes",
                            counted(field[2], "row"), counted(least, "row")));
}

void checkInputChannels(const Declaration& type, const Shape& input) {
  const auto channels = type.value<Index>("in_channels");
  if (input[1] != channels)
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the input has shape [{2}], but {0} needs [batch,{1},rows,columns]",
                            type.title(), channels, fmt::join(input, ",")));
}

} // namespace tenon
