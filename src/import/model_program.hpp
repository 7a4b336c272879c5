// SPDX-License-Identifier: BSD-2-Clause
// A trained network as stored in its file: operations with the names of the program that wrote
// them, and tensors that have not been read yet. Both readers produce a ModelProgram; only the
// tables of operators (onnx/operator_rows.hpp, pt2/operator_rows.hpp) interpret the names.
#pragma once

#include "weights/stored_tensor.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// An argument of an operation: a number, a text, the name of a value of the program, or a list of
// these.
struct ModelArgument {
  enum class Kind { Nothing, Flag, Integer, Real, Complex, Text, Value, List };
  using List = std::vector<ModelArgument>;
  Kind kind = Kind::Nothing;
  Index integer = 0; // also of a flag
  double real = 0;
  std::string text = {}; // text, or the name of a value
  List list = {};        // of a complex number the imaginary part

  static ModelArgument ofFlag(bool flag) { return {Kind::Flag, flag, 0, {}, {}}; }
  static ModelArgument ofInteger(Index n) {
    return {Kind::Integer, n, static_cast<double>(n), {}, {}};
  }
  static ModelArgument ofReal(double number) { return {Kind::Real, 0, number, {}, {}}; }
  static ModelArgument ofComplex(double real, double imaginary) {
    return {Kind::Complex, 0, real, {}, {ofReal(imaginary)}};
  }
  static ModelArgument ofText(std::string text) { return {Kind::Text, 0, 0, std::move(text), {}}; }
  static ModelArgument ofValue(std::string name) {
    return {Kind::Value, 0, 0, std::move(name), {}};
  }
  static ModelArgument ofList(List list) { return {Kind::List, 0, 0, {}, std::move(list)}; }

  bool isNothing() const noexcept { return kind == Kind::Nothing; }
  bool isValue() const noexcept { return kind == Kind::Value; }
};

// One operation (node) of the program.
struct ModelOperation {
  std::string type;  // "aten.conv2d", "Conv"
  std::string label; // name of the operation in the file
  std::string where; // line of the model's source, "" if the file does not store it
  // In PyTorch all arguments have names; in ONNX inputs are positional and attributes have names.
  std::vector<ModelArgument> inputs = {};
  std::vector<std::pair<std::string, ModelArgument>> arguments = {};
  std::vector<std::string> results = {};
};

// A tensor of the file. Its dimension d is dimension axes[d] of the stored tensor.
struct ModelTensor {
  std::string name; // name of the parameter: "net.0.weight"
  StoredTensor stored;
  std::vector<int> axes;
  // File with its bytes, in the folder of the network's file; "" for the network's file itself.
  std::string file = {};
  // Values of a small tensor that is stored in the graph itself.
  std::optional<std::vector<double>> numbers = {};
  // Parameters are trained, buffers are not. Most ONNX files do not distinguish them.
  enum class Role { Unknown, Parameter, Buffer } role = Role::Unknown;
  bool isComplex = false; // complex: pairs of numbers along an additional last dimension

  std::vector<Index> shape() const {
    std::vector<Index> shape;
    for (const int axis : axes)
      shape.push_back(stored.shape[static_cast<std::size_t>(axis)]);
    return shape;
  }
};

// The basis of a discrete-continuous convolution's filters on the sphere, by the names of layer
// `disco`; a kernel of one number has 0 after it. One that the layer does not have, and that the
// network may not use either, has only the reason, `why`.
struct ModelFilterBasis {
  std::string name;
  std::array<Index, 2> kernel = {};
  double cutoff = 0;
  std::string why = {};
};

// An input of the network.
struct ModelInput {
  std::string name;
  std::vector<std::optional<Index>> shape;        // extents; none: set by each run
  std::vector<std::optional<Index>> example = {}; // extents at export, if the file stores them
};

// A test stored in the file: results that the exporting program computed. It has inputs, outputs,
// cotangents of the outputs, gradients with respect to the inputs, and three numbers for the
// gradient of each parameter; or inputs and outputs alone.
struct ModelTest {
  std::string about;
  double tolerance64 = 0,
         tolerance32 = 0; // tolerances: largest difference / largest number
  // For gradients in float32: norm of the difference / norm. Files before have none.
  std::optional<double> gradientTolerance32 = {};
  std::vector<StoredTensor> inputs, outputs;
  std::vector<StoredTensor> cotangents; // empty: the test has no gradients
  // none: no gradient with respect to this input
  std::vector<std::optional<StoredTensor>> gradients;
  // Three numbers for each parameter with a gradient, [parameters, 3]: the dot product of the
  // gradient with cos(0), cos(1), ... in the order of the file's tensor, its norm, and the norm of
  // its error in float32. Older files do not have them.
  std::vector<std::string> parameters = {};
  std::optional<StoredTensor> parameterGradients = {};
};

// The network of a file: values are identified by name, and operations are listed in execution
// order.
struct ModelProgram {
  // Ann: MOM6's layout (ann/ann.hpp), whose operations have the names of PyTorch's.
  enum class Format { Pt2, Onnx, Ann };
  Format format = Format::Pt2;
  int version = 0; // version of the operator set: ONNX's opset
  std::vector<ModelInput> inputs;
  std::vector<std::string> outputs;
  // Names of the outputs in the file's test; empty: the outputs have the names of their values.
  std::vector<std::string> outputNames;
  std::vector<ModelTensor> tensors;
  // Values that are tensors of the file: name, and index in `tensors`.
  std::vector<std::pair<std::string, std::size_t>> constants;
  std::set<std::string> flags;    // names of boolean values
  std::set<std::string> integers; // names of integer values
  // PyTorch's type number of each value. A result that is computed from constants only is rounded
  // to this type at import, as PyTorch does. Empty for older files, whose test was computed without
  // this rounding.
  std::map<std::string, Index> types;
  // Numbers of the source in arithmetic of such constants are rounded before it. Not in files whose
  // test was computed without.
  bool roundsNumbers = true;
  // Constants of the model's source without a short decimal, such as 2 pi, that the exporter
  // rounded to float32 although the network computes in float64.
  std::vector<double> rounded;
  std::vector<ModelOperation> operations;
  // Of each module with filters on the sphere, which the exporting program has noted, since a graph
  // has their values alone.
  std::map<std::string, ModelFilterBasis> filters;
  std::optional<ModelTest> test;
};

// How a file of this format gets a test, as a sentence for messages.
const char* adviceOnTest(ModelProgram::Format format);

// Returns the innermost line of the model's own source in a stack trace: "zoo.py, line 30, in
// forward: x = ...".
std::string sourceLine(const std::string& stack);

inline constexpr std::size_t kMaxOperations = 1000000;
inline constexpr std::size_t kMaxModelDimensions = 8;

} // namespace tenon
