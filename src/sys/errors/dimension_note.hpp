// SPDX-License-Identifier: BSD-2-Clause
// A line that printed errors of the library have below a text about dimensions: languages whose
// lists are in another order than C's need it.
#pragma once

#include <string>

namespace tenon {

// "" for none.
void setDimensionNote(std::string note);

} // namespace tenon
