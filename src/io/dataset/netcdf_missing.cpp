// SPDX-License-Identifier: BSD-2-Clause
// The functions of sample_file.hpp and cf_file.hpp in a build without NetCDF. Files of the classic
// formats are refused, with advice on what to install; NetCDF-4 files are left to HDF5.
#include "io/cf/cf_file.hpp"
#include "io/dataset/sample_file.hpp"

#include <fmt/format.h>

namespace tenon {

std::unique_ptr<SampleFile> openNetcdfSamples(const std::string& path, const std::string&) {
  throw Error(
      TENON_ERR_SUPPORT,
      fmt::format(
          "cannot read file '{}': it is a NetCDF file of a classic format, and this library "
          "was built without NetCDF; install NetCDF for your MPI (on Debian "
          "libnetcdf-mpi-dev) and build Tenon with -DTENON_NETCDF=ON, or convert "
          "the file to NetCDF-4 (nccopy -k nc4 OLD NEW)",
          path));
}

std::unique_ptr<DataAccess> makeCfFile(const std::string&, const CfContents&) {
  requireNetcdf("its files");
  return nullptr;
}

void requireNetcdf(const char* what) {
  throw Error(TENON_ERR_SUPPORT,
              fmt::format("this library was built without NetCDF, which {} need; "
                          "install NetCDF for your MPI (on Debian libnetcdf-mpi-dev) and build "
                          "Tenon with -DTENON_NETCDF=ON",
                          what));
}

std::string netcdfLibrary() {
  return "none; build with NetCDF (Debian: libnetcdf-mpi-dev; -DTENON_NETCDF=ON) to read "
         "files of its classic formats";
}

bool hasNetcdf() {
  return false;
}

} // namespace tenon
