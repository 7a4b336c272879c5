// SPDX-License-Identifier: BSD-2-Clause
// An ONNX file: a graph of operators of a numbered set, and tensors, in it or in files beside it.
//
// wire.cpp reads the wire format of protocol buffers and reader.cpp the file, operators.cpp finds the row of an
// operator (rows.hpp), and the other sources have the rows by family.
#pragma once

#include "import/graph/operands.hpp"
#include "import/model_program.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT for what is damaged, and TENON_ERR_SUPPORT for versions, types and parts
// that cannot be imported.
ModelProgram readOnnx(const ByteSource& source);

bool isKnownInOnnx(const std::string& type);
// The results of an operation. What is not known is refused.
ModelValues buildOnnx(ModelBuilder& builder, const Operands& given, int opset);

} // namespace tenon
