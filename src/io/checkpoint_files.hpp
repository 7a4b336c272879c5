// SPDX-License-Identifier: BSD-2-Clause
// Files that are numbered by steps, in their folder: step-100.h5, step-200.h5, ... of checkpoints,
// or heat-000100.h5 of fields. One process calls this for all.
#pragma once

#include "sys/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

// "FOLDER/step-100.h5".
std::string stepFile(const std::string& folder, Index step);
// The numbers of the files START<number>.h5, the latest first; none where there is no such folder.
// The number has zeros in front up to so many digits, and files with other numbers of zeros are not
// meant. Throws TENON_ERR_FILE if it cannot be read.
std::vector<Index> numberedFiles(const std::string& folder, const std::string& start, int digits);
// The same for the steps of checkpoints.
std::vector<Index> stepsIn(const std::string& folder);
// Makes the folder where there is none. Throws TENON_ERR_FILE.
void makeFolder(const std::string& folder);

// Removes what killed writers of the file have left beside it; for the file of a step, what writers
// of any step have left. Returns who writes one of them at this moment, "process 812 on host n3",
// whose part stays.
std::optional<std::string> removeParts(const std::string& path);
// The same for all files START<number>.h5.
std::optional<std::string> removeNumberedParts(const std::string& folder, const std::string& start,
                                               int digits);
// For a program that finds another writer beside its own file: that both share a folder, and what
// to change.
std::string sharedFolderText(const std::string& path, const std::string& writer);
// Removes the checkpoints of steps up to `last`, all but the latest `keep`. What cannot be removed
// stays, and so does a file of such a name that does not begin as a checkpoint: it is another
// program's.
void removeSteps(const std::string& folder, Index last, Index keep);

// Throws TENON_ERR_FILE unless a file of so many bytes may be written beside this path: room on the
// disk, and the limit of this process.
void checkRoom(const std::string& path, Index bytes);
// Reserves what an open file needs up to its end, where the file system can do that, so that the
// disk is found full before anything is written. Throws TENON_ERR_FILE; `path` is what it is
// called.
void reserveRoom(int file, const std::string& path);

} // namespace tenon
