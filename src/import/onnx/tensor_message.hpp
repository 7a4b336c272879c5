// SPDX-License-Identifier: BSD-2-Clause
// The messages of an ONNX file that occur within others: tensors, pairs of texts, and names.
#pragma once

#include "import/model_program.hpp"
#include "import/onnx/wire.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// Throws TENON_ERR_SUPPORT: the file cannot be imported.
[[noreturn]] void refuseOnnx(const ByteSource& source, const std::string& why);

// Reads a name that will be used in messages.
std::string onnxName(const WireMessage& field);
// Reads a key and its value.
std::pair<std::string, std::string> onnxPair(WireMessage pair);
// Converts ONNX's number of an element type; none if it cannot be read.
std::optional<ElementType> onnxType(Index code);
// Attributes are float32, also in a float64 network: 0.1 is stored as 0.10000000149. The exporter
// meant the shortest decimal that rounds to this number, which is returned.
double shortestDecimal(float number);

// Reads a tensor: its shape and type, and the place of its bytes or its numbers. `otherName` is its
// name, if it is not empty; otherwise the tensor must have one. Numbers of the model's source that
// the file has rounded to float32 are added to `rounded`.
ModelTensor readOnnxTensor(const ByteSource& source, const WireMessage& field,
                           const std::string& otherName, std::vector<double>& rounded);

} // namespace tenon
