// SPDX-License-Identifier: BSD-2-Clause
// Opens NetCDF files for reading by the serial calls of the NetCDF library.
#pragma once

#include <string>

namespace tenon {

// Returns the library's number of the file, for nc_close(). Files of the classic formats (CDF-1,
// CDF-2, CDF-5) must be complete: the library returns zeros for what is beyond the end of a
// truncated one. Throws TENON_ERR_FILE or TENON_ERR_FORMAT.
int openNetcdf(const std::string& path);

} // namespace tenon
