// SPDX-License-Identifier: BSD-2-Clause
// Transfers elements of tensors between ranks and a file, in pieces: either all ranks access the
// file collectively, or rank 0 alone opens it, and the others exchange messages with it. The file
// is the same.
//
// An error on one rank does not interrupt the transfer: all ranks make the same calls, and the
// first error is reported on all ranks at the end.
#pragma once

#include "io/hdf5_file.hpp"
#include "io/tensor_pieces.hpp"

#include <functional>

namespace tenon {

// Who accesses the file: all ranks, or rank 0.
enum class FileTransport { Together, Root };

// Tensor of dataset i, in the order of the file.
using TensorPointers = std::vector<const DTensor*>;
// Callback with the bytes of each dataset that has been transferred, to report progress.
using Moved = std::function<void(Index bytes)>;

// The file of a transfer.
struct FileData {
  std::string path;
  const std::vector<StoredDataset>* stored; // in the order of the tensors
  FileTransport transport;
  Moved moved;
};

// Collective on comm. Throw the first error of any rank, on all ranks. `elements[i]` receives the
// elements of readBox(), row-major.
void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors);
void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& elements);

} // namespace tenon
