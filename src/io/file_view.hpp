// SPDX-License-Identifier: BSD-2-Clause
// Lists the contents of a checkpoint file as JSON, and verifies its data. Local, without MPI.
#pragma once

#include <string>

namespace tenon {

// What the list says of the digests of the datasets: nothing; whether each is right; or, for the
// length of that text without reading the data, "right" in place of both words.
enum class Digests { Omitted, Verified, Assumed };

// Returns the contents without the data (TenonCheckpointGetContents()). Throws as readStructure()
// does.
std::string fileContents(const std::string& path, Digests digests = Digests::Omitted);

} // namespace tenon
