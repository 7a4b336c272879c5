// SPDX-License-Identifier: BSD-2-Clause
// Fields [batch, channel, rows, columns] on latitudes and longitudes whose output can be on another
// grid: the settings of grids, and their checks.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

inline constexpr OptionSpec kSphereGridSetting = {
    "grid", OptionSpec::Choice, "gauss",
    "latitudes of the rows: roots of a Legendre polynomial, equidistant with both poles, or "
    "equidistant between them",
    "gauss|poles|cells"};
inline constexpr OptionSpec kFirstRowSetting = {"first_row", OptionSpec::Choice, "north",
                                                "the pole near which row 0 is", "north|south"};
inline constexpr OptionSpec kOutputGridSetting = {
    "output_grid", OptionSpec::String, "",
    "latitudes of the rows of the output: gauss, poles or cells; empty: as grid"};
inline constexpr OptionSpec kOutputFieldSetting = {
    "size",  OptionSpec::Ints,
    nullptr, "rows and columns of the output; default: those of the input",
    nullptr, atLeast(1)};

// The shape of the output and the name of its grid, for types with the settings in_channels,
// out_channels, grid, output_grid and size.
Shape outputFieldOf(const Declaration& type, const Shape& input);
std::string outputGridOf(const Declaration& type);
// Throws TENON_ERR_ARG if output_grid is unknown, size has not two numbers, or the groups do not
// divide the channels, as far as these are set.
void checkOutputSettings(const Declaration& type, Index groups);
// Throws TENON_ERR_SHAPE unless an array is [batch, channel, rows, columns], with as many rows as
// the grid needs.
void checkSphereField(const Declaration& type, const Shape& field, const std::string& grid);
// Throws TENON_ERR_SHAPE unless the input has in_channels channels.
void checkInputChannels(const Declaration& type, const Shape& input);

} // namespace tenon
