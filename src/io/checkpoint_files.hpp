// SPDX-License-Identifier: BSD-2-Clause
// Files numbered by steps in a folder: step-100.h5, step-200.h5, ... of checkpoints, or
// heat-000100.h5 of fields. Local functions; only one process calls them.
#pragma once

#include "sys/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

// Returns "FOLDER/step-100.h5".
std::string stepFile(const std::string& folder, Index step);
// Returns the numbers of the files START<number>.h5, the latest first; empty if the folder does not
// exist. The number must have leading zeros to exactly `digits` digits (more digits if it is
// larger); other names are ignored. Throws TENON_ERR_FILE if the folder cannot be read.
std::vector<Index> numberedFiles(const std::string& folder, const std::string& start, int digits);
// Returns the steps of checkpoints, in the same way.
std::vector<Index> stepsIn(const std::string& folder);
// Creates the folder if it does not exist. Throws TENON_ERR_FILE.
void makeFolder(const std::string& folder);

// Removes temporary files of killed writers of this file, or of any step if the file is that of a
// step. If another process is writing such a file, it is not removed, and the process is returned:
// "process 812 on host n3".
std::optional<std::string> removeParts(const std::string& path);
// The same for all files START<number>.h5.
std::optional<std::string> removeNumberedParts(const std::string& folder, const std::string& start,
                                               int digits);
// Returns a warning for a program that finds another writer in its folder, with a remedy.
std::string sharedFolderText(const std::string& path, const std::string& writer);
// Removes the checkpoints of steps up to `last`, except the latest `keep`. Files that cannot be
// removed are ignored, as are files that do not begin as checkpoints, which belong to other
// programs.
void removeSteps(const std::string& folder, Index last, Index keep);

// Throws TENON_ERR_FILE unless a file of this size can be written in the folder of this path: there
// is enough free disk space, and the file size limit of the process allows it.
void checkRoom(const std::string& path, Index bytes);
// Reserves disk space for an open file up to its size, if the file system supports that, so a full
// disk is detected before data is written. Throws TENON_ERR_FILE; `path` is the name for messages.
void reserveRoom(int file, const std::string& path);

} // namespace tenon
