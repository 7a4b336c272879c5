// SPDX-License-Identifier: BSD-2-Clause
// Checks that a NetCDF file of a classic format (CDF-1, CDF-2, CDF-5) is complete. The NetCDF
// library returns zeros for what is beyond the end of such a file.
#pragma once

#include <string>

namespace tenon {

// Returns why a file, an open descriptor, is not a complete classic file, or "".
std::string classicFault(int file);

} // namespace tenon
