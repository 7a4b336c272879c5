// SPDX-License-Identifier: BSD-2-Clause
// A trained network as its file has it: operations by the names of the program that wrote them, and
// tensors that are still in the file. Both readers make this, and only the tables of operators
// (onnx/rows.hpp, pt2/rows.hpp) know what the names mean.
#pragma once

#include "weights/stored_tensor.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

// What an operation is given: a number, a text, a value of the program by name, or a list of these.
struct ModelArgument {
  enum class Kind { Nothing, Flag, Integer, Real, Text, Value, List };
  using List = std::vector<ModelArgument>;
  Kind kind = Kind::Nothing;
  Index integer = 0; // also of a flag
  double real = 0;
  std::string text = {}; // also the name of a value
  List list = {};

  static ModelArgument ofFlag(bool flag) { return {Kind::Flag, flag, 0, {}, {}}; }
  static ModelArgument ofInteger(Index n) {
    return {Kind::Integer, n, static_cast<double>(n), {}, {}};
  }
  static ModelArgument ofReal(double number) { return {Kind::Real, 0, number, {}, {}}; }
  static ModelArgument ofText(std::string text) { return {Kind::Text, 0, 0, std::move(text), {}}; }
  static ModelArgument ofValue(std::string name) {
    return {Kind::Value, 0, 0, std::move(name), {}};
  }
  static ModelArgument ofList(List list) { return {Kind::List, 0, 0, {}, std::move(list)}; }

  bool isNothing() const noexcept { return kind == Kind::Nothing; }
  bool isValue() const noexcept { return kind == Kind::Value; }
};

struct ModelOperation {
  std::string type;  // "aten.conv2d", "Conv"
  std::string label; // its name in the file
  std::string where; // the line of the model's source, if the file tells it
  // PyTorch names all arguments; in ONNX inputs have places and attributes names.
  std::vector<ModelArgument> inputs = {};
  std::vector<std::pair<std::string, ModelArgument>> arguments = {};
  std::vector<std::string> results = {};
};

// A tensor of the file, and which of its stored dimensions each dimension is.
struct ModelTensor {
  std::string name; // of the parameter: "net.0.weight"
  StoredTensor stored;
  std::vector<int> axes;
  std::string file = {}; // where its bytes are, beside the network's file; "": in that
  std::optional<std::vector<double>> numbers = {}; // of one that stands in the graph itself
  // A parameter is trained, a buffer is not. Most files of ONNX do not say it.
  enum class Role { Unknown, Parameter, Buffer } role = Role::Unknown;
  bool isComplex = false; // pairs of numbers, along a further last dimension

  std::vector<Index> shape() const {
    std::vector<Index> shape;
    for (const int axis : axes)
      shape.push_back(stored.shape[static_cast<std::size_t>(axis)]);
    return shape;
  }
};

struct ModelInput {
  std::string name;
  std::vector<std::optional<Index>> shape;        // none: whatever the run has
  std::vector<std::optional<Index>> example = {}; // with which the file was made, if it tells it
};

// What the program that wrote the file computed of the network, in float64: inputs, outputs, the
// cotangents of the outputs, and the gradients of the inputs; and of each parameter's gradient
// three numbers.
struct ModelTest {
  std::string about;
  double tolerance64 = 0,
         tolerance32 = 0; // of the largest difference, as a part of the largest number
  std::vector<StoredTensor> inputs, outputs, cotangents;
  std::vector<std::optional<StoredTensor>> gradients; // none: it has none
  // Of the parameters that have a gradient its product with cos(0), cos(1), ... in the order of its
  // elements, its norm, and the norm of what float32 is off: [parameters, 3]. Older files have
  // none.
  std::vector<std::string> parameters = {};
  std::optional<StoredTensor> parameterGradients = {};
};

struct ModelProgram {
  enum class Format { Pt2, Onnx };
  Format format = Format::Pt2;
  int version = 0; // of the operators: ONNX's opset
  std::vector<ModelInput> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> outputNames; // as the test names them; none: those of the values
  std::vector<ModelTensor> tensors;
  // Names of values that are tensors of the file.
  std::vector<std::pair<std::string, std::size_t>> constants;
  std::set<std::string> flags;    // names of values that are true or false
  std::set<std::string> integers; // names of values that are integers, of ONNX alone
  // PyTorch's numbers of the types in which it computes values, to which what is computed of
  // constants is rounded; empty where the file's test has such tables in float64.
  std::map<std::string, Index> types;
  // Numbers of the model's source that the exporter rounded to float32 though the network is in
  // float64, and that have no short decimal, such as 2 pi.
  std::vector<double> rounded;
  std::vector<ModelOperation> operations;
  std::optional<ModelTest> test;
};

// The last line of the model's own source in a stack of lines: "zoo.py, line 30, in forward: x =
// ...".
std::string sourceLine(const std::string& stack);

inline constexpr std::size_t kMaxOperations = 1000000;
inline constexpr std::size_t kMaxModelDimensions = 8;

} // namespace tenon
