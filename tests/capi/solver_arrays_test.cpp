// SPDX-License-Identifier: BSD-2-Clause
// Arrays of a solver as input and output of a halo exchange, without copies: strides of any sign,
// ghosts, padding, Fortran order, one array per channel. Each rank has 2 channels of 3 x 4 cells of
// a field whose ranks form a grid, numbered backwards; the expected value of each cell is
// formula(), also in the ghosts:
//
//   g g g g g g      g: ghosts, the neighbours' cells; rows are periodic, and on the left and right
//   g o o o o g         of the field the ghosts are 0
//   g o o o o g      o: this rank's own 3 x 4 cells
//   g o o o o g
//   g g g g g g
#include "capi/expect_code.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::test {
namespace {

constexpr TenonInt kChannels = 2, kRows = 3, kColumns = 4; // of one rank
constexpr double kUnset = -7;                              // not a value of formula()

// The position of this rank's cells in the field. The ranks form a grid of one column, or of two if
// their number is even and above 2; the last rank has the first place.
struct Place {
  int gridColumns = worldSize() % 2 == 0 && worldSize() > 2 ? 2 : 1;
  int gridRows = worldSize() / gridColumns;
  int number = worldSize() - 1 - worldRank();
  // First row and column of this rank's cells, then the extents of the field.
  TenonInt row = number % gridRows * kRows, column = number / gridRows * kColumns;
  TenonInt rows = gridRows * kRows, columns = gridColumns * kColumns;
};

// The value of channel c at row i and column j of the field; rows are periodic, and left and right
// of the field the value is 0.
double formula(const Place& place, TenonInt c, TenonInt i, TenonInt j) {
  if (j < 0 || j >= place.columns)
    return 0;
  i = (i + place.rows) % place.rows;
  return static_cast<double>((c * place.rows + i) * place.columns + j + 1);
}

// The memory of one rank: its cells with one ghost cell on each side. `first` is the position of
// cell (0, 0, 0) in memory; strides may be negative. Unset elements, also the padding, are kUnset.
struct Field {
  Field(TenonInt channelStride, TenonInt rowStride, TenonInt columnStride, TenonInt first,
        TenonInt size)
      : strides{channelStride, rowStride, columnStride}, first(first), memory(size, kUnset) {}
  double& at(TenonInt c, TenonInt i, TenonInt j) {
    return memory[first + c * strides[0] + i * strides[1] + j * strides[2]];
  }
  TenonInt strides[3], first;
  std::vector<double> memory;
};

// Three forms of the same field: row-major without padding; Fortran order with padding in the
// leading dimension (rows); rows in reverse order, with the channels next to each other.
std::vector<Field> fields() {
  const TenonInt rows = kRows + 2, columns = kColumns + 2, padded = rows + 3;
  return {Field(rows * columns, columns, 1, columns + 1, kChannels * rows * columns),
          Field(padded * columns, 1, padded, padded + 1, kChannels * padded * columns),
          Field(1, -kChannels * columns, kChannels, kChannels * (kRows * columns + 1),
                kChannels * rows * columns)};
}

class SolverArrays : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    const TenonInt low[3] = {0, place_.row, place_.column};
    const TenonInt high[3] = {kChannels, place_.row + kRows, place_.column + kColumns};
    expectSuccess(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 3, nullptr, low, high, &own_));
    expectSuccess(TenonLayoutCreateLike(own_, &ghosted_));
    expectSuccess(
        TenonLayoutSetHalo(ghosted_, 1, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
    expectSuccess(TenonLayoutSetHalo(ghosted_, 2, 1, 1, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO));
    expectSuccess(TenonLayoutSetUp(ghosted_));
    expectSuccess(TenonLinearOpCreateHalo(own_, ghosted_, TENON_FLOAT64, &halo_));
    x_ = tensor(own_, TENON_FLOAT64);
    y_ = tensor(ghosted_, TENON_FLOAT64);
  }
  void TearDown() override {
    for (TenonDTensor* one : {&x_, &y_})
      expectSuccess(TenonDTensorDestroy(one));
    expectSuccess(TenonLinearOpDestroy(&halo_));
    for (TenonLayout* one : {&own_, &ghosted_})
      expectSuccess(TenonLayoutDestroy(one));
    CApi::TearDown();
  }

  // Sets the own cells, without ghosts.
  void setOwned(Field& field) const {
    for (TenonInt c = 0; c < kChannels; ++c)
      for (TenonInt i = 0; i < kRows; ++i)
        for (TenonInt j = 0; j < kColumns; ++j)
          field.at(c, i, j) = formula(place_, c, place_.row + i, place_.column + j);
  }
  // All own cells and ghosts have their values, and the padding is not changed. Resets all
  // elements.
  void expectGhosted(Field& field) const {
    for (TenonInt c = 0; c < kChannels; ++c)
      for (TenonInt i = -1; i <= kRows; ++i)
        for (TenonInt j = -1; j <= kColumns; ++j) {
          EXPECT_EQ(field.at(c, i, j), formula(place_, c, place_.row + i, place_.column + j))
              << c << " " << i << " " << j;
          field.at(c, i, j) = kUnset;
        }
    for (const double value : field.memory)
      EXPECT_EQ(value, kUnset);
  }

  const TenonInt ghosts_[3] = {0, 1, 1};
  const Place place_;
  TenonLayout own_ = nullptr, ghosted_ = nullptr;
  TenonLinearOp halo_ = nullptr;
  TenonDTensor x_ = nullptr, y_ = nullptr;
};

TEST_F(SolverArrays, AreExchangedInPlaceWhateverTheirStrides) {
  for (Field& from : fields())
    for (Field& to : fields()) {
      setOwned(from);
      expectSuccess(
          TenonDTensorPlaceArrayRead(x_, &from.at(0, 0, 0), from.strides, ghosts_, ghosts_, 0));
      expectSuccess(TenonDTensorPlaceArray(y_, &to.at(0, 0, 0), to.strides, ghosts_, ghosts_, 0));
      expectSuccess(TenonLinearOpApply(halo_, x_, y_));
      expectGhosted(to);
    }
}

// Each channel in an array of its own, in Fortran order with padding. The library works on a copy:
// TenonDTensorGatherArrays() copies the arrays into it, TenonDTensorScatterArrays() copies it back.
TEST_F(SolverArrays, OfOneChannelEachAreGatheredAndScattered) {
  Field whole = fields()[1], separate[kChannels] = {fields()[1], fields()[1]};
  setOwned(whole);
  const void* from[kChannels];
  void* to[kChannels];
  for (TenonInt c = 0; c < kChannels; ++c) {
    separate[c].memory = whole.memory;
    from[c] = &separate[c].at(c, 0, 0);
  }
  expectSuccess(TenonDTensorPlaceArraysRead(x_, 0, kChannels, from, 1, whole.strides, ghosts_,
                                            ghosts_, nullptr));
  Field result[kChannels] = {fields()[1], fields()[1]};
  for (TenonInt c = 0; c < kChannels; ++c)
    to[c] = &result[c].at(0, 0, 0);
  expectSuccess(
      TenonDTensorPlaceArrays(y_, 0, kChannels, to, 1, whole.strides, ghosts_, ghosts_, nullptr));
  if (worldSize() == 1) // on several ranks an error of Apply ends the program
    expectCode(TENON_ERR_STATE, TenonLinearOpApply(halo_, x_, y_), {"TenonDTensorGatherArrays()"});
  expectSuccess(TenonDTensorGatherArrays(x_));
  expectSuccess(TenonLinearOpApply(halo_, x_, y_));
  for (const Field& field : result)
    for (const double value : field.memory)
      EXPECT_EQ(value, kUnset); // the arrays are not changed before the scatter
  expectSuccess(TenonDTensorScatterArrays(y_));
  const TenonInt half = static_cast<TenonInt>(whole.memory.size()) / kChannels;
  Field joined = fields()[1]; // channel 0 is the first half of the memory
  for (TenonInt c = 0; c < kChannels; ++c)
    std::copy_n(result[c].memory.begin(), half, joined.memory.begin() + c * half);
  expectGhosted(joined);
  expectCode(TENON_ERR_STATE, TenonDTensorScatterArrays(x_), {"constant"});
}

TEST_F(SolverArrays, OfOneChannelEachNeedNoStrides) {
  std::vector<double> memory[kChannels];
  void* first[kChannels];
  for (TenonInt c = 0; c < kChannels; ++c) {
    memory[c].resize((kRows + 2) * (kColumns + 2));
    first[c] = &memory[c][(kColumns + 2) + 1];
  }
  expectSuccess(
      TenonDTensorPlaceArrays(y_, 0, kChannels, first, 1, nullptr, ghosts_, ghosts_, nullptr));
  expectSuccess(TenonDTensorFillConstant(x_, 1));
  expectSuccess(TenonLinearOpApply(halo_, x_, y_));
  expectSuccess(TenonDTensorScatterArrays(y_));
  const bool isFirst = place_.column == 0, isLast = place_.column + kColumns == place_.columns;
  for (const auto& array : memory)
    for (TenonInt k = 0; k < static_cast<TenonInt>(array.size()); ++k) {
      const TenonInt j = k % (kColumns + 2);
      EXPECT_EQ(array[k], (j == 0 && isFirst) || (j == kColumns + 1 && isLast) ? 0 : 1);
    }
}

// The second array has a row and two columns of ghost cells more than the first one.
TEST_F(SolverArrays, OfOneChannelEachCanHaveFormsOfTheirOwn) {
  const TenonInt low[] = {0, 1, 1, 0, 2, 2}, high[] = {0, 1, 1, 0, 1, 2};
  const TenonInt columns[] = {kColumns + 2, kColumns + 4}, rows[] = {kRows + 2, kRows + 3};
  const TenonInt strides[] = {0, columns[0], 1, 0, columns[1], 1};
  std::vector<double> memory[kChannels];
  const void* from[kChannels];
  void* to[kChannels];
  TenonInt lengths[kChannels];
  for (int c = 0; c < kChannels; ++c) {
    lengths[c] = rows[c] * columns[c];
    memory[c].assign(static_cast<std::size_t>(lengths[c]), -7);
    to[c] = &memory[c][static_cast<std::size_t>(low[3 * c + 1] * columns[c] + low[3 * c + 2])];
    from[c] = to[c];
  }
  for (const TenonInt* given : {static_cast<const TenonInt*>(nullptr), strides}) {
    expectSuccess(
        TenonDTensorPlaceArrays(x_, 0, kChannels, to, kChannels, given, low, high, lengths));
    expectSuccess(TenonDTensorFillConstant(x_, 3));
    expectSuccess(TenonDTensorScatterArrays(x_));
    for (int c = 0; c < kChannels; ++c) {
      TenonInt written = 0;
      for (TenonInt i = 0; i < rows[c]; ++i)
        for (TenonInt j = 0; j < columns[c]; ++j) {
          const bool isOwned = i >= low[3 * c + 1] && i < low[3 * c + 1] + kRows &&
                               j >= low[3 * c + 2] && j < low[3 * c + 2] + kColumns;
          double& value = memory[c][static_cast<std::size_t>(i * columns[c] + j)];
          EXPECT_EQ(value, isOwned ? 3 : -7) << c << ": " << i << ", " << j;
          written += isOwned;
          value = isOwned ? c + 1 : -7;
        }
      EXPECT_EQ(written, kRows * kColumns);
    }
    expectSuccess(
        TenonDTensorPlaceArraysRead(x_, 0, kChannels, from, kChannels, given, low, high, nullptr));
    expectSuccess(TenonDTensorGatherArrays(x_));
    double largest = 0;
    expectSuccess(TenonDTensorMaxAbs(x_, &largest));
    EXPECT_EQ(largest, 2);
    expectCode(TENON_ERR_STATE, TenonDTensorScatterArrays(x_), {"constant"});
    for (std::vector<double>& each : memory)
      std::fill(each.begin(), each.end(), -7);
  }
  for (const int forms : {-1, 0, 3})
    expectCode(TENON_ERR_ARG,
               TenonDTensorPlaceArrays(x_, 0, kChannels, to, forms, strides, low, high, nullptr),
               {"forms is", "2 arrays were passed"});
  --lengths[1];
  expectCode(TENON_ERR_SHAPE,
             TenonDTensorPlaceArrays(x_, 0, kChannels, to, kChannels, strides, low, high, lengths),
             {"length of"});
  const TenonInt negative[] = {0, 1, 1, 0, -1, 2};
  expectCode(
      TENON_ERR_ARG,
      TenonDTensorPlaceArrays(x_, 0, kChannels, to, kChannels, strides, negative, high, nullptr),
      {"ghostsLow[1] is -1"});
}

TEST_F(SolverArrays, OfOneChannelEachAreShownAndChecked) {
  std::string text;
  expectSuccess(
      TenonSetOutputHandler([](const char* part, int length,
                               void* all) { static_cast<std::string*>(all)->append(part, length); },
                            &text));
  std::vector<double> memory(100);
  void* first[kChannels] = {memory.data(), memory.data() + 50};
  const TenonInt tooShort = kRows * kColumns - 1;
  expectSuccess(
      TenonDTensorPlaceArrays(x_, 0, kChannels, first, 1, nullptr, nullptr, nullptr, nullptr));
  expectSuccess(TenonObjectView(objectOf(x_)));
  expectSuccess(
      TenonDTensorPlaceArray(x_, memory.data(), fields()[0].strides, ghosts_, ghosts_, 0));
  expectSuccess(TenonObjectView(objectOf(x_)));
  expectSuccess(TenonSetOutputHandler(nullptr, nullptr));
  if (worldRank() == 0) {
    for (const char* part : {"2 user arrays along dim 0", "copied", "192 B", "strided"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  expectCode(TENON_ERR_SHAPE,
             TenonDTensorPlaceArrays(x_, 0, 1, first, 1, nullptr, nullptr, nullptr, nullptr),
             {"1 array was", "holds 2"});
  expectCode(
      TENON_ERR_SHAPE,
      TenonDTensorPlaceArrays(y_, 1, kChannels, first, 1, nullptr, ghosts_, ghosts_, nullptr),
      {"halo in dimension 1"});
  expectCode(
      TENON_ERR_ARG,
      TenonDTensorPlaceArrays(x_, -1, kChannels, first, 1, nullptr, nullptr, nullptr, nullptr),
      {"dimension -1"});
  expectCode(
      TENON_ERR_SHAPE,
      TenonDTensorPlaceArrays(x_, 0, kChannels, first, 1, nullptr, nullptr, nullptr, &tooShort),
      {"length of"});
  expectCode(TENON_ERR_NULL,
             TenonDTensorPlaceArrays(x_, 0, 2, nullptr, 1, nullptr, nullptr, nullptr, nullptr),
             {"firstOwned is NULL"});
  expectCode(TENON_ERR_STATE, TenonDTensorGatherArrays(y_), {"no list of arrays"});
}

} // namespace
} // namespace tenon::test
