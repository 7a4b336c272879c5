// SPDX-License-Identifier: BSD-2-Clause
// The functions of hdf5_file.hpp and hdf5_samples.hpp in a build without HDF5. Constructors throw,
// with advice on what to install, so the other functions are never reached.
#include "io/dataset/sample_file.hpp"
#include "io/hdf5_file.hpp"
#include "sys/errors/error.hpp"

namespace tenon {

bool hasParallelHdf5() {
  return false;
}

std::string hdf5Library() {
  return "none";
}

void requireHdf5() {
  throw Error(
      TENON_ERR_SUPPORT,
      "this library was built without HDF5, which checkpoints, series of fields and datasets from "
      "HDF5 need; install HDF5 for your MPI "
      "(on Debian libhdf5-openmpi-dev or libhdf5-mpich-dev) and build Tenon with "
      "-DTENON_HDF5=ON");
}

std::shared_ptr<void> silenceHdf5() {
  return nullptr;
}

void writeStructure(const std::string&, const StoredFile&) {
  requireHdf5();
}

StoredFile readStructure(const std::string&) {
  requireHdf5();
  return {};
}

struct DataFile::Handles {};

DataFile::DataFile(const std::string&, Access, const std::vector<StoredDataset>&, Communicator*) {
  requireHdf5();
}
DataFile::~DataFile() = default;
void DataFile::open() {}
void DataFile::write(std::size_t, const Box&, const void*) {}
void DataFile::read(std::size_t, const Box&, void*) {}
void DataFile::close() {}

std::unique_ptr<SampleFile> openHdf5Samples(const std::string&, const std::string&) {
  requireHdf5();
  return nullptr;
}

// The NetCDF library, if there is one, decides (sample_file.hpp).
bool isNetcdf4(const std::string&, const std::string&) {
  return true;
}

std::optional<Index> offsetInHdf5(const std::string&, const std::string&, TenonDataType) {
  return std::nullopt;
}

} // namespace tenon
