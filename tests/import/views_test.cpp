// SPDX-License-Identifier: BSD-2-Clause
// Which operators of PyTorch return views of their argument's memory, so that a write to the result
// is one to the argument. The independent list of them is tests/data/import/pt2_views.txt, which
// the script beside it writes from the schemas of PyTorch. The program of each test, with some
// operator in place of select:
//   v = select(x)
//   relu_(v)        writes to the memory of x
#include "import/pt2/pt2.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon {
namespace {

ModelOperation operation(const std::string& name, ModelArgument argument, const char* key,
                         const char* result) {
  ModelOperation made;
  made.type = "aten." + name + ".default";
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
}

} // namespace
} // namespace tenon
