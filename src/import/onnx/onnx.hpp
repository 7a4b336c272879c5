// SPDX-License-Identifier: BSD-2-Clause
// Reads ONNX files: a graph of operators of a versioned operator set, and tensors, which are stored
// in the file itself or in files beside it.
//
//   wire.cpp            the wire format of protocol buffers
//   tensor_message.cpp  tensors, names and other messages within messages
//   parameter_names.cpp which parameters the exported model had
//   reader.cpp          the graph of an ONNX file, as a ModelProgram
//   value_kinds.cpp     which values are integers or booleans instead of real numbers
//   operator_table.cpp  finds the row of an operator (operator_rows.hpp)
//   *_ops.cpp           the rows, by family
//
// A file is one message of protocol buffers, a model, with a graph in it. The fields of the graph
// can be in any order in the file, and are read in this order:
//
//   metadata       names of PyTorch's parameters, and which tensors are parameters
//   initializers   constant tensors: their positions in the file, not their bytes
//   inputs         those that are not initializers; older files list initializers as inputs too
//   nodes          operations, each of which may read only values that are defined before
//   outputs
#pragma once

#include "import/canonical/operands.hpp"
#include "import/model_program.hpp"

namespace tenon {

// Throws TENON_ERR_FORMAT if the file is damaged, and TENON_ERR_SUPPORT for versions, types and
// parts of the format that cannot be imported.
ModelProgram readOnnx(const ByteSource& source);

// ONNX's element types by number: booleans, and whether a type is an integer type.
inline constexpr Index kOnnxFlags = 9;
constexpr bool isOnnxInteger(Index type) {
  return (type >= 2 && type <= 7) || type == 12 || type == 13;
}

// Whether the results of an operation are booleans or integers. The file states the type of few
// values, so it is inferred from the operator and the types of its inputs.
bool givesOnnxFlags(const ModelProgram& program, const ModelOperation& operation);
bool givesOnnxIntegers(const ModelProgram& program, const ModelOperation& operation);

bool isKnownInOnnx(const std::string& type);
// Builds an operation and returns its results. An unknown operator is refused.
ModelValues buildOnnx(ModelBuilder& builder, const Operands& operands, int opset);

} // namespace tenon
