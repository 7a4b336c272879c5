// SPDX-License-Identifier: BSD-2-Clause
// The directory of a zip archive, at its end, with the extensions for large files (zip64). The
// members lie one after the other from the first byte on, without holes, stored as they are or
// deflated. The directory is believed and the members' own headers are compared with it: writers
// that do not know a size beforehand leave it out there.
#pragma once

#include "weights/stored_tensor.hpp"

namespace tenon {

// Whether the first bytes are those of a zip archive.
bool isZip(const ByteSource& source);
// The members in the order of the directory. Throws TENON_ERR_FORMAT.
std::vector<ZipMember> readZip(const ByteSource& source);

// For an archive that is written: the bytes before a member's own, the directory's entry of a
// member, and what ends the archive. None of the numbers may need zip64.
std::string zipLocalHeader(const ZipMember& member);
std::string zipDirectoryEntry(const ZipMember& member);
std::string zipEnd(Index members, Index directoryBegin, Index directoryBytes);
inline constexpr Index kMaxZipBytes = 0xffffffff - 1, kMaxZipMembers = 0xffff - 1;

} // namespace tenon
