// SPDX-License-Identifier: BSD-2-Clause
// The first bytes of a checkpoint, before those of HDF5 (its user block): a few lines of text that
// make damage known before HDF5 reads a byte.
//
//   tenon-checkpoint 1        the format
//   header 512                bytes of this header, a power of two
//   file 51929                bytes of the file
//   data 3104 600             first byte and number of bytes of each dataset's data, in order
//   digest 52c1d0c3e2a1b7f4   FNV-1a, 64 bits, of the lines above and of all that is neither header nor data
//
// The rest of the header is zero. The data have digests of their own.
#pragma once

#include "sys/types.hpp"

#include <string>
#include <vector>

namespace tenon {

struct ByteRange {
  Index begin = 0, size = 0;
};

// Whether a file begins as checkpoints of any format do, however damaged the rest may be. None that
// cannot be read does.
bool beginsAsCheckpoint(const std::string& path);
// The size of the header of a file with this number of datasets.
Index headerBytes(std::size_t datasets);
// Fills the header of a file whose bytes are all there but for the data. Throws TENON_ERR_FILE.
void writeHeader(const std::string& path, Index bytes, std::vector<ByteRange> data);
// Throws TENON_ERR_FILE if the file cannot be read; TENON_ERR_FORMAT if it is damaged, truncated,
// no checkpoint, of another format, or has HDF5 metadata without checksums.
void checkHeader(const std::string& path);

} // namespace tenon
