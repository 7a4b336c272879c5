// SPDX-License-Identifier: BSD-2-Clause
// A note about the order of dimensions, which printed errors of the library show below texts about
// dimensions: for languages whose index order differs from C's, such as Fortran.
#pragma once

#include <string>

namespace tenon {

// "" removes the note.
void setDimensionNote(std::string note);

} // namespace tenon
