// SPDX-License-Identifier: BSD-2-Clause
// What becomes of a network, as text: its inputs, the layer of each operation, what it costs on a
// number of processes, and how far an output sees.
#pragma once

#include "import/model_file.hpp"

namespace tenon {

// The extents of a run: those that the file fixes, what is given by name, and otherwise those of
// the file's test, or a batch of 1 and 64 cells in each dimension. Throws TENON_ERR_ARG for a name
// that is no input, and TENON_ERR_SHAPE for another number of dimensions.
std::vector<Shape> extentsOfRun(const ModelProgram& program,
                                const std::vector<std::pair<std::string, Shape>>& given);

// `name` is that of the file. The processes split space, or the batch where there is none.
std::string reportModel(const std::string& name, const ModelProgram& program,
                        const ByteSource& file, const std::vector<Shape>& inputs, Index processes);

} // namespace tenon
