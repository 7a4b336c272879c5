// SPDX-License-Identifier: BSD-2-Clause
// Zip archives: the members (files) with their local headers, then the directory at the end of the
// file, with the extensions for large files (zip64). Members are consecutive from the first byte
// on, without holes, uncompressed or deflated. Sizes are taken from the directory, because a writer
// that does not know a size in advance omits it in the local header. Local headers are compared
// with the directory.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

// Whether the first bytes are those of a zip archive.
bool isZip(const ByteSource& source);
// Returns the members in the order of the directory. Throws TENON_ERR_FORMAT.
std::vector<ZipMember> readZip(const ByteSource& source);

// Records for writing an archive: a member's local header, its entry in the directory, and the end
// record. The numbers must be within the limits below, because zip64 is not written.
std::string zipLocalHeader(const ZipMember& member);
std::string zipDirectoryEntry(const ZipMember& member);
std::string zipEnd(Index members, Index directoryBegin, Index directoryBytes);
inline constexpr Index kMaxZipBytes = 0xffffffff - 1, kMaxZipMembers = 0xffff - 1;

} // namespace tenon
