// SPDX-License-Identifier: BSD-2-Clause
// One variable in a file of any program, HDF5 or NetCDF, whose first dimension counts samples. Each
// rank opens the file independently of the others and reads boxes. openSampleFile() recognises the
// format by the contents of the file; Hdf5Samples (hdf5_samples.cpp) and NetcdfSamples
// (netcdf_samples.cpp) implement the formats, or errors in builds without the libraries.
#pragma once

#include "geometry/layout/box.hpp"
#include "io/dataset/encoding.hpp"
#include "sys/data_type.hpp"
#include "sys/errors/error.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

// What a file tells about the variable.
struct SampleFacts {
  const char* format = "HDF5"; // for a view
  Shape shape;
  std::vector<std::string> dimensions; // their names, or none in plain HDF5
  // The type that holds all stored numbers: int64 for integers, float32 for real numbers of at most
  // 4 bytes, otherwise float64.
  TenonDataType type = TENON_FLOAT64;
  Encoding encoding;
  // Offset of the data in the file, if they are stored contiguously and in the same representation
  // as in memory.
  std::optional<Index> offset;
  // Whether the first dimension is unlimited, and the first and last number and the units of the
  // coordinate along it, if there is one.
  bool canGrow = false;
  std::optional<std::pair<double, double>> coordinate;
  std::string coordinateUnits;
};

// An open variable; not collective.
class SampleFile {
public:
  virtual ~SampleFile() = default;
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  const SampleFacts& facts() const noexcept { return facts_; }
  const std::string& path() const noexcept { return path_; }
  void setOffset(std::optional<Index> offset) { facts_.offset = offset; }

  // Reads the stored numbers of a box, row-major, as `type`; int64 is allowed for integers only,
  // float32 for reals of at most 4 bytes only.
  virtual void read(const Box& box, TenonDataType type, std::byte* to) = 0;
  // Throws an error with the names of the file and the variable.
  [[noreturn]] void fail(TenonErrorCode code, const std::string& reason) const;

protected:
  SampleFile(std::string path, std::string variable)
      : path_(std::move(path)), variable_(std::move(variable)) {}
  // Checks that there are 1 to kMaxDims dimensions, and elements.
  void checkShape() const;

  SampleFacts facts_;
  std::string path_, variable_;
};

// Throws TENON_ERR_FILE if the file cannot be read, TENON_ERR_FORMAT if it has another format, is
// damaged, or the variable does not consist of numbers, and TENON_ERR_SUPPORT if the build has no
// library for the format. Messages contain the file, the variable and the reason.
std::unique_ptr<SampleFile> openSampleFile(const std::string& path, const std::string& variable);

// The parts of openSampleFile().
std::unique_ptr<SampleFile> openHdf5Samples(const std::string& path, const std::string& variable);
std::unique_ptr<SampleFile> openNetcdfSamples(const std::string& path, const std::string& variable);
// Whether a file is an HDF5 file that NetCDF-4 has written; true in a build without HDF5, in which
// only the NetCDF library can tell.
bool isNetcdf4(const std::string& path, const std::string& variable);
// SampleFacts::offset of a dataset of this type, if an HDF5 file has it.
std::optional<Index> offsetInHdf5(const std::string& path, const std::string& dataset,
                                  TenonDataType type);

// The library for NetCDF: "4.9.0", or "none".
std::string netcdfLibrary();
bool hasNetcdf();

} // namespace tenon
