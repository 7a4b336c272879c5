// SPDX-License-Identifier: BSD-2-Clause
// The interface to HDF5 for checkpoints. HDF5 is used only behind this header and that of datasets,
// dataset/sample_file.hpp.
// In a build without HDF5 the same functions throw TENON_ERR_SUPPORT, with advice how to build with
// HDF5 (hdf5_missing.cpp).
//
//   writeStructure(path, file)   on one process: groups, attributes, datasets without data
//   DataFile: open(), write(), close()    on one or all ranks: the data
//   readStructure(path); DataFile: open(), read(), close()    the same for reading
// One process handles the structure, so a damaged file or a full disk is an error on that process
// only. After that the positions of the data in the file are fixed.
#pragma once

#include "comm/communicator.hpp"
#include "io/data_access.hpp"
#include "io/stored_file.hpp"

#include <memory>

namespace tenon {

// Whether all ranks can open a file collectively.
bool hasParallelHdf5();
// Returns the version, "1.10.8, parallel", or "none".
std::string hdf5Library();
// Throws TENON_ERR_SUPPORT in a build without HDF5.
void requireHdf5();
// While the result exists, HDF5 prints no error messages; then the host program's setting is
// restored. NetCDF switches them off when it starts.
std::shared_ptr<void> silenceHdf5();

// Writes the structure to an existing file, which is truncated. Local. Throws TENON_ERR_FILE.
void writeStructure(const std::string& path, const StoredFile& file);
// Reads the structure of a file. Local. Throws TENON_ERR_FILE if the file cannot be read,
// TENON_ERR_FORMAT if it is damaged, not a checkpoint, or of a later format version.
StoredFile readStructure(const std::string& path);

// Access to the data of a file's datasets. Calls: open(), any number of write() or read(), close().
class DataFile final : public DataAccess {
public:
  enum class Access { Read, Write };
  // `together` is null for access by this process only, otherwise all ranks open the file. Local.
  DataFile(const std::string& path, Access access, const std::vector<StoredDataset>& tensors,
           Communicator* together);
  ~DataFile() override;

  // The calls below are collective if the file is opened by all ranks. They allocate no memory, so
  // they cannot fail on one rank while others wait in a collective call.

  void open() override;
  void write(std::size_t number, const Box& box, const void* elements) override;
  void read(std::size_t number, const Box& box, void* elements) override;
  void close() override;

private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

} // namespace tenon
