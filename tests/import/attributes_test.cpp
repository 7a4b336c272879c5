// SPDX-License-Identifier: BSD-2-Clause
// Each attribute of each operator of ONNX is either understood by the importer or refused with its
// name. The independent list of all attributes is tests/data/import/onnx_operators.txt, which the
// script beside it writes from the schemas of the onnx package. One line of it, with the operator,
// its maximal number of inputs ("any" for no limit), and name:TYPE or name:TYPE=default of each
// attribute:
//
//   CumSum 2 exclusive:INT=0 reverse:INT=0
//
// The importer's tables have a row per operator (onnx/operator_rows.hpp). Its `attributes` are
// words:
//
//   word of the row   the importer                     expected for a node with that attribute
//   (none)            does not know the attribute      refused, with the attribute's name and value
//   axis              reads the attribute              a value of a wrong type is refused
//   antialias=0       accepts only this value          refused, except 0, the default of ONNX
//   seed=*            ignores the attribute            never mentioned in an error
//
// Each test writes a small model as bytes of protocol buffers (onnx_bytes.hpp), imports it, and
// searches the error text. Further tests check other properties of the ONNX importer: surplus
// inputs, arithmetic of integers, and the error codes of files that are valid but not supported.
#include "import/model_file.hpp"
#include "import/onnx/operator_rows.hpp"
#include "import/onnx_bytes.hpp"
#include "sys/expect_error.hpp"
#include "sys/text/text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace tenon {
namespace {

using namespace test::onnx;

// The newest operator set (opset) that the importer supports; the models of this file are in it.
constexpr std::uint64_t kOpset = 25;

// Types of elements in ONNX files: the enumeration TensorProto.DataType in onnx.proto.
constexpr std::uint64_t kInt64 = 7, kString = 8, kFloat64 = 11;

// Numbers of fields in the messages of onnx.proto.
constexpr int kModelGraph = 7, kModelOpset = 8, kOpsetDomain = 1, kOpsetVersion = 2;
constexpr int kGraphNode = 1, kNodeInput = 1, kNodeOutput = 2, kNodeOperator = 4;
constexpr int kTensorInt64Data = 7, kTensorRawData = 9;

// One attribute and one operator of onnx_operators.txt.
struct Attribute {
  std::string name, type, byDefault; // "exclusive", "INT", "0"; byDefault is "" for none
};
struct Operator {
  std::string name;
  std::size_t inputs; // maximal number
  std::vector<Attribute> attributes;
};

// Parses onnx_operators.txt.
std::vector<Operator> operatorsOfOnnx() {
  std::vector<Operator> all;
  std::ifstream file(TENON_TEST_MODELS "/onnx_operators.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#"))
      continue;
    std::istringstream words(line);
    std::string inputs;
    Operator listed;
    words >> listed.name >> inputs;
    listed.inputs = inputs == "any" ? kAnyNumber : std::stoul(inputs);
    for (std::string word; words >> word;) {
      const std::size_t colon = word.find(':'), equals = word.find('=');
      listed.attributes.push_back({word.substr(0, colon),
                                   word.substr(colon + 1, equals - colon - 1),
                                   equals == word.npos ? "" : word.substr(equals + 1)});
    }
    all.push_back(listed);
  }
  return all;
}

// The inputs and attributes that a node of an operator must have in any case. To test an attribute
// of Conv, for example, the node also needs a weight, or the importer refuses it for another
// reason.
struct Required {
  std::vector<std::string> inputs = {"x"}; // names of tensors in complaintOf()
  std::vector<std::pair<std::string, std::string>> attributes = {}; // names and bytes
};

// Returns them for an operator; only those that need more than the input x are listed.
Required requiredBy(const std::string& type) {
  const auto one = [](const char* name, std::int64_t n) {
    return std::vector<std::pair<std::string, std::string>>{{name, attribute(name, n)}};
  };
  const std::vector<std::pair<std::string, std::string>> kernel = {
      {"kernel_shape", attribute("kernel_shape", std::vector<std::int64_t>{2, 2})}};
  static const std::map<std::string, Required, std::less<>> required = {
      {"AffineGrid", {{"x", "shape"}}},
      {"Attention", {{"x", "x", "x"}}},
      {"AveragePool", {{"x"}, kernel}},
      {"BatchNormalization", {{"x", "c", "c", "c", "c"}}},
      {"Cast", {{"x"}, one("to", 1)}}, // 1: float32
      {"CastLike", {{"x", "x"}}},
      {"CenterCropPad", {{"x", "shape"}}},
      {"Col2Im", {{"s", "lengths", "lengths"}}},
      {"Concat", {{"x", "x"}, one("axis", 1)}},
      {"Constant", {{}}},
      {"ConstantOfShape", {{"shape"}}},
      {"Conv", {{"x", "w"}}},
      {"ConvTranspose", {{"x", "w"}}},
      {"CumSum", {{"x", "first"}}},
      {"DepthToSpace", {{"x"}, one("blocksize", 2)}},
      {"GRU", {{"s", "gru", "gru2"}, one("hidden_size", 2)}},
      {"Gather", {{"x", "first"}}},
      {"GatherElements", {{"x", "x"}}},
      {"GatherND", {{"x", "list"}}},
      {"Gemm", {{"m", "m"}}},
      {"GridSample", {{"x", "x"}}},
      {"GroupNormalization", {{"x", "c", "c"}, one("num_groups", 2)}},
      {"InstanceNormalization", {{"x", "c", "c"}}},
      {"LRN", {{"x"}, one("size", 3)}},
      {"LSTM", {{"s", "lstm", "lstm2"}, one("hidden_size", 2)}},
      {"LayerNormalization", {{"x", "d", "d"}}},
      {"LpPool", {{"x"}, kernel}},
      {"MaxPool", {{"x"}, kernel}},
      {"Mod", {{"x", "x"}}},
      {"NegativeLogLikelihoodLoss", {{"x", "x"}}},
      {"OneHot", {{"x", "first", "lengths"}}},
      {"Pad", {{"x", "pads"}}},
      {"RMSNormalization", {{"x", "d"}}},
      {"RNN", {{"s", "rnn", "rnn2"}, one("hidden_size", 2)}},
      {"Reshape", {{"x", "shape"}}},
      {"Resize", {{"x", "", "", "sizes"}}},
      {"ReverseSequence", {{"s", "lengths"}}},
      {"RotaryEmbedding", {{"x", "angles", "angles"}}},
      {"ScatterElements", {{"x", "x", "x"}}},
      {"ScatterND", {{"x", "list", "x"}}},
      {"SoftmaxCrossEntropyLoss", {{"x", "x"}}},
      {"SpaceToDepth", {{"x"}, one("blocksize", 2)}},
      {"Tile", {{"x", "copies"}}},
      {"Xor", {{"x", "x"}}}};
  const auto entry = required.find(type);
  return entry == required.end() ? Required() : entry->second;
}

// A constant tensor of float64 zeros, and one of these int64 numbers.
std::string reals(const std::string& name, const std::vector<std::uint64_t>& shape) {
  std::size_t bytes = sizeof(double);
  for (const std::uint64_t extent : shape)
    bytes *= extent;
  return tensor(name, shape, field(kTensorRawData, std::string(bytes, '\0')));
}
std::string integers(const std::string& name, const std::vector<std::uint64_t>& shape,
                     const std::vector<std::uint64_t>& numbers) {
  std::string list;
  for (const std::uint64_t number : numbers)
    list += field(kTensorInt64Data, number);
  return tensor(name, shape, list, kInt64);
}

// Imports a model of one node and returns the error text; "" if the importer accepts the node. The
// model's inputs are x, m (a matrix) and s (a sequence); all other tensors are constants.
std::string complaintOf(const std::string& type, const Required& required) {
  std::string attributes;
  for (const auto& [name, bytes] : required.attributes)
    attributes += bytes;
  const std::string bytes = file(
      input("x", {2, 4, 8, 8}) + input("m", {4, 4}) + input("s", {5, 2, 3}) +
          reals("w", {4, 4, 3, 3}) + reals("c", {4}) + reals("d", {8}) + reals("gru", {1, 6, 3}) +
          reals("gru2", {1, 6, 2}) + reals("lstm", {1, 8, 3}) + reals("lstm2", {1, 8, 2}) +
          reals("rnn", {1, 2, 3}) + reals("rnn2", {1, 2, 2}) + reals("angles", {2, 8, 4}) +
          integers("lengths", {2}, {1, 2}) + integers("copies", {4}, {1, 1, 1, 2}) +
          integers("first", {}, {1}) + integers("list", {2, 1}, {0, 1}) +
          integers("shape", {4}, {0, 4, 8, 8}) + integers("sizes", {4}, {2, 4, 16, 16}) +
          integers("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 1}) +
          node(type, required.inputs, "y", attributes) + output("y"),
      kOpset);
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  try {
    const ModelProgram program = readModelProgram(*source);
    const ModelWeights weights(program, *source);
    checkRefusals(buildModel(weights, {{2, 4, 8, 8}, {4, 4}, {5, 2, 3}}), "some file", 1);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}
// The same for a node with the attribute `name`, whose encoding in the file is `bytes`.
std::string complaintOf(const std::string& type, const std::string& name,
                        const std::string& bytes) {
  Required required = requiredBy(type);
  std::erase_if(required.attributes, [&](const auto& entry) { return entry.first == name; });
  required.attributes.insert(required.attributes.begin(), {name, bytes});
  return complaintOf(type, required);
}

// Encodings of an attribute in a file: with a value of its type that is not the default, with a
// value of another type, and with the default.
std::string unusualValue(const Attribute& listed) {
  if (listed.type == "INT")
    return attribute(listed.name, std::int64_t(7));
  if (listed.type == "FLOAT")
    return attribute(listed.name, 7.5F);
  return listed.type == "STRING" ? attribute(listed.name, "odd")
                                 : attribute(listed.name, std::vector<std::int64_t>{7, 7});
}
std::string valueOfOtherType(const Attribute& listed) {
  return listed.type.starts_with("STRING") ? attribute(listed.name, std::int64_t(7))
                                           : attribute(listed.name, "odd");
}
std::string defaultValue(const Attribute& listed) {
  return listed.type == "INT" ? attribute(listed.name, std::int64_t(std::stoll(listed.byDefault)))
                              : attribute(listed.name, std::stof(listed.byDefault));
}

// Returns the word of a row about an attribute ("antialias=0"); "" if there is none.
std::string wordOf(const OnnxRow& row, const std::string& attribute) {
  for (const std::string& word : split(std::string(row.attributes), ' '))
    if (word.substr(0, word.find('=')) == attribute)
      return word;
  return "";
}

// Checks one attribute against the table in the opening comment.
void checkAttribute(const OnnxRow& row, const Attribute& listed) {
  const std::string type(row.name), word = wordOf(row, listed.name),
                                    refusal = "the attribute " + listed.name + " = ";
  SCOPED_TRACE(type + " " + listed.name);
  const std::string complaint = complaintOf(type, listed.name, unusualValue(listed));
  if (word.empty()) {
    EXPECT_NE(complaint.find(refusal), complaint.npos) << complaint;
    EXPECT_NE(complaint.find(" of " + type), complaint.npos) << complaint;
    EXPECT_NE(complaint.find(type + "_0"), complaint.npos) << "the node: " << complaint;
  } else if (word.ends_with("=*")) {
    EXPECT_EQ(complaint.find(listed.name), complaint.npos) << complaint;
  } else if (const std::size_t equals = word.find('='); equals != word.npos) {
    EXPECT_EQ(word.substr(equals + 1), listed.byDefault);
    EXPECT_NE(complaint.find(refusal + "7"), complaint.npos) << complaint;
    EXPECT_NE(complaint.find(word.substr(0, equals) + " = " + listed.byDefault), complaint.npos)
        << complaint;
    EXPECT_EQ(complaintOf(type, listed.name, defaultValue(listed)).find(listed.name),
              complaint.npos);
  } else {
    EXPECT_EQ(complaint.find(refusal), complaint.npos) << complaint;
    const std::string typeComplaint = complaintOf(type, listed.name, valueOfOtherType(listed));
    // An error about a tensor, or about a value of Constant, need not contain the attribute's name.
    if (listed.type == "TENSOR" || type == "Constant")
      EXPECT_NE(typeComplaint, "");
    else
      EXPECT_NE(typeComplaint.find(listed.name), typeComplaint.npos) << typeComplaint;
  }
}

TEST(OnnxAttributes, AreReadOrRefusedByName) {
  std::size_t known = 0; // operators that the importer has
  for (const Operator& listed : operatorsOfOnnx()) {
    const OnnxRow* row = onnxRow(listed.name);
    if (!row) {
      const std::string complaint = complaintOf(listed.name, Required());
      EXPECT_NE(complaint.find("the operator " + listed.name + " of ONNX"), complaint.npos)
          << complaint;
      continue;
    }
    ++known;
    EXPECT_LE(row->inputs, listed.inputs) << listed.name;
    for (const Attribute& attribute : listed.attributes)
      checkAttribute(*row, attribute);
    for (const std::string& word : split(std::string(row->attributes), ' '))
      EXPECT_TRUE(
          std::any_of(listed.attributes.begin(), listed.attributes.end(),
                      [&](const Attribute& a) { return a.name == word.substr(0, word.find('=')); }))
          << listed.name << " has no attribute " << word;
  }
  // Every row has been compared, so the importer has no operator that ONNX does not have.
  EXPECT_EQ(known, onnxRows().size());
}

// A node with more inputs than its row allows is refused. ONNX can allow more: an input can belong
// to a later operator set, or have no equivalent among Tenon's layers. An additional input with the
// empty name is one that the node omits, so it is accepted.
TEST(OnnxAttributes, FurtherInputsAreReadOrRefusedByName) {
  for (const Operator& listed : operatorsOfOnnx()) {
    const OnnxRow* row = onnxRow(listed.name);
    if (!row || row->inputs == kAnyNumber)
      continue;
    Required required = requiredBy(listed.name);
    required.inputs.resize(row->inputs, "");
    required.inputs.push_back("x");
    const std::string complaint = complaintOf(listed.name, required);
    EXPECT_NE(complaint.find(fmt::format("input {} of {}, 'x'", row->inputs, listed.name)),
              complaint.npos)
        << complaint;
    required.inputs.back() = "";
    EXPECT_EQ(complaintOf(listed.name, required).find("input " + std::to_string(row->inputs)),
              complaint.npos);
  }
}

// Returns the bytes of a model file with this graph.
std::string bytesOf(const std::string& graph) {
  return file(graph, kOpset);
}
// Imports a model and expects an error with this code, whose text contains all `parts`.
void expectRefusal(TenonErrorCode code, std::initializer_list<const char*> parts,
                   const std::string& bytes) {
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  expectError(code, parts, [&] {
    const ModelProgram program = readModelProgram(*source);
    const ModelWeights weights(program, *source);
    std::vector<Shape> shapes(program.inputs.size(), Shape{2, 3});
    checkRefusals(buildModel(weights, shapes), "some file", program.operations.size());
  });
}

// Returns the refusals of a model whose inputs have the shape [2,3].
std::size_t refusalsOf(const std::string& bytes) {
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  const ModelProgram program = readModelProgram(*source);
  const ModelWeights weights(program, *source);
  return buildModel(weights, {{2, 3}}).refusals.size();
}

// ONNX rounds the results of some operators on integers. Tenon's tensors of samples are real
// numbers, so the importer refuses these operators, unless it can round as ONNX does. It accepts
// them after a Cast to real numbers.
TEST(OnnxAttributes, IntegersAreRoundedAsInOnnxOrRefused) {
  const std::string y = output("y"), k = integers("k", {3}, {2, 2, 2});
  const std::string n = input("n", {2, 3}, kInt64);
  constexpr auto kMinusOne = ~std::uint64_t(0); // int64 -1 in a file
  EXPECT_EQ(refusalsOf(bytesOf(n + k + node("Div", {"n", "k"}, "y") + y)), 0U);
  expectRefusal(TENON_ERR_SUPPORT, {"ReduceMean of integers"},
                bytesOf(n + node("ReduceMean", {"n"}, "y") + y));
  expectRefusal(TENON_ERR_SUPPORT, {"Pow of integers"},
                bytesOf(n + integers("e", {}, {kMinusOne}) + node("Pow", {"n", "e"}, "y") + y));
  EXPECT_EQ(
      refusalsOf(bytesOf(n + node("Cast", {"n"}, "f", attribute("to", std::int64_t(kFloat64))) +
                         node("ReduceMean", {"f"}, "y") + y)),
      0U);
}

// Constant integers are divided at import. Div truncates towards 0; Mod has the sign of the
// divisor, and with fmod = 1 that of the dividend: -7 / 2 is -3, -7 mod 2 is 1, fmod(-7, 2) is -1.
TEST(OnnxAttributes, ConstantIntegersAreDividedAsInC) {
  const std::uint64_t minus7 = ~std::uint64_t(0) - 6; // int64 -7 in a file
  const std::string bytes =
      bytesOf(input("x", {2}) + integers("a", {2}, {minus7, 7}) + integers("b", {2}, {2, 2}) +
              node("Div", {"a", "b"}, "q") + node("Mod", {"a", "b"}, "m") +
              node("Mod", {"a", "b"}, "r", attribute("fmod", std::int64_t(1))) + output("q") +
              output("m") + output("r"));
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  const ModelProgram program = readModelProgram(*source);
  const ModelWeights weights(program, *source);
  const ModelGraph graph = buildModel(weights, {{2}});
  const std::vector<std::vector<double>> expected = {{-3, 3}, {1, 1}, {-1, 1}};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(graph.outputs[i]->constant->numbers(), expected[i]) << i;
}

// A valid file that Tenon does not support gives TENON_ERR_SUPPORT: a second result of a node,
// another domain of operators, a type of elements. TENON_ERR_FORMAT, which means a damaged file, is
// only for an attribute that a node has twice.
TEST(OnnxAttributes, UnsupportedAttributesAreNotCalledDamaged) {
  const std::string x = input("x", {2, 3});
  const std::string dropout = // a node with the two results y and mask
      field(kGraphNode, field(kNodeInput, std::string("x")) + field(kNodeOutput, std::string("y")) +
                            field(kNodeOutput, std::string("mask")) +
                            field(kNodeOperator, std::string("Dropout")));
  expectRefusal(TENON_ERR_SUPPORT, {"result 1", "Dropout", "'mask'"},
                bytesOf(x + dropout + output("mask")));
  expectRefusal(TENON_ERR_SUPPORT, {"result 1", "Dropout", "'mask'"},
                bytesOf(x + dropout + node("Not", {"mask"}, "z") + output("z")));
  expectRefusal(TENON_ERR_SUPPORT, {"ai.onnx.ml", "ai.onnx"},
                field(kModelGraph, x + node("Scaler", {"x"}, "y") + output("y")) +
                    field(kModelOpset, field(kOpsetDomain, std::string("ai.onnx.ml")) +
                                           field(kOpsetVersion, 3)));
  expectRefusal(TENON_ERR_SUPPORT, {"'x'", "type of elements 8"},
                bytesOf(input("x", {2, 3}, kString) + node("Relu", {"x"}, "y") + output("y")));
  expectRefusal(TENON_ERR_FORMAT, {"'alpha' twice"},
                bytesOf(x +
                        node("Elu", {"x"}, "y", attribute("alpha", 2.F) + attribute("alpha", 3.F)) +
                        output("y")));
}

} // namespace
} // namespace tenon
