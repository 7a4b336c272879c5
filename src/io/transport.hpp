// SPDX-License-Identifier: BSD-2-Clause
// How the elements of tensors get from the ranks into a file and back, in pieces: by all ranks
// together, or in messages through rank 0, which alone opens the file. The file is the same.
//
// An error of one rank stops nobody on the way: all go through the same calls and learn at the end.
#pragma once

#include "io/hdf5_file.hpp"
#include "io/tensor_pieces.hpp"

#include <functional>

namespace tenon {

enum class FileTransport { Together, Root };

// What goes into dataset i, or what comes out of it: the elements of readBox(), row-major.
using TensorPointers = std::vector<const DTensor*>;
// Called with the bytes of each dataset that has been moved.
using Moved = std::function<void(Index bytes)>;

struct FileData {
  std::string path;
  const std::vector<StoredDataset>* stored; // in the order of the tensors
  FileTransport transport;
  Moved moved;
};

// Collective. Throw, agreed on, the first error of any rank.
void writeTensors(const CommPtr& comm, const FileData& file, const TensorPointers& tensors);
void readTensors(const CommPtr& comm, const FileData& file, const TensorPointers& layouts,
                 std::vector<Buffer>& elements);

} // namespace tenon
