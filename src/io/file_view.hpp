// SPDX-License-Identifier: BSD-2-Clause
// What a checkpoint file holds, for people, and whether its data are as they were written; and for
// programs. One process, without MPI.
#pragma once

#include <string>

namespace tenon {

struct FileView {
  std::string text;
  std::string damaged; // datasets whose digest is wrong, with commas between
};

// Throws as readStructure() does.
FileView viewFile(const std::string& path);
// What there is without the data, as JSON (TenonCheckpointGetContents()).
std::string fileContents(const std::string& path);

} // namespace tenon
