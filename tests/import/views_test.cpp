// SPDX-License-Identifier: BSD-2-Clause
// Which operators of PyTorch return views of their argument's memory, so that a write to the result
// is one to the argument. The independent list of them is tests/data/import/pt2_views.txt, which
// the script beside it writes from the schemas of PyTorch. The program of each test, with some
// operator in place of select:
//   v = select(x)
//   relu_(v)        writes to the memory of x
// Further tests expect errors: for writes that change a tensor but not its gradient, and for
// constant indices that are out of range.
#include "import/model_file.hpp"
#include "import/pt2/pt2.hpp"
#include "sys/expect_error.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon {
namespace {

ModelOperation operation(const std::string& name, ModelArgument argument, const char* key,
                         const char* result) {
  ModelOperation made;
  made.type = "aten." + name + ".default";
  made.label = name;
  made.arguments.emplace_back(key, std::move(argument));
  made.results = {result};
  return made;
}

// Whether a write to the operator's result is one to x.
bool writesToArgument(const ModelOperation& view) {
  ModelProgram program;
  program.operations = {view, operation("relu_", ModelArgument::ofValue("v"), "self", "w")};
  return InPlace::writtenNames(program).contains("x");
}
bool writesToArgument(const std::string& name) {
  return writesToArgument(operation(name, ModelArgument::ofValue("x"), "self", "v"));
}

TEST(Views, AreAllThatPyTorchHas) {
  std::ifstream file(TENON_TEST_MODELS "/pt2_views.txt");
  int count = 0;
  for (std::string name; std::getline(file, name);)
    if (name[0] != '#' && isKnownInPt2("aten." + name + ".default")) {
      EXPECT_TRUE(writesToArgument(name)) << name;
      ++count;
    }
  EXPECT_GE(count, 36);
  for (const char* name : {"clone", "mul", "fft_rfft", "repeat", "roll"})
    EXPECT_FALSE(writesToArgument(name)) << name;
  EXPECT_TRUE(writesToArgument("detach_"));
}

// Of Python's operators, a &= b writes to a, and a & b does not.
TEST(Views, AreWrittenByNamesWithUnderscores) {
  for (const auto& [name, isWrite] :
       {std::pair("add_", true), std::pair("add", false), std::pair("__iand__", true),
        std::pair("__and__", false), std::pair("detach_", false)}) {
    ModelProgram program;
    program.operations = {operation(name, ModelArgument::ofValue("x"), "self", "v")};
    EXPECT_EQ(InPlace::writtenNames(program).contains("x"), isWrite) << name;
  }
}

TEST(Views, AreOfTheElementsOfAList) {
  const auto list = [](std::vector<ModelArgument> items) {
    return ModelArgument::ofList(std::move(items));
  };
  const ModelArgument x = ModelArgument::ofValue("x"), y = ModelArgument::ofValue("y");
  EXPECT_TRUE(writesToArgument(operation("meshgrid", list({x, y}), "tensors", "v")));
  EXPECT_FALSE(writesToArgument(operation("meshgrid", list({y, x}), "tensors", "v")));
  EXPECT_FALSE(writesToArgument(operation("cat", list({x, y}), "tensors", "v")));
}

// The product of one tensor is a view of it unless it is a sum.
TEST(Views, AreProductsOfOneTensor) {
  const auto product = [](const char* equation, bool hasTwo) {
    ModelArgument::List tensors = {ModelArgument::ofValue("x")};
    if (hasTwo)
      tensors.push_back(ModelArgument::ofValue("y"));
    ModelOperation made = operation("einsum", ModelArgument::ofText(equation), "equation", "v");
    made.arguments.emplace_back("tensors", ModelArgument::ofList(std::move(tensors)));
    return writesToArgument(made);
  };
  EXPECT_TRUE(product("ij->ji", false));
  EXPECT_TRUE(product("ii->i", false));
  EXPECT_FALSE(product("ij->i", false));
  EXPECT_FALSE(product("ij,ij->ij", true));
  const ModelArgument x = ModelArgument::ofValue("x"), y = ModelArgument::ofValue("y");
  const auto cartesian = [](ModelArgument::List tensors) {
    return writesToArgument(
        operation("cartesian_prod", ModelArgument::ofList(std::move(tensors)), "tensors", "v"));
  };
  EXPECT_TRUE(cartesian({x}));
  EXPECT_FALSE(cartesian({x, y}));
}

// A program with the input x [2,3], the fixed table t [4,3], the indices [2,3], and the output.
ModelProgram programOf(std::vector<ModelOperation> operations, const std::string& output,
                       std::vector<double> indices = std::vector<double>(6, 0)) {
  ModelProgram program;
  program.inputs = {{.name = "x", .shape = {2, 3}}};
  program.outputs = {output};
  const auto add = [&](const std::string& name, std::vector<Index> shape,
                       std::vector<double> numbers) {
    ModelTensor tensor;
    tensor.name = name;
    tensor.stored.name = name;
    tensor.stored.shape = std::move(shape);
    tensor.axes = {0, 1};
    tensor.numbers = std::move(numbers);
    tensor.role = ModelTensor::Role::Buffer;
    program.constants.emplace_back(name, program.tensors.size());
    program.tensors.push_back(std::move(tensor));
  };
  add("t", {4, 3}, std::vector<double>(12, 1));
  add("indices", {2, 3}, std::move(indices));
  program.operations = std::move(operations);
  return program;
}

// Imports a program as far as its canonical graph.
void build(const ModelProgram& program) {
  const std::byte none{};
  const auto source = bytesAt(&none, 1, "some file");
  const ModelWeights weights(program, *source);
  checkRefusals(buildModel(weights, {{2, 3}}), "some file", program.operations.size());
}

// PyTorch changes the elements of x, and leaves its gradient as it was.
TEST(Views, WritesThroughDetachAreRefusedWhereTheOwnerIsRead) {
  const auto value = [](const char* name) { return ModelArgument::ofValue(name); };
  const std::vector<ModelOperation> written = {operation("relu", value("x"), "self", "y"),
                                               operation("detach", value("y"), "self", "d"),
                                               operation("tanh_", value("d"), "self", "w")};
  std::vector<ModelOperation> operations = written;
  build(programOf(operations, "w"));
  operations.push_back(operation("sin", value("y"), "self", "z"));
  expectError(TENON_ERR_SUPPORT,
              {"sin: a tensor whose memory was changed", "or by detach()",
               "what works: operators that make new values, such as detach().clone()"},
              [&] { build(programOf(operations, "z")); });
}

TEST(Views, WritesInRegionsWithoutGradientsAreRefused) {
  const auto source = openBytes(TENON_TEST_MODELS "/region_writes.pt2");
  expectError(TENON_ERR_SUPPORT,
              {"region_writes.pt2", "clamp_: the operator aten.clamp_.default", "torch.no_grad()",
               "what works: an operator that makes a new value"},
              [&] { readModelProgram(*source); });
}

TEST(Indices, ThatAreConstantAreChecked) {
  const auto gathered = [](std::vector<double> indices) {
    ModelOperation made = operation("gather", ModelArgument::ofValue("t"), "self", "y");
    made.arguments.emplace_back("dim", ModelArgument::ofInteger(0));
    made.arguments.emplace_back("index", ModelArgument::ofValue("indices"));
    build(programOf({made, operation("relu", ModelArgument::ofValue("x"), "self", "z")}, "y",
                    std::move(indices)));
  };
  gathered({0, 1, 3, 3, 2, 1});
  for (const double index : {4., -5.})
    expectError(TENON_ERR_FORMAT, {"an index is out of range"}, [&] {
      gathered({0, 1, index, 3, 2, 1});
    });
}

} // namespace
} // namespace tenon
