// SPDX-License-Identifier: BSD-2-Clause
// Recognises files of other formats by their first bytes: other formats of weights and fields, and
// files that result from a failed download.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

enum class ForeignFile { None, GitLfs, Web, Gzip, Hdf5, NetCdf3, Pickle, Npy };

inline constexpr std::size_t kForeignBytes = 64; // number of leading bytes that suffices

ForeignFile foreignFile(std::string_view beginning);
// Description of the format, as the end of a sentence, with advice if it is generally valid: "a
// pointer of git lfs, and not the file itself; run `git lfs pull`".
std::string foreignFileText(ForeignFile file);

} // namespace tenon
