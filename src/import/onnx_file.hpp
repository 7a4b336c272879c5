// SPDX-License-Identifier: BSD-2-Clause
// An ONNX file: a graph of operators of a numbered set, and tensors, in it or in files beside it.
#pragma once

#include "import/model_program.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT for what is damaged, and TENON_ERR_SUPPORT for versions, types and parts
// that cannot be imported.
ModelProgram readOnnx(const ByteSource& source);

} // namespace tenon
