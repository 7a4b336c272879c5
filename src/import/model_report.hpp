// SPDX-License-Identifier: BSD-2-Clause
// The report of `tenon import`: the inputs of a network, the layer of each operation, the cost on a
// given number of processes, and the receptive field of an output.
#pragma once

#include "import/model_file.hpp"

namespace tenon {

// Returns the input shapes of a run. An extent is, in this order: the one that the file fixes or
// `givenExtents` names, that of the file's test, that of the export, a batch of 1, 64 elements.
// Throws TENON_ERR_ARG for a name that is not an input, and TENON_ERR_SHAPE for a wrong number of
// dimensions.
std::vector<Shape> extentsOfRun(const ModelProgram& program,
                                const std::vector<std::pair<std::string, Shape>>& givenExtents);

// Returns the report. `name` is the file's name. Processes split space, or the batch if there is no
// space.
std::string reportModel(const std::string& name, const ModelProgram& program,
                        const ByteSource& file, const std::vector<Shape>& inputs, Index processes);

} // namespace tenon
