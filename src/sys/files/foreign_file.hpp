// SPDX-License-Identifier: BSD-2-Clause
// Files that are met where others are expected, told by their first bytes: other formats of weights
// and fields, and what stands in a file's place after a download that went wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

enum class ForeignFile { None, GitLfs, Web, Gzip, Hdf5, NetCdf3, Pickle, Npy };

inline constexpr std::size_t kForeignBytes = 64; // of the beginning are enough

ForeignFile foreignFile(std::string_view beginning);
// What it is, as the end of a sentence, with what to do where that does not depend on the place: "a
// pointer of git lfs, and not the file itself; run `git lfs pull`".
std::string foreignFileText(ForeignFile file);

} // namespace tenon
