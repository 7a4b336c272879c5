// SPDX-License-Identifier: BSD-2-Clause
// An ONNX file: a graph of operators of a numbered set, and tensors, in it or in files beside it.
//
// wire.cpp reads the wire format of protocol buffers, reader.cpp the file, and kinds.cpp tells
// integers and flags from real numbers; operators.cpp finds the row of an operator
// (operator_rows.hpp), and the other sources have the rows by family.
#pragma once

#include "import/canonical/operands.hpp"
#include "import/model_program.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT for what is damaged, and TENON_ERR_SUPPORT for versions, types and parts
// that cannot be imported.
ModelProgram readOnnx(const ByteSource& source);

// Of ONNX's numbers of types of elements: that of flags, and whether it is one of integers.
inline constexpr Index kOnnxFlags = 9;
constexpr bool isOnnxInteger(Index type) {
  return (type >= 2 && type <= 7) || type == 12 || type == 13;
}

// Whether the results of an operation are flags or integers. The format says it of few values, and
// operators say it of the others.
bool givesOnnxFlags(const ModelProgram& program, const ModelOperation& operation);
bool givesOnnxIntegers(const ModelProgram& program, const ModelOperation& operation);

bool isKnownInOnnx(const std::string& type);
// The results of an operation. What is not known is refused.
ModelValues buildOnnx(ModelBuilder& builder, const Operands& given, int opset);

} // namespace tenon
