// SPDX-License-Identifier: BSD-2-Clause
// The header of a checkpoint file, before HDF5's first byte (HDF5 calls it the user block): a few
// lines of text that detect damage before HDF5 reads anything.
//
//   tenon-checkpoint 1        format version
//   header 512                size of this header in bytes, a power of two
//   file 51929                size of the file in bytes
//   data 3104 600             offset and size in bytes of each dataset's data, in ascending order
//   digest 52c1d0c3e2a1b7f4   FNV-1a, 64 bits, of the lines above and of all bytes that are neither
//                             header nor data
//
// The rest of the header is zero. The data are covered by separate digests, one per dataset.
#pragma once

#include "sys/types.hpp"

#include <string>
#include <vector>

namespace tenon {

// Offset and size of the data of one dataset.
struct ByteRange {
  Index begin = 0, size = 0;
};

// Whether a file begins as a checkpoint of any format version, even if the rest is damaged; false
// if it cannot be read.
bool beginsAsCheckpoint(const std::string& path);
// Returns the size of the header for a number of datasets.
Index headerBytes(std::size_t datasets);
// Writes the header of a file that is complete except for the data. Throws TENON_ERR_FILE.
void writeHeader(const std::string& path, Index bytes, std::vector<ByteRange> data);
// Throws TENON_ERR_FILE if the file cannot be read; TENON_ERR_FORMAT if it is damaged, truncated,
// not a checkpoint, of another format version, or has HDF5 metadata without checksums.
void checkHeader(const std::string& path);

} // namespace tenon
