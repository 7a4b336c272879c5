// SPDX-License-Identifier: BSD-2-Clause
// Damaged model files by the thousand: each must either give an error that contains the file's name
// and has a code of a damaged or unsupported file, or a network. The three files are small models
// of the test data: an archive of PyTorch and two ONNX files. An archive has checksums, so a
// damaged one must be refused, or give exactly the network of the undamaged file. ONNX has none, so
// any network is accepted; the sanitizers detect memory errors. Further tests build ONNX files by
// hand (onnx_bytes.hpp), each with one contradiction, and expect a certain error.
#include "import/model_file.hpp"
#include "import/onnx_bytes.hpp"
#include "support/draws.hpp"
#include "sys/expect_error.hpp"
#include "weights/file_bytes.hpp"
#include "weights/zip.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tenon {
namespace {

using namespace test::onnx;

std::string bytesOfFile(const std::string& name) {
  std::ifstream file(TENON_TEST_MODELS "/" + name, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

// The network's layers and all numbers of its parameters, as text.
std::string networkOf(const ByteSource& file) {
  const ModelProgram program = readModelProgram(file);
  std::vector<Shape> inputs;
  for (const ModelInput& input : program.inputs) {
    Shape shape;
    for (const auto& extent : input.shape)
      shape.push_back(extent.value_or(16));
    inputs.push_back(shape);
  }
  const ImportedNetwork network = importNetwork(program, file, inputs);
  std::string text = networkText(network.graph);
  const ModelWeights weights(program, file);
  for (const ImportedNetwork::Parameter& parameter : network.parameters) {
    Box box;
    Index count = 1;
    for (const Index extent : parameter.value.shape()) {
      box.push_back({0, extent});
      count *= extent;
    }
    if (count > Index(1) << 20) // a damaged extent; the files have fewer numbers
      return text;
    std::vector<double> numbers(static_cast<std::size_t>(count));
    weights.read(parameter.value, box, numbers.data());
    text += parameter.name;
    text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  }
  return text;
}

// networkOf() of a file with these bytes; "" if they are refused. Checks the error.
std::string contents(const std::string& bytes) {
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  try {
    return networkOf(*source);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == TENON_ERR_FORMAT || error.code() == TENON_ERR_SUPPORT ||
                error.code() == TENON_ERR_SHAPE || error.code() == TENON_ERR_FILE)
        << errorName(error.code()) << " " << error.text();
    EXPECT_NE(error.text().find("some file"), std::string::npos) << error.text();
    return "";
  }
}

constexpr const char* kModels[] = {"tiny.pt2", "masked.legacy17d.f64.onnx",
                                   "squeeze_excite.legacy17d.f64.onnx"};
const std::size_t kStride = test::drawsAll() ? 1 : 3; // between bytes, each flipped in another bit
bool hasChecksums(const std::string& name) {
  return name.ends_with(".pt2");
}

TEST(DamagedModel, TruncatedIsRefused) {
  for (const std::string name : kModels) {
    const std::string bytes = bytesOfFile(name);
    ASSERT_FALSE(bytes.empty()) << name;
    const std::size_t step = std::max<std::size_t>(bytes.size() / 1000, 1);
    const std::string good = contents(bytes);
    for (std::size_t n = 0; n < bytes.size(); n += step)
      if (const std::string found = contents(bytes.substr(0, n)); hasChecksums(name)) {
        ASSERT_EQ("", found) << name << " after " << n;
      }
  }
}

TEST(DamagedModel, EachFlippedByteIsRefusedOrHarmless) {
  for (const std::string name : kModels) {
    const std::string bytes = bytesOfFile(name), good = contents(bytes);
    for (std::size_t i = 0; i < bytes.size(); i += kStride) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 1 << i % 8);
      const std::string found = contents(changed);
      if (hasChecksums(name) && !found.empty()) {
        ASSERT_EQ(good, found) << name << ", byte " << i;
      }
    }
  }
}

// Runs of 1, 4 and 8 bytes are replaced by 0xff or by 0: as sizes and offsets, the largest numbers,
// -1 or 0.
TEST(DamagedModel, ExtremeNumbersDoNoHarm) {
  for (const std::string name : kModels) {
    const std::string bytes = bytesOfFile(name), good = contents(bytes);
    for (const std::size_t count : {1, 4, 8})
      for (const char value : {'\xff', '\0'})
        for (std::size_t at = count; at + count <= bytes.size(); at += kStride * (count + 2)) {
          std::string changed = bytes;
          std::memset(changed.data() + at, value, count);
          const std::string found = contents(changed);
          if (hasChecksums(name) && !found.empty()) {
            ASSERT_EQ(good, found) << name << " at " << at;
          }
        }
  }
}

// -- a file that is written by hand

void expectRefused(TenonErrorCode code, std::initializer_list<const char*> parts,
                   const std::string& bytes) {
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), "some file");
  expectError(code, parts, [&] { networkOf(*source); });
}

std::vector<test::Member> membersOf(const std::string& model) {
  const std::string bytes = bytesOfFile(model);
  const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                              static_cast<Index>(bytes.size()), model);
  std::vector<test::Member> members;
  for (const ZipMember& member : readZip(*source)) {
    const std::vector<std::byte> own = source->readPart(member.begin, member.stored, "a member");
    members.push_back(
        {member.name, std::string(reinterpret_cast<const char*>(own.data()), own.size())});
  }
  return members;
}

// Older versions of PyTorch store tensors as pickles; the archive has a flag for each tensor. Here
// all flags are changed to true, and the error contains the name of the first parameter.
TEST(DamagedModel, PickledTensorsAreRefusedByName) {
  std::vector<test::Member> members = membersOf("tiny.pt2");
  for (test::Member& member : members) {
    const std::string word = "\"use_pickle\": ";
    if (const std::size_t at = member.bytes.find(word + "false"); at != member.bytes.npos)
      member.bytes.replace(at, word.size() + 5, word + "true");
  }
  expectRefused(TENON_ERR_SUPPORT, {"some file", "'0.weight'", "Python object"},
                test::zip(members));
}

// The bases of filters on the sphere, which export_torch.py adds. One that the layer does not
// have is an error only where a network uses it, which this one does not.
TEST(DamagedModel, BasesOfFiltersAreChecked) {
  const std::vector<test::Member> members = membersOf("tiny.pt2");
  const std::string root = members.front().name.substr(0, members.front().name.find('/'));
  const auto with = [&](const std::string& filters) {
    std::vector<test::Member> all = members;
    all.push_back({root + "/tenon/filters.json", filters});
    return test::zip(all);
  };
  const auto why = [&](const std::string& filters) {
    const std::string bytes = with(filters);
    EXPECT_NE("", contents(bytes)) << filters;
    const auto source = bytesAt(reinterpret_cast<const std::byte*>(bytes.data()),
                                static_cast<Index>(bytes.size()), "some file");
    return readModelProgram(*source).filters.at("a").why;
  };
  EXPECT_EQ("", why(R"({"a": {"basis": "linear", "kernel": [3, 2], "cutoff": 0.9}})"));
  for (const auto& [filters, part] : std::map<std::string, const char*>{
           {R"({"a": {"basis": "cubic", "kernel": [3, 2], "cutoff": 0.9}})", "a.basis: is unknown"},
           {R"({"a": {"basis": "linear", "kernel": [3], "cutoff": 0.9}})", "two numbers"},
           {R"({"a": {"basis": "zernike", "kernel": [3, 2], "cutoff": 0.9}})", "one number"},
           {R"({"a": {"basis": "harmonic", "kernel": [3, 65], "cutoff": 0.9}})", "at most 64"},
           {R"({"a": {"basis": "morlet", "kernel": [3, 0], "cutoff": 0.9}})", "kernel"},
           {R"({"a": {"basis": "linear", "kernel": [3, 2], "cutoff": 0}})", "positive angle"},
           {R"({"a": {"basis": "linear", "kernel": [3, 2], "cutoff": 12.6}})", "at most 12.57"},
           {R"({"a": {"basis": "linear", "kernel": [3, 2]}})", "cutoff"}})
    for (const std::string& text :
         {std::string("some file: tenon/filters.json"), std::string(part)})
      EXPECT_NE(why(filters).find(text), std::string::npos) << why(filters);
  expectRefused(TENON_ERR_FORMAT, {"some file", "tenon/filters.json"}, with("[1]"));
}

TEST(DamagedModel, WhatContradictsItselfIsNamed) {
  const std::string x = input("x", {2, 3}), y = output("y");
  EXPECT_NE("", contents(file(x + node("Relu", {"x"}, "y") + y)));
  expectRefused(TENON_ERR_FORMAT, {"some file", "'a'", "nothing before it"},
                file(x + node("Relu", {"a"}, "y") + node("Relu", {"y"}, "a") + y)); // a cycle
  expectRefused(TENON_ERR_FORMAT, {"'y' is defined twice"},
                file(x + node("Relu", {"x"}, "y") + node("Tanh", {"x"}, "y") + y));
  expectRefused(TENON_ERR_FORMAT, {"output 'z'"}, file(x + node("Relu", {"x"}, "y") + output("z")));
  expectRefused(TENON_ERR_SUPPORT, {"version 12", "13 to 25"},
                file(x + node("Relu", {"x"}, "y") + y, 12));
  expectRefused(TENON_ERR_SUPPORT, {"version 26"}, file(x + node("Relu", {"x"}, "y") + y, 26));
  expectRefused(TENON_ERR_SUPPORT, {"Magic", "com.me.Relu", "2 of its 2 operators"},
                file(x + node("Magic", {"x"}, "a") +
                     node("Relu", {"a"}, "y", field(7, std::string("com.me"))) + y));
}

TEST(DamagedModel, TensorsHaveTheBytesOfTheirShape) {
  const std::string x = input("x", {2, 3}), y = output("y"), add = node("Add", {"x", "c"}, "y");
  EXPECT_NE("", contents(file(tensor("c", {3}, field(9, std::string(24, '\1'))) + x + add + y)));
  expectRefused(TENON_ERR_FORMAT, {"some file", "'c'", "16 bytes", "24"},
                file(tensor("c", {3}, field(9, std::string(16, '\1'))) + x + add + y));
  expectRefused(TENON_ERR_FORMAT, {"'c'", "too large"},
                file(tensor("c", {1ull << 40, 1ull << 40}, "") + x + add + y));
  expectRefused(TENON_ERR_FORMAT, {"'c'", "0 numbers"},
                file(tensor("c", {1ull << 40}, "") + x + add + y));
  expectRefused(TENON_ERR_SUPPORT, {"'c'", "type of elements 99"},
                file(tensor("c", {3}, "", 99) + x + add + y));
  expectRefused(TENON_ERR_FORMAT, {"do not fit each other"},
                file(tensor("c", {4}, field(9, std::string(32, '\1'))) + x + add + y));
}

// One error lists all unknown operators, also one that follows another unknown operator, whose
// result has no shape. A Max of three inputs uses all of them.
TEST(DamagedModel, RefusalsHaveShapesAndNoEnd) {
  const std::string x = input("x", {2, 3}), y = output("y");
  expectRefused(TENON_ERR_SUPPORT,
                {"2 of its 3 operators", "Magic of ONNX, with inputs [2,3]", "Spell"},
                file(x + node("Magic", {"x"}, "a") + node("MatMul", {"a", "a"}, "b") +
                     node("Spell", {"b"}, "y") + y));
  const std::string three = contents(file(x + node("Relu", {"x"}, "a") + node("Tanh", {"x"}, "b") +
                                          node("Max", {"x", "a", "b"}, "y") + y));
  for (const char* layer : {"relu", "tanh", "compare", "where"})
    EXPECT_NE(three.find(layer), three.npos) << layer;
}

// A prefix sum, which is imported as a product with a matrix, has a maximal extent. Indices of a
// scatter must be inside the tensor and different.
TEST(DamagedModel, SumsAndPlacesHaveBounds) {
  const std::string y = output("y"), axis = tensor("d", {}, field(7, 1), 7);
  EXPECT_NE("", contents(file(axis + input("x", {2, 1024}) + node("CumSum", {"x", "d"}, "y") + y)));
  expectRefused(TENON_ERR_SUPPORT, {"matrix [1025,1025]", "at most 1024"},
                file(axis + input("x", {2, 1025}) + node("CumSum", {"x", "d"}, "y") + y));
  const auto scatter = [&](std::uint64_t first, std::uint64_t second) {
    return file(tensor("i", {2, 1}, field(7, first) + field(7, second), 7) + input("x", {3, 2}) +
                input("u", {2, 2}) + node("ScatterND", {"x", "i", "u"}, "y") + y);
  };
  EXPECT_NE("", contents(scatter(0, 2)));
  expectRefused(TENON_ERR_FORMAT, {"out of range"}, scatter(0, 3));
  expectRefused(TENON_ERR_FORMAT, {"one place twice"}, scatter(1, 1));
}

// The model's code can need extents that the file leaves free: an error of the run's extents
// (TENON_ERR_SHAPE), not of the file.
TEST(DamagedModel, ExtentsOfTheRunAreNotTheFiles) {
  const std::string c = tensor("c", {3}, field(9, std::string(24, '\1'))), y = output("y"),
                    add = node("Add", {"x", "c"}, "y");
  expectRefused(
      TENON_ERR_SHAPE,
      {"some file: operation '", "do not fit each other, with x of [", "leaves extents free"},
      file(c + input("x", {2, kFree}) + add + y));
}

// Fields of a tensor whose values are in another file: external_data with the key "location", and
// data_location = EXTERNAL (1).
std::string elsewhere(const std::string& place) {
  return field(13, field(1, std::string("location")) + field(2, place)) + field(14, 1);
}

// Files with values of tensors must be in the folder of the model or below it, without symbolic
// links.
TEST(DamagedModel, TensorsInOtherFilesLieBesideIt) {
  const std::string x = input("x", {2, 3}), rest = x + node("Add", {"x", "c"}, "y") + output("y");
  for (const char* place : {"../c", "/etc/passwd", "a/../../c"})
    expectRefused(TENON_ERR_SUPPORT, {"outside the folder", place},
                  file(tensor("c", {3}, elsewhere(place)) + rest));
  const std::string folder = testing::TempDir(), path = folder + "/outside_test.onnx";
  std::ofstream(folder + "/outside_test.data", std::ios::binary) << std::string(24, '\0');
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return openBytes(path);
  };
  EXPECT_NE("", networkOf(*write(file(tensor("c", {3}, elsewhere("outside_test.data")) + rest))));
  expectError(TENON_ERR_FORMAT, {"outside_test.data", "beyond"}, [&] {
    networkOf(*write(
        file(tensor("c", {3},
                    elsewhere("outside_test.data") +
                        field(13, field(1, std::string("offset")) + field(2, std::string("8")))) +
             rest)));
  });
  std::filesystem::create_directories(folder + "/outside_test");
  std::filesystem::remove(folder + "/outside_test/link");
  std::filesystem::remove(folder + "/outside_test.link");
  std::filesystem::create_symlink(folder + "/outside_test.data", folder + "/outside_test/link");
  std::filesystem::create_directory_symlink(folder + "/outside_test",
                                            folder + "/outside_test.link");
  for (const char* link : {"outside_test/link", "outside_test.link/data"})
    expectError(TENON_ERR_SUPPORT, {"'c'", "symbolic link"},
                [&] { networkOf(*write(file(tensor("c", {3}, elsewhere(link)) + rest))); });
  std::ofstream(folder + "/outside_test/data", std::ios::binary) << std::string(24, '\0');
  EXPECT_NE("", networkOf(*write(file(tensor("c", {3}, elsewhere("./outside_test/data")) + rest))));
  for (const char* other : {"version https://git-lfs.github.com/spec/v1\n", "<!DOCTYPE html>"})
    expectError(TENON_ERR_FORMAT, {"outside_test.onnx", "not the file itself"},
                [&] { networkOf(*write(other)); });
  expectError(TENON_ERR_FILE, {"no_such.data"},
              [&] { networkOf(*write(file(tensor("c", {3}, elsewhere("no_such.data")) + rest))); });
}

} // namespace
} // namespace tenon
