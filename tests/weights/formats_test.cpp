// SPDX-License-Identifier: BSD-2-Clause
// Reads valid weights files: their names, element types, shapes and values, whole tensors and
// blocks of them. The files are safetensors and npz files that file_bytes.hpp builds from the
// formats' descriptions, and npz files that numpy wrote (tests/data/weights); the expected values
// are 0, 1, 2, ... or written out. At the end, files that the library's writers wrote are read.
#include "weights/safetensors.hpp"
#include "weights/weights_writer.hpp"

#include "file_bytes.hpp"
#include "sys/expect_error.hpp"
#include "sys/traps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace tenon {
namespace {

using namespace test;
using Numbers = std::vector<double>;

const std::string kPair = R"({"b": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
  "__metadata__": {"format": "pt"}, "a": {"dtype": "F64", "shape": [], "data_offsets": [24, 32]}}  )";
const std::string kPairData = rawBytes<float>({0, 1, 2, 3, 4, 5}) + rawBytes<double>({0.1});

TEST(Safetensors, GivesNamesTypesShapesAndNumbers) {
  const std::string bytes = safetensors(kPair, kPairData);
  const WeightsFile file = openFile(bytes);
  ASSERT_EQ(2U, file.tensors().size());
  EXPECT_EQ("b F32 [2,3]; a F64 []; ", file.describe());
  EXPECT_FALSE(file.isOrdered());
  EXPECT_EQ(Numbers({0, 1, 2, 3, 4, 5}), readAll(file, file.tensors()[0]));
  EXPECT_EQ(Numbers({0.1}), readAll(file, file.tensors()[1]));
}

TEST(Safetensors, TakesTheOrderOfItsMetadata) {
  const std::string bytes = safetensors(
      R"({"a":{"dtype":"I8","shape":[1],"data_offsets":[1,2]},"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
      R"("__metadata__":{"tenon.order":"b\na"}})",
      "xy");
  const WeightsFile file = openFile(bytes);
  EXPECT_TRUE(file.isOrdered());
  EXPECT_EQ("b BOOL [1]; a I8 [1]; ", file.describe());
}

TEST(Safetensors, HoldsEmptyTensors) {
  const std::string bytes = safetensors(
      R"({"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[4611686018427387904,0],)"
      R"("data_offsets":[0,0]}})",
      "");
  const WeightsFile file = openFile(bytes);
  EXPECT_EQ(Numbers(), readAll(file, file.tensors()[0]));
}

// float16 bit patterns with their values by IEEE 754: +0, -0, 1, -2, the largest number 65504, the
// smallest subnormal 2^-24, the smallest normal number 2^-14, +infinity, -infinity and NaN. The two
// bfloat16 numbers are 1 and -3.
TEST(ElementTypes, HalvesAreNumbers) {
  const std::vector<std::uint16_t> bits = {0x0000, 0x8000, 0x3c00, 0xc000, 0x7bff,
                                           0x0001, 0x0400, 0x7c00, 0xfc00, 0x7e00};
  const std::string bytes = safetensors(
      R"({"h":{"dtype":"F16","shape":[10],"data_offsets":[0,20]},"b":{"dtype":"BF16","shape":[2],"data_offsets":[20,24]}})",
      rawBytes(bits) + rawBytes<std::uint16_t>({0x3f80, 0xc040}));
  const WeightsFile file = openFile(bytes);
  const Numbers h = readAll(file, file.tensors()[0]);
  EXPECT_EQ(Numbers({0, 0, 1, -2, 65504, std::ldexp(1, -24), std::ldexp(1, -14)}),
            Numbers(h.begin(), h.begin() + 7));
  EXPECT_TRUE(std::signbit(h[1]));
  EXPECT_EQ(HUGE_VAL, h[7]);
  EXPECT_EQ(-HUGE_VAL, h[8]);
  EXPECT_TRUE(std::isnan(h[9]));
  EXPECT_EQ(Numbers({1, -3}), readAll(file, file.tensors()[1]));
}

// The header of an npy array: element type, whether the first dimension is the fastest, shape.
std::string dictionary(const std::string& descr, bool fortran, const std::string& shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}   \n", descr,
                     fortran ? "True" : "False", shape);
}

const std::string kMatrix = rawBytes<float>({0, 1, 2, 3, 4, 5});

// Array a is 3 x 2 in Fortran order: its stored numbers 0 ... 5 read as 0 3 | 1 4 | 2 5 by rows.
// The loops run over all variants of the zip and npy formats.
TEST(Npz, GivesStoredAndDeflatedArraysInTheirOrder) {
  for (const bool isDeflated : {false, true})
    for (const bool isZip64 : {false, true})
      for (const bool hasDescriptor : {false, true})
        for (const bool endIsZip64 : {false, true})
          for (const int version : {1, 2, 3}) {
            Member b{"b.npy",
                     npy(dictionary("<f4", /*fortran=*/false, "(2, 3)"), kMatrix, version)};
            Member a{"a.npy", npy(dictionary("<f4", /*fortran=*/true, "(3, 2)"), kMatrix, version)};
            for (Member* member : {&a, &b}) {
              member->isDeflated = isDeflated;
              member->isZip64 = isZip64;
              member->hasDescriptor = hasDescriptor;
            }
            const std::string bytes = zip({b, a}, "a comment", endIsZip64);
            const WeightsFile file = openFile(bytes);
            EXPECT_TRUE(file.isOrdered());
            ASSERT_EQ("b F32 [2,3]; a F32 [3,2]; ", file.describe());
            EXPECT_EQ(Numbers({0, 1, 2, 3, 4, 5}), readAll(file, file.tensors()[0]));
            EXPECT_EQ(Numbers({0, 3, 1, 4, 2, 5}), readAll(file, file.tensors()[1]));
          }
}

TEST(Npz, ReadsWhatNumpyWrote) {
  for (const char* name : {"numpy.npz", "numpy_compressed.npz"}) {
    const WeightsFile file(openBytes(std::string(TENON_TEST_WEIGHTS "/") + name));
    ASSERT_EQ("b.weight F32 [2,3]; a.weight F64 [2,3]; h F16 [2,3]; n I64 []; ", file.describe());
    for (std::size_t i : {0, 1})
      EXPECT_EQ(Numbers({0, 1, 2, 3, 4, 5}), readAll(file, file.tensors()[i]));
    EXPECT_EQ(Numbers({0, 0.25, 0.5, 0.75, 1, 1.25}), readAll(file, file.tensors()[2]));
  }
}

// Blocks [i0, i0+1) x [j0, 3) x [0, k1) of a 2 x 3 x 4 array, once stored in C order and once in
// Fortran order. A block is read into an array with dimension 1 fastest: element (j, k) has the
// index j - j0 + k nj, with nj = 3 - j0.
TEST(WeightsFile, ReadsBlocks) {
  std::vector<float> elements(2 * 3 * 4);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<float>(i);
  const std::string data = rawBytes(elements), shape = "(2, 3, 4)";
  const std::string bytes =
      zip({{.name = "c.npy", .bytes = npy(dictionary("<f4", /*fortran=*/false, shape), data)},
           {.name = "f.npy",
            .bytes = npy(dictionary("<f4", /*fortran=*/true, shape), data),
            .isDeflated = true}});
  const WeightsFile file = openFile(bytes);
  // The position of element (i, j, k) in the file, which is also its value.
  const auto valueAt = [&](bool fortran, Index i, Index j, Index k) {
    return fortran ? i + 2 * j + 6 * k : 12 * i + 4 * j + k;
  };
  for (const StoredTensor& tensor : file.tensors())
    for (Index i0 = 0; i0 < 2; ++i0)
      for (Index j0 = 0; j0 < 3; ++j0)
        for (Index k1 = 0; k1 <= 4; ++k1) {
          const Index nj = 3 - j0, nk = k1;
          std::vector<double> block(static_cast<std::size_t>(nj * nk), -1);
          // Of each dimension: begin and end in the tensor, stride in `block`.
          file.read(tensor, {{i0, i0 + 1, 0}, {j0, 3, 1}, {0, k1, nj}}, block.data());
          for (Index j = j0; j < 3; ++j)
            for (Index k = 0; k < k1; ++k)
              EXPECT_EQ(double(valueAt(tensor.isFortranOrder, i0, j, k)),
                        block[static_cast<std::size_t>(j - j0 + k * nj)]);
        }
}

TEST(WeightsFile, RefusesANumberThatFloat32CannotHold) {
  const NoTraps noTraps; // 1e39 overflows when it is converted to float
  const std::string bytes = safetensors(
      R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})", rawBytes<double>({1e39, 1}));
  const WeightsFile file = openFile(bytes);
  EXPECT_EQ(Numbers({1e39, 1}), readAll(file, file.tensors()[0]));
  expectError(TENON_ERR_FORMAT, {"'some file', 'a'", "too large", "float64"},
              [&] { readAll<float>(file, file.tensors()[0]); });
}

std::string fileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(WeightsWriter, WritesWhatIsReadAgain) {
  for (const char* ending : {"safetensors", "npz"}) {
    const std::string path = fmt::format("{}/weights_writer.{}", testing::TempDir(), ending);
    const auto writer = makeWeightsWriter(
        path, {{.name = "x\"y\\.w", .type = ElementType::F32, .shape = {2, 3}, .bytes = 24},
               {.name = "b", .type = ElementType::F64, .shape = {1}, .bytes = 8},
               {.name = "none", .type = ElementType::F64, .shape = {0, 2}, .bytes = 0}});
    const std::vector<float> x = {5, 4, 3, 2, 1, 0};
    const double b = 0.1;
    writer->add(x.data());
    writer->add(&b);
    writer->add(nullptr);
    EXPECT_TRUE(fileText(path).empty()); // the file gets its name in commit()
    writer->commit();
    const WeightsFile file(openBytes(path));
    EXPECT_TRUE(file.isOrdered());
    EXPECT_EQ("x\"y\\.w F32 [2,3]; b F64 [1]; none F64 [0,2]; ", file.describe());
    EXPECT_EQ(Numbers({5, 4, 3, 2, 1, 0}), readAll(file, file.tensors()[0]));
    EXPECT_EQ(Numbers({0.1}), readAll(file, file.tensors()[1]));
    std::remove(path.c_str());
  }
}

TEST(WeightsWriter, RefusesNamesOfNeitherFormatAndNamesGivenTwice) {
  expectError(TENON_ERR_ARG, {"'weights.pt'", ".safetensors or .npz"},
              [] { makeWeightsWriter("weights.pt", {}); });
  expectError(TENON_ERR_ARG, {"two tensors 'a'"}, [] {
    makeWeightsWriter(testing::TempDir() + "/x.npz", {{.name = "a"}, {.name = "a"}});
  });
}

} // namespace
} // namespace tenon
