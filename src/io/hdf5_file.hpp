// SPDX-License-Identifier: BSD-2-Clause
// The interface to HDF5: apart from hdf5_samples.hpp nothing else in the library knows it. A
// library built without HDF5 has the same calls, which throw TENON_ERR_SUPPORT and say how to build
// it (hdf5_missing.cpp).
//
// One process makes the structure of a file, so that a damaged file or a full disk is met by one;
// the data of its datasets, whose places are fixed then, are written and read by all.
#pragma once

#include "comm/communicator.hpp"
#include "io/stored_file.hpp"

namespace tenon {

// Whether all ranks can open one file together.
bool hasParallelHdf5();
// "1.10.8, parallel", or that there is none.
std::string hdf5Library();
void requireHdf5();

// Fills an existing file, which is emptied first. Local. Throws TENON_ERR_FILE.
void writeStructure(const std::string& path, const StoredFile& file);
// Local. Throws TENON_ERR_FILE if the file cannot be read, TENON_ERR_FORMAT if it is damaged,
// foreign or of a later format.
StoredFile readStructure(const std::string& path);

// The datasets of a file, opened for their data.
class DataFile {
public:
  enum class Access { Read, Write };
  // For this process alone, or, with a communicator, for all its ranks together. Local.
  DataFile(const std::string& path, Access access, const std::vector<StoredDataset>& tensors,
           Communicator* together);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  // What follows is collective if the file is opened together, and allocates nothing itself, so
  // that no rank leaves the others alone in it.

  // Throws TENON_ERR_FILE or TENON_ERR_FORMAT.
  void open();
  // The elements of a box of dataset `number`, row-major; a rank without elements passes an empty
  // box.
  void write(std::size_t number, const Box& box, const void* elements);
  void read(std::size_t number, const Box& box, void* elements);
  void close();

private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

} // namespace tenon
