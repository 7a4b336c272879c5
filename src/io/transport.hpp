// SPDX-License-Identifier: BSD-2-Clause
// Transfers elements of tensors between ranks and a file, in pieces of limited size. Either all
// ranks access the file by collective calls of parallel HDF5, or rank 0 alone opens the file, and
// the other ranks exchange messages with rank 0. Both ways produce the same file.
//
// An error on one rank does not interrupt the transfer, because the other ranks wait in the same
// calls. All ranks continue to the end, and there all of them throw the first error.
#pragma once

#include "io/hdf5_file.hpp"
#include "io/tensor_pieces.hpp"
#include "sys/files/part_file.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace tenon {

// Who accesses the file: all ranks, or rank 0.
enum class FileTransport { Together, Root };

// Tensor of dataset i, in the order of the file.
using TensorPointers = std::vector<const DTensor*>;
// Called after each dataset with its size in bytes, to report progress.
using Moved = std::function<void(Index bytes)>;

// The file of a transfer, whose structure exists already.
struct FileData {
  std::string path;
  const std::vector<StoredDataset>* stored; // in the order of the tensors
  FileTransport transport;
  Moved moved; // may be empty
  // Makes the access to the file, on ranks that have one; empty for HDF5, which needs `stored`.
  std::function<std::unique_ptr<DataAccess>()> access = {};
};

// Both are collective on comm, and throw on all ranks the first error of any rank. writeTensors()
// writes each element once (writtenBox() in tensor_pieces.hpp says which rank does it).
// readTensors() changes no tensor: `layouts` are tensors of which only layout and type are used,
// and `elements[i]`, which must be large enough, receives this rank's readBox() of tensor i,
// row-major.
void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors);
void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& elements);

// Collective, after writeTensors(): synchronises the temporary file with the disk and renames it.
// Rank 0 has `part`, the other ranks nothing.
void commitPart(const CommPtr& comm, std::optional<PartFile>& part, const FileData& file);

} // namespace tenon
