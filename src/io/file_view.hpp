// SPDX-License-Identifier: BSD-2-Clause
// Lists the contents of a checkpoint file as text or JSON, and verifies its data. Local, without
// MPI.
#pragma once

#include <string>

namespace tenon {

// The listing of a file, and its damaged datasets.
struct FileView {
  std::string text;
  std::string damaged; // datasets whose digest is wrong, separated by commas
};

// Lists a file and verifies the digests of all data. Throws as readStructure() does.
FileView viewFile(const std::string& path);
// Returns the contents without the data, as JSON (TenonCheckpointGetContents()).
std::string fileContents(const std::string& path);

} // namespace tenon
