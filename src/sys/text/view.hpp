// SPDX-License-Identifier: BSD-2-Clause
// The common parts of the views of objects: the object's name first, units, lines of at most 100
// columns, and -tenon_view_detail for what only a reader of the manual asks for.
#pragma once

#include "sys/errors/object.hpp"
#include "sys/types.hpp"

#include <string>

namespace tenon {

// The heading of a view: `Layer "conv1"`, or "Layer" without a name.
std::string headingOf(const Object& object);
// A size with its unit: "768 B", "37.4 KiB", "1.5 MiB".
std::string sizeText(Index bytes);
// Whether -tenon_view_detail asks for exact layouts and every setting.
bool viewsInDetail();
// The text with its long lines broken after a comma, colon or semicolon, else at a blank; what
// follows is indented by four more columns.
std::string wrapped(const std::string& text);

} // namespace tenon
