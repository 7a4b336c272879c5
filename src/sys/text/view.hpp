// SPDX-License-Identifier: BSD-2-Clause
// Common parts of the views of objects: headings with the object's name, sizes with units, lines of
// at most 100 columns, and -tenon_view_detail for details that few users need.
#pragma once

#include "sys/errors/object.hpp"
#include "sys/types.hpp"

#include <string>

namespace tenon {

// The heading of a view: `Layer "conv1"`, or "Layer" if it has no name.
std::string headingOf(const Object& object);
// A size with its unit: "768 B", "37.4 KiB", "1.5 MiB".
std::string sizeText(Index bytes);
// Whether -tenon_view_detail requests exact layouts and every setting.
bool viewsInDetail();
// Breaks long lines after a comma, colon or semicolon, or else at a blank. The continuation is
// indented by four more columns.
std::string wrapped(const std::string& text);

} // namespace tenon
