// SPDX-License-Identifier: BSD-2-Clause
// In place of hdf5_*.cpp where Tenon is built without HDF5.
#include "io/hdf5_file.hpp"
#include "sys/error.hpp"

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
      "this library was built without HDF5, which checkpoints need; install HDF5 for your MPI "
      "(on Debian libhdf5-openmpi-dev or libhdf5-mpich-dev) and build Tenon with "
      "-DTENON_HDF5=ON");
}

void writeStructure(const std::string&, const StoredFile&) {
  requireHdf5();
}

StoredFile readStructure(const std::string&) {
  requireHdf5();
  return {};
}

struct DataFile::Handles {};

DataFile::DataFile(std::string, Access, const std::vector<StoredDataset>&, Communicator*) {
  requireHdf5();
}
DataFile::~DataFile() = default;
void DataFile::write(std::size_t, const Box&, const void*) {}
void DataFile::read(std::size_t, const Box&, void*) {}
void DataFile::close() {}

} // namespace tenon
