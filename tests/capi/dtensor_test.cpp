// SPDX-License-Identifier: BSD-2-Clause
// Distributed tensors in the C API: creation, fills, norms and arithmetic; arrays of the program
// that are placed in a tensor, with strides and ghosts; access to a tensor's array; private
// tensors; and the errors, which all ranks return alike even if only the last one passes a wrong
// argument (isLast()): expectCommonCode() compares the message between the ranks, expectCode() only
// reads this rank's. The expected numbers follow from constant fills, and are computed by hand.
//
// Layouts are abbreviated: "S0" splits dimension 0 among the ranks, "B" gives every rank a copy,
// "P" gives every rank a summand of the tensor, "R" gives all of it to rank 0.
#include "capi/expect_code.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <utility>
#include <vector>

namespace tenon::test {
namespace {

// Whether memory is shared across fork(). This process and a child write to *cell in turn:
//
//   parent: 1, fork(); parent: 2; child reads, then writes 3; parent reads
//
// Returns what the child and the parent read: {1, 2} in private memory, {2, 3} in shared memory.
std::pair<double, double> seenAcrossFork(volatile double* cell) {
  int changed[2], answer[2]; // pipes: to the child, from the child
  EXPECT_EQ(pipe(changed) + pipe(answer), 0);
  *cell = 1;
  const pid_t child = fork();
  if (child == 0) {
    close(changed[1]);
    char go = 0;
    const bool isChanged = read(changed[0], &go, 1) == 1;
    const double seen = *cell;
    *cell = 3;
    if (isChanged && write(answer[1], &seen, sizeof seen) == sizeof seen)
      _exit(read(changed[0], &go, 1) == 1); // killed while it waits
    _exit(1);
  }
  *cell = 2;
  double seen = -1;
  int status = -1;
  EXPECT_EQ(write(changed[1], "!", 1), 1);
  EXPECT_EQ(read(answer[0], &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  // The child is killed, because at an ordinary exit valgrind's memcheck would read all of the
  // shared memory area, and thereby allocate each of its pages.
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  for (const int file : {changed[0], changed[1], answer[0], answer[1]})
    close(file);
  return {seen, *cell};
}

TEST_F(CApi, TensorsAreMadeFilledAndMeasured) {
  TenonLayout rows = layout({12, 3}, "S0");
  TenonDTensor x = tensor(rows, TENON_FLOAT32);
  TenonDataType type = TENON_INT64;
  TenonInt low[2], high[2], cells = -1, strides[2];
  expectSuccess(TenonDTensorGetDataType(x, &type));
  expectSuccess(TenonDTensorGetBox(x, low, high));
  expectSuccess(TenonDTensorGetLocalSize(x, &cells));
  expectSuccess(TenonDTensorGetStrides(x, strides));
  EXPECT_EQ(type, TENON_FLOAT32);
  EXPECT_EQ(cells, (high[0] - low[0]) * 3);
  EXPECT_EQ(strides[0], 3);
  EXPECT_EQ(strides[1], 1);
  double norm = 0, pairing = 0, largest = 0;
  expectSuccess(TenonDTensorFillConstant(x, -2));
  expectSuccess(TenonDTensorNorm(x, &norm));
  expectSuccess(TenonDTensorPairing(x, x, &pairing)); // S is its own dual
  expectSuccess(TenonDTensorMaxAbs(x, &largest));
  EXPECT_EQ(norm, 12);
  EXPECT_EQ(pairing, 144);
  EXPECT_EQ(largest, 2);
  TenonLayout found = nullptr;
  TenonBool equal = TENON_FALSE;
  expectSuccess(TenonDTensorGetLayout(x, &found));
  expectSuccess(TenonLayoutIsEqual(rows, found, &equal));
  EXPECT_EQ(equal, TENON_TRUE);
  expectSuccess(TenonLayoutDestroy(&found));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&rows));
}

TEST_F(CApi, RandomFillsDoNotDependOnTheLayout) {
  TenonLayout layouts[3] = {layout({40}, "S0"), layout({40}, "B"), layout({40}, "R")};
  double norms[3] = {};
  for (int i = 0; i < 3; ++i) {
    TenonDTensor x = tensor(layouts[i], TENON_FLOAT64);
    expectSuccess(TenonDTensorFillUniform(x, /*seed=*/7, /*stream=*/1, 0, 1));
    expectSuccess(TenonDTensorNorm(x, &norms[i]));
    expectCode(TENON_ERR_ARG, TenonDTensorFillNormal(x, /*seed=*/7, /*stream=*/1, 0, -1),
               {"deviation is -1"});
    expectSuccess(TenonDTensorFillNormal(x, /*seed=*/7, /*stream=*/1, 0, 1));
    expectSuccess(TenonDTensorDestroy(&x));
    expectSuccess(TenonLayoutDestroy(&layouts[i]));
  }
  EXPECT_NEAR(norms[0], norms[1], 1e-14 * norms[0]);
  EXPECT_NEAR(norms[0], norms[2], 1e-14 * norms[0]);
}

TEST_F(CApi, APrivateTensorIsCopiedByFork) {
  TenonLayout rows = layout({4 * worldSize()}, "S0");
  TenonDTensor x = tensor(rows, TENON_FLOAT64);
  expectSuccess(TenonDTensorFillConstant(x, 7));
  for (const TenonBool isPrivate : {TENON_TRUE, TENON_FALSE, TENON_TRUE}) {
    void* array = nullptr;
    expectSuccess(TenonDTensorSetPrivate(x, isPrivate));
    expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
    auto* cells = static_cast<double*>(array);
    EXPECT_EQ(cells[3], 7); // the change of memory has kept the values
    // On one rank no memory is shared with other ranks, so nothing is promised for a child process.
    if (isPrivate || worldSize() > 1) {
      const auto expected = isPrivate ? std::pair(1.0, 2.0)
                                      : std::pair(2.0, 3.0); // as the header of the function warns
      EXPECT_EQ(seenAcrossFork(cells), expected);
    }
    expectCode(TENON_ERR_STATE, TenonDTensorSetPrivate(x, !isPrivate), {"in use"});
    expectSuccess(TenonDTensorRestoreArray(x, &array));
  }
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&rows));
}

// A conversion between layouts gives the same result for tensors in shared and in private memory.
TEST_F(CApi, APrivateTensorIsConvertedAsAnother) {
  const TenonInt cells = 3000 * worldSize();
  TenonLayout rows = layout({cells}, "S0"), copies = layout({cells}, "B");
  TenonDTensor x = tensor(rows, TENON_FLOAT64), y = tensor(copies, TENON_FLOAT64),
               z = tensor(copies, TENON_FLOAT64);
  TenonLinearOp gather = nullptr;
  expectSuccess(TenonLinearOpCreateConversion(rows, copies, TENON_FLOAT64, &gather));
  expectSuccess(TenonDTensorFillNormal(x, /*seed=*/3, /*stream=*/1, 0, 1));
  expectSuccess(TenonLinearOpApply(gather, x, y));
  expectSuccess(TenonDTensorSetPrivate(x, TENON_TRUE));
  expectSuccess(TenonDTensorSetPrivate(z, TENON_TRUE));
  expectSuccess(TenonLinearOpApply(gather, x, z));
  double difference = -1;
  expectSuccess(TenonDTensorAXPBY(-1, y, 1, z));
  expectSuccess(TenonDTensorMaxAbs(z, &difference));
  EXPECT_EQ(difference, 0);
  expectSuccess(TenonLinearOpDestroy(&gather));
  for (TenonDTensor* tensor : {&x, &y, &z})
    expectSuccess(TenonDTensorDestroy(tensor));
  expectSuccess(TenonLayoutDestroy(&copies));
  expectSuccess(TenonLayoutDestroy(&rows));
}

// Each rank has 2 x 3 cells, in an array without gaps, then in one of 4 x 5 with a row of ghosts on
// each side and two columns of ghosts in front: the first owned cell is at row 1, column 2.
TEST_F(CApi, AUserArrayNeedsNoStridesOrGhosts) {
  TenonLayout rows = layout({2 * worldSize(), 3}, "S0");
  TenonDTensor x = tensor(rows, TENON_FLOAT64);
  std::vector<double> plain(6, 1), ghosted(4 * 5, 0);
  expectSuccess(TenonDTensorPlaceArray(x, plain.data(), nullptr, nullptr, nullptr, 6));
  expectSuccess(TenonDTensorFillConstant(x, 4));
  EXPECT_EQ(plain, std::vector<double>(6, 4));
  const TenonInt low[2] = {1, 2}, high[2] = {1, 0}, bad[2] = {0, -1};
  expectSuccess(TenonDTensorPlaceArray(x, &ghosted[1 * 5 + 2], nullptr, low, high, 20));
  expectSuccess(TenonDTensorFillConstant(x, 4));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(ghosted[i], i >= 5 && i < 15 && i % 5 >= 2 ? 4 : 0) << i;
  expectCode(TENON_ERR_ARG, TenonDTensorPlaceArray(x, plain.data(), nullptr, bad, nullptr, 6),
             {"ghostsLow[1] is -1"});
  expectCode(TENON_ERR_NULL, TenonDTensorPlaceArray(x, nullptr, nullptr, nullptr, nullptr, 6),
             {"firstOwned is NULL", "6 elements"});
  const TenonInt bytes[2] = {3 * sizeof(double), sizeof(double)}, overlapping[2] = {1, 1};
  expectCode(TENON_ERR_SHAPE, TenonDTensorPlaceArray(x, plain.data(), bytes, nullptr, nullptr, 6),
             {"span 41 elements", "length of 6", "divide them by 8"});
  expectCode(TENON_ERR_SHAPE, TenonDTensorPlaceArrayRead(x, &ghosted[7], nullptr, low, high, 19),
             {"span 20 elements", "length of 19"});
  expectCode(TENON_ERR_ARG,
             TenonDTensorPlaceArray(x, plain.data(), overlapping, nullptr, nullptr, 6),
             {"{1,1}", "the same element"});
  const std::vector<double> constant(6, 3);
  expectSuccess(TenonDTensorPlaceArrayRead(x, constant.data(), nullptr, nullptr, nullptr, 6));
  double norm = 0;
  expectSuccess(TenonDTensorNorm(x, &norm));
  EXPECT_NEAR(norm, 3 * std::sqrt(6.0 * worldSize()), 1e-12);
  expectCode(TENON_ERR_STATE, TenonDTensorFillConstant(x, 1), {"constant"});
  expectSuccess(TenonDTensorResetArray(x));
  expectSuccess(TenonDTensorFillConstant(x, 1));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&rows));
}

TEST_F(CApi, ArraysAreLentAndRestored) {
  TenonLayout rows = layout({worldSize()}, "S0");
  TenonDTensor x = tensor(rows, TENON_FLOAT64);
  void* array = nullptr;
  expectCode(TENON_ERR_DATATYPE, TenonDTensorGetArray(x, TENON_FLOAT32, &array),
             {"float64", "float32"});
  expectCode(TENON_ERR_STATE, TenonDTensorRestoreArray(x, &array), {"not in use for writing"});
  expectSuccess(TenonDTensorGetArray(x, TENON_FLOAT64, &array));
  *static_cast<double*>(array) = worldRank() + 1;
  double norm = 0;
  expectCommonCode(TENON_ERR_STATE, TenonDTensorNorm(x, &norm), {"in use for writing"});
  expectCode(TENON_ERR_STATE, TenonDTensorFillConstant(x, 1), {"in use for writing"});
  void* other = &norm;
  expectCode(TENON_ERR_ARG, TenonDTensorRestoreArray(x, &other), {"not the one"});
  expectSuccess(TenonDTensorRestoreArray(x, &array));
  EXPECT_EQ(array, nullptr);
  expectSuccess(TenonDTensorMaxAbs(x, &norm));
  EXPECT_EQ(norm, worldSize());
  const void* read = nullptr;
  expectSuccess(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &read));
  EXPECT_EQ(*static_cast<const double*>(read), worldRank() + 1);
  expectSuccess(TenonDTensorNorm(x, &norm)); // two readers are allowed
  expectCode(TENON_ERR_STATE, TenonDTensorGetArray(x, TENON_FLOAT64, &array), {"for reading"});
  expectSuccess(TenonDTensorRestoreArrayRead(x, &read));
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonLayoutDestroy(&rows));
}

TEST_F(CApi, MeasuresFailWithTheSameErrorOnAllRanks) {
  TenonLayout copies = layout({6}, "B");
  TenonLayout contributions = layout({6}, "P");
  TenonDTensor x = tensor(copies, TENON_FLOAT64), p = tensor(contributions, TENON_FLOAT64),
               single = tensor(contributions, TENON_FLOAT32), labels = tensor(copies, TENON_INT64);
  double value = -1;
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCommonCode(TENON_ERR_SUPPORT, TenonDTensorNorm(p, &value), {"reduce it"});
  expectCommonCode(TENON_ERR_DATATYPE, TenonDTensorNorm(labels, &value), {"int64"});
  expectCommonCode(TENON_ERR_DATATYPE, TenonDTensorMaxAbs(labels, &value), {"int64"});
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCommonCode(TENON_ERR_LAYOUT, TenonDTensorPairing(x, x, &value), {"] P", "] B"});
  expectCommonCode(TENON_ERR_DATATYPE, TenonDTensorPairing(x, isLast() ? single : p, &value),
                   {"float32"});
  expectCommonCode(TENON_ERR_NULL, TenonDTensorPairing(x, isLast() ? nullptr : p, &value),
                   {"y is NULL"});
  expectCommonCode(TENON_ERR_NULL, TenonDTensorNorm(x, isLast() ? nullptr : &value),
                   {"norm is NULL"});
  EXPECT_EQ(value, -1);
  expectSuccess(TenonDTensorPairing(x, p, &value));
  EXPECT_EQ(value, 0); // new tensors are zero
  for (TenonDTensor* one : {&x, &p, &single, &labels})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&copies));
  expectSuccess(TenonLayoutDestroy(&contributions));
}

TEST_F(CApi, ABadDataTypeIsTheSameErrorOnAllRanks) {
  TenonLayout copies = layout({6}, "B");
  TenonDTensor x = nullptr;
  const auto bad = static_cast<TenonDataType>(42);
  expectCommonCode(TENON_ERR_DATATYPE,
                   TenonDTensorCreate(copies, isLast() ? bad : TENON_FLOAT32, &x),
                   {"unknown data type 42"});
  if (worldSize() > 1)
    expectCommonCode(TENON_ERR_COLLECTIVE,
                     TenonDTensorCreate(copies, isLast() ? TENON_FLOAT64 : TENON_FLOAT32, &x),
                     {"float64", "float32"});
  EXPECT_EQ(x, nullptr);
  expectSuccess(TenonLayoutDestroy(&copies));
}

// y = 2 x - 3 y with x = y = 3 is -3, times 5 is -15. The cells of padding keep their value -1.
TEST_F(CApi, ArithmeticWorksOnEqualLayoutsOfAnyStrides) {
  TenonLayout split = layout({2, 7}, "S1");
  TenonDTensor x = tensor(split, TENON_FLOAT32), y = tensor(split, TENON_FLOAT64);
  TenonInt cells = 0;
  expectSuccess(TenonDTensorGetLocalSize(y, &cells));
  std::vector<double> columns(static_cast<std::size_t>(3 * cells + 3), -1);
  const TenonInt strides[2] = {1, 3}; // column-major, with a row of padding
  expectSuccess(TenonDTensorPlaceArray(y, columns.data(), strides, nullptr, nullptr, 0));
  expectSuccess(TenonDTensorFillConstant(x, 3));
  expectSuccess(TenonDTensorCopy(x, y));
  expectSuccess(TenonDTensorAXPBY(2, x, -3, y));
  expectSuccess(TenonDTensorScale(5, y));
  for (TenonInt i = 0; i < 3 * (cells / 2); ++i)
    EXPECT_EQ(columns[static_cast<std::size_t>(i)], i % 3 < 2 ? -15 : -1);
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonDTensorDestroy(&y));
  expectSuccess(TenonLayoutDestroy(&split));
}

// x and y use the same memory: y = 2 x + 3 y multiplies it by 5. If y begins one element later, the
// result would depend on the order of the operations, so it is refused.
TEST_F(CApi, ArithmeticWorksOnTheSameArrayAndRefusesOverlaps) {
  TenonLayout copies = layout({2, 3}, "B");
  TenonDTensor x = tensor(copies, TENON_FLOAT64), y = tensor(copies, TENON_FLOAT64);
  double memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  expectSuccess(TenonDTensorPlaceArray(x, memory, nullptr, nullptr, nullptr, 0));
  expectSuccess(TenonDTensorPlaceArray(y, memory, nullptr, nullptr, nullptr, 0));
  expectSuccess(TenonDTensorAXPBY(2, x, 3, y));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(memory[i], i < 6 ? 5 * (i + 1) : i + 1);
  expectSuccess(TenonDTensorPlaceArray(y, memory + 1, nullptr, nullptr, nullptr, 0));
  expectCode(TENON_ERR_ARG, TenonDTensorCopy(x, y), {"overlap"});
  expectCode(TENON_ERR_ARG, TenonDTensorAXPBY(1, x, 1, y), {"overlap"});
  expectSuccess(TenonDTensorDestroy(&x));
  expectSuccess(TenonDTensorDestroy(&y));
  expectSuccess(TenonLayoutDestroy(&copies));
}

TEST_F(CApi, ArithmeticRefusesTensorsThatDoNotMatch) {
  TenonLayout split = layout({2, 7}, "S1"), copies = layout({2, 7}, "B"), other = layout({7}, "S0");
  TenonDTensor x = tensor(split, TENON_FLOAT64), y = tensor(split, TENON_FLOAT64),
               everywhere = tensor(copies, TENON_FLOAT64), line = tensor(other, TENON_FLOAT64),
               whole = tensor(split, TENON_INT64), numbers = tensor(split, TENON_INT64);
  if (worldSize() > 1) // on one process all these layouts are the same
    expectCode(TENON_ERR_LAYOUT, TenonDTensorCopy(x, everywhere), {"] S1", "] B"});
  expectCode(TENON_ERR_SHAPE, TenonDTensorAXPBY(1, x, 1, line), {"[2,7]", "[7]"});
  expectCode(TENON_ERR_DATATYPE, TenonDTensorCopy(x, whole), {"int64", "float64"});
  expectCode(TENON_ERR_DATATYPE, TenonDTensorAXPBY(0.5, whole, 0, numbers), {"0.5"});
  expectCode(TENON_ERR_DATATYPE, TenonDTensorScale(0.5, whole), {"0.5"});
  expectCode(TENON_ERR_ARG, TenonDTensorCopy(x, x), {"same tensor"});
  expectCode(TENON_ERR_NULL, TenonDTensorCopy(x, nullptr), {"y is NULL"});
  for (TenonDTensor* one : {&x, &y, &everywhere, &line, &whole, &numbers})
    expectSuccess(TenonDTensorDestroy(one));
  for (TenonLayout* one : {&split, &copies, &other})
    expectSuccess(TenonLayoutDestroy(one));
}

} // namespace
} // namespace tenon::test
