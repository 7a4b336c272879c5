// SPDX-License-Identifier: BSD-2-Clause
// Tensors of TENON_INT32 in the C API: arrays of int, which are Fortran's default integers and the
// labels of many meshes, are placed and moved as they are. Each movement is compared bit by bit
// with the numbers at the global indices, most of which float32 could not represent. Further tests:
// arithmetic with other types, and numbers that int32 does not hold.
#include "capi/expect_code.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace tenon::test {
namespace {

// The number of an element: any pattern of 32 bits.
int numberAt(TenonInt index) {
  return static_cast<int>(static_cast<std::uint32_t>(index + 1) * 2654435761U);
}

class Int32 : public CApi {
protected:
  // Fills the tensor, of shape [.., columns], by global index.
  static void fill(TenonDTensor x, TenonInt columns) {
    forEach(x, [&](int& element, TenonInt row, TenonInt column) {
      element = numberAt(row * columns + column);
    });
  }
  // Calls visit(element, row, column) for each element of this rank's array, with global indices.
  template <class Visit>
  static void forEach(TenonDTensor x, Visit visit) {
    TenonInt low[2], high[2], strides[2];
    expectSuccess(TenonDTensorGetBox(x, low, high));
    expectSuccess(TenonDTensorGetStrides(x, strides));
    void* array = nullptr;
    expectSuccess(TenonDTensorGetArray(x, TENON_INT32, &array));
    for (TenonInt row = low[0]; row < high[0]; ++row)
      for (TenonInt column = low[1]; column < high[1]; ++column)
        visit(
            static_cast<int*>(array)[(row - low[0]) * strides[0] + (column - low[1]) * strides[1]],
            row, column);
    expectSuccess(TenonDTensorRestoreArray(x, &array));
  }
  TenonLayout withHalo(TenonInt rows, TenonInt columns) {
    const TenonInt shape[2] = {rows, columns};
    TenonLayout created = nullptr;
    expectSuccess(TenonLayoutCreate(all_, &created));
    expectSuccess(TenonLayoutSetShape(created, 2, shape));
    expectSuccess(TenonLayoutSetProperties(created, "S0"));
    expectSuccess(
        TenonLayoutSetHalo(created, 0, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
    expectSuccess(TenonLayoutSetUp(created));
    return created;
  }
};

// The array of the program has a ghost row at each end and two columns of its own.
TEST_F(Int32, HalosOfAPlacedArrayAreExchangedInPlace) {
  constexpr TenonInt kRows = 8, kColumns = 3, kPitch = 5;
  TenonLayout rows = layout({kRows, kColumns}, "S0"), wide = withHalo(kRows, kColumns);
  TenonDTensor x = tensor(rows, TENON_INT32), u = tensor(wide, TENON_INT32);
  TenonInt low[2], high[2];
  expectSuccess(TenonDTensorGetBox(x, low, high));
  std::vector<int> array(static_cast<std::size_t>((high[0] - low[0] + 2) * kPitch), -7);
  const TenonInt strides[2] = {kPitch, 1}, ghosts[2] = {1, 0};
  for (TenonDTensor one : {x, u})
    expectSuccess(TenonDTensorPlaceArray(one, array.data() + kPitch, strides, ghosts, ghosts,
                                         static_cast<TenonInt>(array.size())));
  fill(x, kColumns);
  EXPECT_EQ(array[kPitch], numberAt(low[0] * kColumns)); // in the program's array
  TenonLinearOp halo = nullptr;
  expectSuccess(TenonLinearOpCreateHalo(rows, wide, TENON_INT32, &halo));
  expectSuccess(TenonLinearOpApply(halo, x, u));
  forEach(u, [&](int& element, TenonInt row, TenonInt column) {
    EXPECT_EQ(element, numberAt((row + kRows) % kRows * kColumns + column));
  });
  for (std::size_t i = 0; i < array.size(); i += kPitch) // what is not the tensor's
    EXPECT_TRUE(array[i + 3] == -7 && array[i + 4] == -7);
  // The adjoint adds the ghosts to the rows that they copy: the first and the last of each block.
  TenonLayout dual = nullptr;
  expectSuccess(TenonLayoutGetDual(wide, &dual));
  TenonDTensor du = tensor(dual, TENON_INT32);
  forEach(du, [](int& element, TenonInt, TenonInt) { element = 1; });
  expectSuccess(TenonLinearOpApplyAdjoint(halo, du, x));
  forEach(x, [&](int& element, TenonInt row, TenonInt) {
    EXPECT_EQ(element, row == low[0] || row == high[0] - 1 ? 2 : 1);
  });
  expectSuccess(TenonLinearOpDestroy(&halo));
  for (TenonDTensor* one : {&x, &u, &du})
    expectSuccess(TenonDTensorDestroy(one));
  for (TenonLayout* one : {&rows, &wide, &dual})
    expectSuccess(TenonLayoutDestroy(one));
}

TEST_F(Int32, ConversionsMoveAndAddIntegers) {
  constexpr TenonInt kRows = 9, kColumns = 5;
  const char* properties[] = {"S0", "S1", "B", "R"};
  for (const char* from : properties)
    for (const char* to : properties) {
      TenonLayout a = layout({kRows, kColumns}, from), b = layout({kRows, kColumns}, to);
      TenonDTensor x = tensor(a, TENON_INT32), y = tensor(b, TENON_INT32);
      fill(x, kColumns);
      TenonLinearOp op = nullptr;
      expectSuccess(TenonLinearOpCreateConversion(a, b, TENON_INT32, &op));
      expectSuccess(TenonLinearOpApply(op, x, y));
      forEach(y, [&](int& element, TenonInt row, TenonInt column) {
        EXPECT_EQ(element, numberAt(row * kColumns + column)) << from << " to " << to;
      });
      expectSuccess(TenonLinearOpDestroy(&op));
      for (TenonDTensor* one : {&x, &y})
        expectSuccess(TenonDTensorDestroy(one));
      for (TenonLayout* one : {&a, &b})
        expectSuccess(TenonLayoutDestroy(one));
    }
  for (const char* to : properties) { // rank r contributes (r + 1) i
    TenonLayout a = layout({kRows, kColumns}, "P"), b = layout({kRows, kColumns}, to);
    TenonDTensor x = tensor(a, TENON_INT32), y = tensor(b, TENON_INT32);
    const int size = worldSize(), sum = size * (size + 1) / 2;
    forEach(x, [&](int& element, TenonInt row, TenonInt column) {
      element = static_cast<int>((worldRank() + 1) * (row * kColumns + column));
    });
    TenonLinearOp op = nullptr;
    expectSuccess(TenonLinearOpCreateConversion(a, b, TENON_INT32, &op));
    expectSuccess(TenonLinearOpApplyAdd(op, -3, x, 0, y));
    forEach(y, [&](int& element, TenonInt row, TenonInt column) {
      EXPECT_EQ(element, -3 * sum * (row * kColumns + column)) << "P to " << to;
    });
    expectSuccess(TenonLinearOpDestroy(&op));
    for (TenonDTensor* one : {&x, &y})
      expectSuccess(TenonDTensorDestroy(one));
    for (TenonLayout* one : {&a, &b})
      expectSuccess(TenonLayoutDestroy(one));
  }
}

// A ring of nodes: each rank has five of its own and copies of the two after them.
TEST_F(Int32, GhostsOfAMeshAreExchanged) {
  constexpr TenonInt kOwned = 5, kGhosts = 2, kColumns = 3;
  const TenonInt nodes = kOwned * worldSize(), first = kOwned * worldRank();
  std::vector<TenonInt> ids;
  for (TenonInt i = 0; i < kOwned + (worldSize() > 1 ? kGhosts : 0); ++i)
    ids.push_back(1000 - 3 * ((first + i) % nodes));
  const auto count = static_cast<TenonInt>(ids.size());
  TenonIndexMap map = nullptr;
  expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, kOwned, count, ids.data(), &map));
  const TenonInt shape[2] = {0, kColumns};
  TenonLayout plain = nullptr, wide = nullptr;
  expectSuccess(TenonIndexMapGetLayouts(map, 2, shape, &plain, &wide));
  std::vector<int> array(static_cast<std::size_t>(count * kColumns), 0);
  TenonDTensor x = tensor(plain, TENON_INT32), u = tensor(wide, TENON_INT32);
  const TenonInt ghosts[2] = {count - kOwned, 0};
  for (TenonDTensor one : {x, u})
    expectSuccess(TenonDTensorPlaceArray(one, array.data(), nullptr, nullptr, ghosts, 0));
  const auto expected = [&](TenonInt i) {
    return numberAt(ids[static_cast<std::size_t>(i / kColumns)] * kColumns + i % kColumns);
  };
  for (TenonInt i = 0; i < kOwned * kColumns; ++i)
    array[static_cast<std::size_t>(i)] = expected(i);
  TenonLinearOp fill = nullptr;
  expectSuccess(TenonLinearOpCreateIndexMap(map, plain, TENON_INT32, &fill));
  expectSuccess(TenonLinearOpApply(fill, x, u));
  for (TenonInt i = 0; i < count * kColumns; ++i)
    EXPECT_EQ(array[static_cast<std::size_t>(i)], expected(i));
  expectSuccess(TenonLinearOpDestroy(&fill));
  for (TenonDTensor* one : {&x, &u})
    expectSuccess(TenonDTensorDestroy(one));
  for (TenonLayout* one : {&plain, &wide})
    expectSuccess(TenonLayoutDestroy(one));
  expectSuccess(TenonIndexMapDestroy(&map));
}

TEST_F(Int32, ArithmeticStoresIntegersInWhatHoldsThem) {
  TenonLayout rows = layout({7, 1}, "S0");
  TenonDTensor x = tensor(rows, TENON_INT32), sum = tensor(rows, TENON_INT32),
               wide = tensor(rows, TENON_INT64), real = tensor(rows, TENON_FLOAT64),
               single = tensor(rows, TENON_FLOAT32);
  forEach(x, [](int& element, TenonInt row, TenonInt) { element = static_cast<int>(row) - 3; });
  expectSuccess(TenonDTensorFillConstant(sum, 1e9));
  expectSuccess(TenonDTensorAXPBY(5, x, 2, sum));
  forEach(sum, [](int& element, TenonInt row, TenonInt) {
    EXPECT_EQ(element, 2000000000 + 5 * (row - 3));
  });
  expectSuccess(TenonDTensorAXPBY(4, sum, 0, wide)); // 8e9 does not fit into int32
  expectSuccess(TenonDTensorAXPBY(0.5, x, 0, real));
  expectSuccess(TenonDTensorCopy(x, single));
  TenonInt low[2], high[2];
  expectSuccess(TenonDTensorGetBox(x, low, high));
  const void *wideArray = nullptr, *realArray = nullptr, *singleArray = nullptr;
  expectSuccess(TenonDTensorGetArrayRead(wide, TENON_INT64, &wideArray));
  expectSuccess(TenonDTensorGetArrayRead(real, TENON_FLOAT64, &realArray));
  expectSuccess(TenonDTensorGetArrayRead(single, TENON_FLOAT32, &singleArray));
  for (TenonInt row = low[0]; row < high[0]; ++row) {
    const TenonInt i = row - low[0], number = row - 3;
    EXPECT_EQ(static_cast<const TenonInt*>(wideArray)[i], 8000000000 + 20 * number);
    EXPECT_EQ(static_cast<const double*>(realArray)[i], 0.5 * static_cast<double>(number));
    EXPECT_EQ(static_cast<const float*>(singleArray)[i], static_cast<float>(number));
  }
  expectSuccess(TenonDTensorRestoreArrayRead(wide, &wideArray));
  expectSuccess(TenonDTensorRestoreArrayRead(real, &realArray));
  expectSuccess(TenonDTensorRestoreArrayRead(single, &singleArray));
  for (TenonDTensor other : {wide, real, single})
    expectCode(TENON_ERR_DATATYPE, TenonDTensorCopy(other, x), {"int32", "cannot hold"});
  expectCode(TENON_ERR_DATATYPE, TenonDTensorScale(0.5, x), {"0.5", "int32"});
  expectCode(TENON_ERR_DATATYPE, TenonDTensorScale(0x1p31, x), {"int32"});
  expectCode(TENON_ERR_ARG, TenonDTensorFillConstant(x, -0x1p31 - 1), {"-2147483649", "int32"});
  expectSuccess(TenonDTensorFillConstant(x, -0x1p31));
  forEach(x, [](int& element, TenonInt, TenonInt) {
    EXPECT_EQ(element, std::numeric_limits<int>::min());
  });
  void* array = nullptr;
  expectCode(TENON_ERR_DATATYPE, TenonDTensorGetArray(x, TENON_INT64, &array), {"int32", "int64"});
  for (TenonDTensor* one : {&x, &sum, &wide, &real, &single})
    expectSuccess(TenonDTensorDestroy(one));
  expectSuccess(TenonLayoutDestroy(&rows));
}

} // namespace
} // namespace tenon::test
