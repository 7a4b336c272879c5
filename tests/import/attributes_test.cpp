// SPDX-License-Identifier: BSD-2-Clause
// Each attribute of each operator of ONNX, by ONNX's own list (onnx_operators.py), is read by Tenon
// or refused by name. What the rows of the importer say they read is given with another type, which
// whoever reads it notices.
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

struct Attribute {
  std::string name, type, byDefault;
};
struct Operator {
  std::string name;
  std::size_t inputs;
  std::vector<Attribute> attributes;
};

std::vector<Operator> operatorsOfOnnx() {
  std::vector<Operator> all;
  std::ifstream file(TENON_TEST_MODELS "/onnx_operators.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#"))
      continue;
    std::istringstream words(line);
    std::string inputs;
    Operator made;
    words >> made.name >> inputs;
    made.inputs = inputs == "any" ? kAnyNumber : std::stoul(inputs);
    for (std::string word; words >> word;) {
      const std::size_t colon = word.find(':'), equals = word.find('=');
      made.attributes.push_back({word.substr(0, colon), word.substr(colon + 1, equals - colon - 1),
                                 equals == word.npos ? "" : word.substr(equals + 1)});
    }
    all.push_back(made);
  }
  return all;
}

// What a node with only that attribute may lack.
struct Base {
  std::vector<std::string> inputs = {"x"};
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

Base baseOf(const std::string& type) {
  const auto one = [](const char* name, std::int64_t n) {
    return std::vector<std::pair<std::string, std::string>>{{name, attribute(name, n)}};
  };
  const std::vector<std::pair<std::string, std::string>> kernel = {
      {"kernel_shape", attribute("kernel_shape", std::vector<std::int64_t>{2, 2})}};
  static const std::map<std::string, Base, std::less<>> bases = {
      {"Attention", {{"x", "x", "x"}}},
      {"AveragePool", {{"x"}, kernel}},
      {"BatchNormalization", {{"x", "c", "c", "c", "c"}}},
      {"Cast", {{"x"}, one("to", 1)}},
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
      {"GroupNormalization", {{"x", "c", "c"}, one("num_groups", 2)}},
      {"InstanceNormalization", {{"x", "c", "c"}}},
      {"LSTM", {{"s", "lstm", "lstm2"}, one("hidden_size", 2)}},
      {"LayerNormalization", {{"x", "d", "d"}}},
      {"MaxPool", {{"x"}, kernel}},
      {"Mod", {{"x", "x"}}},
      {"Pad", {{"x", "pads"}}},
      {"RMSNormalization", {{"x", "d"}}},
      {"Reshape", {{"x", "shape"}}},
      {"Resize", {{"x", "", "", "sizes"}}},
      {"ScatterElements", {{"x", "x", "x"}}},
      {"ScatterND", {{"x", "list", "x"}}},
      {"SpaceToDepth", {{"x"}, one("blocksize", 2)}}};
  const auto found = bases.find(type);
  return found == bases.end() ? Base() : found->second;
}

std::string reals(const std::string& name, const std::vector<std::uint64_t>& shape) {
  std::size_t bytes = 8;
  for (const std::uint64_t extent : shape)
    bytes *= extent;
  return tensor(name, shape, field(9, std::string(bytes, '\0')));
}
std::string integers(const std::string& name, const std::vector<std::uint64_t>& shape,
                     const std::vector<std::uint64_t>& numbers) {
  std::string list;
  for (const std::uint64_t number : numbers)
    list += field(7, number);
  return tensor(name, shape, list, 7);
}

// What the importer says of one node, "" if nothing.
std::string complaintOf(const std::string& type, const Base& base) {
  std::string attributes;
  for (const auto& [name, bytes] : base.attributes)
    attributes += bytes;
  const std::string bytes = file(
      input("x", {2, 4, 8, 8}) + input("m", {4, 4}) + input("s", {5, 2, 3}) +
          reals("w", {4, 4, 3, 3}) + reals("c", {4}) + reals("d", {8}) + reals("gru", {1, 6, 3}) +
          reals("gru2", {1, 6, 2}) + reals("lstm", {1, 8, 3}) + reals("lstm2", {1, 8, 2}) +
          integers("first", {}, {1}) + integers("list", {2, 1}, {0, 1}) +
          integers("shape", {4}, {0, 4, 8, 8}) + integers("sizes", {4}, {2, 4, 16, 16}) +
          integers("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 1}) +
          node(type, base.inputs, "y", attributes) + output("y"),
      23);
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
std::string complaintOf(const std::string& type, const std::string& name,
                        const std::string& bytes) {
  Base base = baseOf(type);
  std::erase_if(base.attributes, [&](const auto& known) { return known.first == name; });
  base.attributes.insert(base.attributes.begin(), {name, bytes});
  return complaintOf(type, base);
}

std::string valueOf(const Attribute& of) {
  if (of.type == "INT")
    return attribute(of.name, std::int64_t(7));
  if (of.type == "FLOAT")
    return attribute(of.name, 7.5F);
  return of.type == "STRING" ? attribute(of.name, "odd")
                             : attribute(of.name, std::vector<std::int64_t>{7, 7});
}
std::string valueOfOtherType(const Attribute& of) {
  return of.type.starts_with("STRING") ? attribute(of.name, std::int64_t(7))
                                       : attribute(of.name, "odd");
}
std::string defaultOf(const Attribute& of) {
  return of.type == "INT" ? attribute(of.name, std::int64_t(std::stoll(of.byDefault)))
                          : attribute(of.name, std::stof(of.byDefault));
}

// The word of a row about an attribute; "" if there is none.
std::string wordOf(const OnnxRow& row, const std::string& attribute) {
  for (const std::string& word : split(std::string(row.attributes), ' '))
    if (word.substr(0, word.find('=')) == attribute)
      return word;
  return "";
}

void checkAttribute(const OnnxRow& row, const Attribute& of) {
  const std::string type(row.name), word = wordOf(row, of.name),
                                    refusal = "the attribute " + of.name + " = ";
  SCOPED_TRACE(type + " " + of.name);
  const std::string said = complaintOf(type, of.name, valueOf(of));
  if (word.empty()) {
    EXPECT_NE(said.find(refusal), said.npos) << said;
    EXPECT_NE(said.find(" of " + type), said.npos) << said;
    EXPECT_NE(said.find(type + "_0"), said.npos) << "the node: " << said;
  } else if (word.ends_with("=*")) {
    EXPECT_EQ(said.find(of.name), said.npos) << said;
  } else if (const std::size_t equals = word.find('='); equals != word.npos) {
    EXPECT_EQ(word.substr(equals + 1), of.byDefault);
    EXPECT_NE(said.find(refusal + "7"), said.npos) << said;
    EXPECT_NE(said.find(word.substr(0, equals) + " = " + of.byDefault), said.npos) << said;
    EXPECT_EQ(complaintOf(type, of.name, defaultOf(of)).find(of.name), said.npos);
  } else {
    EXPECT_EQ(said.find(refusal), said.npos) << said;
    const std::string other = complaintOf(type, of.name, valueOfOtherType(of));
    if (of.type == "TENSOR" || type == "Constant") // which is called nothing
      EXPECT_NE(other, "");
    else
      EXPECT_NE(other.find(of.name), other.npos) << other;
  }
}

TEST(OnnxAttributes, AreReadOrRefusedByName) {
  std::size_t known = 0;
  for (const Operator& of : operatorsOfOnnx()) {
    const OnnxRow* row = onnxRow(of.name);
    if (!row) {
      const std::string said = complaintOf(of.name, Base());
      EXPECT_NE(said.find("the operator " + of.name + " of ONNX"), said.npos) << said;
      continue;
    }
    ++known;
    EXPECT_LE(row->inputs, of.inputs) << of.name;
    for (const Attribute& attribute : of.attributes)
      checkAttribute(*row, attribute);
    for (const std::string& word : split(std::string(row->attributes), ' '))
      EXPECT_TRUE(
          std::any_of(of.attributes.begin(), of.attributes.end(),
                      [&](const Attribute& a) { return a.name == word.substr(0, word.find('=')); }))
          << of.name << " has no attribute " << word;
  }
  EXPECT_EQ(known, onnxRows().size());
}

// Inputs that an operator gets from a later set, or that have no layers.
TEST(OnnxAttributes, SoAreFurtherInputs) {
  for (const Operator& of : operatorsOfOnnx()) {
    const OnnxRow* row = onnxRow(of.name);
    if (!row || row->inputs == kAnyNumber)
      continue;
    Base base = baseOf(of.name);
    base.inputs.resize(row->inputs, "");
    base.inputs.push_back("x");
    const std::string said = complaintOf(of.name, base);
    EXPECT_NE(said.find(fmt::format("input {} of {}, 'x'", row->inputs, of.name)), said.npos)
        << said;
    base.inputs.back() = "";
    EXPECT_EQ(complaintOf(of.name, base).find("input " + std::to_string(row->inputs)), said.npos);
  }
}

std::string bytesOf(const std::string& graph) {
  return file(graph, 23);
}
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

// ONNX cuts off what integers give, and fields cannot. Integers that are sizes have no fields.
TEST(OnnxAttributes, IntegersAreNotRounded) {
  const std::string y = output("y"), k = integers("k", {3}, {2, 2, 2});
  constexpr std::uint64_t kInt64 = 7;
  const std::string n = input("n", {2, 3}, kInt64);
  expectRefusal(TENON_ERR_SUPPORT, {"Div of integers", "Cast"},
                bytesOf(n + k + node("Div", {"n", "k"}, "y") + y));
  expectRefusal(TENON_ERR_SUPPORT, {"Div of integers"},
                bytesOf(n + k + node("Abs", {"n"}, "a") + node("Sub", {"a", "k"}, "b") +
                        node("Div", {"b", "k"}, "y") + y));
  expectRefusal(TENON_ERR_SUPPORT, {"ReduceMean of integers"},
                bytesOf(n + node("ReduceMean", {"n"}, "y") + y));
  expectRefusal(
      TENON_ERR_SUPPORT, {"Pow of integers"},
      bytesOf(n + integers("e", {}, {~std::uint64_t(0)}) + node("Pow", {"n", "e"}, "y") + y));
  const std::string bytes =
      bytesOf(n + k + node("Cast", {"n"}, "f", attribute("to", std::int64_t(11))) +
              node("Cast", {"k"}, "g", attribute("to", std::int64_t(11))) +
              node("Div", {"f", "g"}, "y") + y);
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  const ModelProgram program = readModelProgram(*source);
  const ModelWeights weights(program, *source);
  EXPECT_TRUE(buildModel(weights, {{2, 3}}).refusals.empty());
}

// Of integers that are constants the quotient is cut off towards 0, and fmod has the sign of the
// dividend.
TEST(OnnxAttributes, ConstantIntegersAreDividedAsInC) {
  const std::uint64_t minus7 = ~std::uint64_t(0) - 6;
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
  const std::vector<std::vector<double>> wanted = {{-3, 3}, {1, 1}, {-1, 1}};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(graph.outputs[i]->constant->numbers(), wanted[i]) << i;
}

// A file that is sound but beyond Tenon is not called damaged.
TEST(OnnxAttributes, WhatIsBeyondTenonIsNotCalledDamaged) {
  const std::string x = input("x", {2, 3});
  const std::string two =
      field(1, field(1, std::string("x")) + field(2, std::string("y")) +
                   field(2, std::string("mask")) + field(4, std::string("Dropout")));
  expectRefusal(TENON_ERR_SUPPORT, {"result 1", "Dropout", "'mask'"},
                bytesOf(x + two + output("mask")));
  expectRefusal(TENON_ERR_SUPPORT, {"result 1", "Dropout", "'mask'"},
                bytesOf(x + two + node("Not", {"mask"}, "z") + output("z")));
  expectRefusal(TENON_ERR_SUPPORT, {"ai.onnx.ml", "ai.onnx"},
                field(7, x + node("Scaler", {"x"}, "y") + output("y")) +
                    field(8, field(1, std::string("ai.onnx.ml")) + field(2, 3)));
  expectRefusal(TENON_ERR_SUPPORT, {"'x'", "type of elements 8"},
                bytesOf(input("x", {2, 3}, 8) + node("Relu", {"x"}, "y") + output("y")));
  expectRefusal(TENON_ERR_FORMAT, {"'alpha' twice"},
                bytesOf(x +
                        node("Elu", {"x"}, "y", attribute("alpha", 2.F) + attribute("alpha", 3.F)) +
                        output("y")));
}

} // namespace
} // namespace tenon
