// SPDX-License-Identifier: BSD-2-Clause
// Recognises the format of a file with samples by its first bytes. Classic NetCDF files begin with
// "CDF" and a number, and need the NetCDF library. NetCDF-4 files are HDF5 files with certain
// attributes. They are read by the NetCDF library, because it knows their dimensions and
// coordinates, or by HDF5 in a build without that library. All other files are left to HDF5, which
// also finds data after a user block (bytes of the program at the beginning of the file).
#include "io/dataset/sample_file.hpp"

#include "io/hdf5_file.hpp"
#include "sys/files/foreign_file.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <array>

namespace tenon {

namespace {

// Also checks that the file exists, is regular and readable.
ForeignFile formatOf(const std::string& path) {
  const int file = openRegularFile(path, "cannot open");
  std::array<char, kForeignBytes> bytes{};
  const ssize_t count = pread(file, bytes.data(), bytes.size(), 0);
  ::close(file);
  return foreignFile({bytes.data(), std::size_t(std::max<ssize_t>(count, 0))});
}

} // namespace

void SampleFile::fail(TenonErrorCode code, const std::string& reason) const {
  throw Error(code, fmt::format("cannot read '{}' of file '{}': {}", variable_, path_, reason));
}

void SampleFile::checkShape() const {
  const std::size_t rank = facts_.shape.size();
  if (rank < 1 || rank > std::size_t(kMaxDims))
    fail(TENON_ERR_FORMAT, fmt::format("it has {} dimensions; expected 1 to {}, of which the first "
                                       "counts the samples",
                                       rank, kMaxDims));
  if (elements(facts_.shape) == 0)
    fail(TENON_ERR_FORMAT, fmt::format("it is empty: [{}]", fmt::join(facts_.shape, ",")));
}

std::unique_ptr<SampleFile> openSampleFile(const std::string& path, const std::string& variable) {
  const ForeignFile format = formatOf(path);
  if (format == ForeignFile::NetCdf3)
    return openNetcdfSamples(path, variable);
  if (format != ForeignFile::None && format != ForeignFile::Hdf5)
    throw Error(TENON_ERR_FORMAT, fmt::format("cannot read file '{}' as HDF5 or NetCDF: it is {}",
                                              path, foreignFileText(format)));
  if (!hasNetcdf() || !isNetcdf4(path, variable))
    return openHdf5Samples(path, variable);
  std::unique_ptr<SampleFile> file = openNetcdfSamples(path, variable);
  // The NetCDF library does not tell where the data are in the file, as a Prefetch needs it
  // (batch_reader.hpp); HDF5 does. Most variables have the same name in both libraries.
  file->setOffset(offsetInHdf5(path, variable, file->facts().type));
  return file;
}

} // namespace tenon
