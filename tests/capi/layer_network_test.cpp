// SPDX-License-Identifier: BSD-2-Clause
// Layers of several inputs and networks in the C API: repartitions (which change the layout), add
// and concatenate, graphs, dropout, and their errors. The inputs are constant, so norms are
// computed by hand.
#include "capi/expect_code.hpp"

#include <cmath>

namespace tenon::test {
namespace {

class LayerNetwork : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    split_ = layout({8, 3}, "S0");
    columns_ = layout({8, 3}, "S1");
    TenonSetFatalErrorHandler(TenonReturnErrorHandler, nullptr);
  }
  void TearDown() override {
    TenonSetFatalErrorHandler(nullptr, nullptr);
    expectSuccess(TenonLayoutDestroy(&split_));
    expectSuccess(TenonLayoutDestroy(&columns_));
    CApi::TearDown();
  }

  // Switches the layer to double precision.
  static TenonLayer inDouble(TenonLayer layer) {
    expectSuccess(TenonLayerSetDataType(layer, TENON_FLOAT64));
    return layer;
  }
  TenonDTensor constant(TenonLayout layout, double value) {
    TenonDTensor x = tensor(layout, TENON_FLOAT64);
    expectSuccess(TenonDTensorFillConstant(x, value));
    return x;
  }
  static double norm(TenonDTensor x) {
    double value = 0;
    expectSuccess(TenonDTensorNorm(x, &value));
    return value;
  }
  static void destroy(std::initializer_list<TenonDTensor> tensors) {
    for (TenonDTensor t : tensors)
      expectSuccess(TenonDTensorDestroy(&t));
  }

  TenonLayout split_ = nullptr, columns_ = nullptr;
};

// A repartition to the layout of 8 rows that splits the columns also accepts a batch of 5 rows.
TEST_F(LayerNetwork, ARepartitionGivesTheLayoutForAnyBatch) {
  TenonLayer move = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "repartition", &move));
  expectSuccess(TenonLayerSetOutputLayout(move, columns_));
  inDouble(move);
  TenonLayout small = layout({5, 3}, "S0"), found = nullptr, expected = layout({5, 3}, "S1");
  for (auto [in, out] : {std::pair(split_, columns_), std::pair(small, expected)}) {
    expectSuccess(TenonLayerSetUp(move, in));
    expectSuccess(TenonLayerGetOutputLayout(move, 0, &found));
    TenonBool equal = TENON_FALSE;
    expectSuccess(TenonLayoutIsEqual(found, out, &equal));
    EXPECT_EQ(equal, TENON_TRUE);
    expectSuccess(TenonLayoutDestroy(&found));
  }
  TenonDTensor x = tensor(small, TENON_FLOAT64), y = nullptr, dx = nullptr;
  expectSuccess(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/2, 0, 1));
  expectSuccess(TenonLayerCreateOutput(move, 0, &y));
  expectSuccess(TenonLayerCreateInputCotangent(move, 0, &dx));
  expectSuccess(TenonLayerApply(move, x, y));
  EXPECT_NEAR(norm(x), norm(y), 1e-14 * norm(x));
  destroy({x, y, dx});
  expectSuccess(TenonLayoutDestroy(&small));
  expectSuccess(TenonLayoutDestroy(&expected));
  expectSuccess(TenonLayerDestroy(&move));
}

// y = x1 + [x2, x3]: node 0 concatenates inputs 1 and 2 (numbers -2, -3), of 1 and 2 columns, and
// node 1 adds input 0 (number -1). With x1, x2, x3 = 1, 2, 3 each row of y is (3, 4, 4).
TEST_F(LayerNetwork, AGraphJoinsSeveralInputs) {
  TenonLayer graph = nullptr, add = nullptr, join = nullptr;
  expectSuccess(TenonLayerCreateGraph(MPI_COMM_WORLD, &graph));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "add", &add));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "concatenate", &join));
  expectSuccess(setInteger(join, "dim", 1));
  inDouble(graph);
  const int parts[] = {-2, -3};
  int node = -9; // not a valid number
  expectSuccess(setInteger(graph, "input_count", 3));
  expectSuccess(TenonLayerGraphAddNode(graph, join, 2, parts, &node));
  EXPECT_EQ(node, 0);
  expectCode(TENON_ERR_STATE, setInteger(graph, "input_count", 2), {"already has nodes"});
  expectSuccess(setInteger(graph, "input_count", 3));
  const int both[] = {-1, node};
  expectSuccess(TenonLayerGraphAddNode(graph, add, 2, both, nullptr));
  TenonLayout one = layout({8, 1}, "B"), two = layout({8, 2}, "S0");
  const TenonLayout in[] = {columns_, one, two};
  expectSuccess(TenonLayerSetUpMany(graph, 3, in));

  TenonDTensor x1 = constant(columns_, 1), x2 = constant(one, 2), x3 = constant(two, 3),
               y = nullptr, dy = nullptr, dx3 = nullptr;
  const TenonDTensor x[] = {x1, x2, x3};
  expectSuccess(TenonLayerCreateOutput(graph, 0, &y));
  expectSuccess(TenonLayerApplyMany(graph, 3, x, 1, &y));
  EXPECT_NEAR(norm(y), std::sqrt(8 * (9.0 + 16 + 16)), 1e-13);
  const TenonDTensor direction[] = {nullptr, x2, nullptr};
  expectSuccess(TenonLayerApplyTangentMany(graph, 3, direction, 1, &y));
  EXPECT_NEAR(norm(y), std::sqrt(8 * 4.0), 1e-13);
  expectSuccess(TenonLayerCreateOutputCotangent(graph, 0, &dy));
  expectSuccess(TenonDTensorFillConstant(dy, 5));
  expectSuccess(TenonLayerCreateInputCotangent(graph, 2, &dx3));
  const TenonDTensor wanted[] = {nullptr, nullptr, dx3};
  expectSuccess(TenonLayerApplyAdjointMany(graph, 1, &dy, 3, wanted));
  EXPECT_NEAR(norm(dx3), std::sqrt(16 * 25.0), 1e-13);

  destroy({x1, x2, x3, y, dy, dx3});
  expectSuccess(TenonLayoutDestroy(&one));
  expectSuccess(TenonLayoutDestroy(&two));
  for (TenonLayer layer : {graph, add, join})
    expectSuccess(TenonLayerDestroy(&layer));
}

TEST_F(LayerNetwork, ADropoutHasItsRateSet) {
  TenonLayer drop = nullptr, none = nullptr;
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "dropout", &drop));
  expectSuccess(TenonObjectSetReal(objectOf(drop), "rate", 0.75));
  inDouble(drop);
  TenonDTensor x = constant(split_, 1), y = nullptr;
  expectSuccess(TenonLayerSetUp(drop, split_));
  expectSuccess(TenonLayerInitialize(drop, 5));
  expectSuccess(TenonLayerCreateOutput(drop, 0, &y));
  expectSuccess(TenonLayerApply(drop, x, y));
  double largest = 0;
  expectSuccess(TenonDTensorMaxAbs(y, &largest));
  EXPECT_EQ(largest, 4); // 1 / (1 - rate)
  expectCode(TENON_ERR_STATE, TenonObjectSetReal(objectOf(drop), "rate", 0.5), {"rate"});
  expectCommonCode(TENON_ERR_TYPE, TenonLayerCreateType(MPI_COMM_WORLD, "dropuot", &none),
                   {"dropout"});
  destroy({x, y});
  expectSuccess(TenonLayerDestroy(&drop));
}

TEST_F(LayerNetwork, ErrorsNameWhatIsWrong) {
  TenonLayer graph = nullptr, add = nullptr, other = nullptr, alone = nullptr;
  expectSuccess(TenonLayerCreateGraph(MPI_COMM_WORLD, &graph));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "add", &add));
  expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "add", &other));
  expectCode(TENON_ERR_TYPE, TenonObjectSetReal(objectOf(other), "rate", 0.5), {"rate"});
  const int missing = 4;
  expectCode(TENON_ERR_ARG, TenonLayerGraphAddNode(graph, add, 1, &missing, nullptr), {"4", "-1"});
  expectCode(TENON_ERR_NULL, TenonLayerGraphAddNode(graph, add, 1, nullptr, nullptr), {"inputs"});
  expectCode(TENON_ERR_TYPE, TenonLayerGraphAddNode(other, add, 1, &missing, nullptr), {"graph"});
  expectCode(TENON_ERR_TYPE, setInteger(other, "input_count", 2), {"add", "input_count"});
  expectCode(TENON_ERR_ARG, setInteger(graph, "input_count", 0), {"[1,64]"});
  expectCode(TENON_ERR_TYPE, TenonLayerSetOutputLayout(graph, split_), {"add and concatenate"});
  expectSuccess(TenonLayerCreateType(MPI_COMM_SELF, "repartition", &alone));
  expectCode(TENON_ERR_ARG, TenonLayerSetOutputLayout(alone, split_), {"different communicators"});
  expectSuccess(TenonLayerDestroy(&alone));
  expectCommonCode(TENON_ERR_NULL, TenonLayerSetUpMany(add, 2, nullptr), {"inputs"});
  const TenonLayout two[] = {split_, columns_};
  expectSuccess(TenonLayerSetOutputLayout(add, columns_));
  expectSuccess(TenonLayerSetUpMany(add, 2, two));
  TenonDTensor dx = nullptr, x = constant(split_, 1), y = constant(columns_, 1);
  expectCommonCode(TENON_ERR_ARG, TenonLayerCreateInputCotangent(add, 2, &dx), {"2 inputs"});
  const TenonDTensor xs[] = {x, nullptr};
  EXPECT_EQ(TENON_ERR_NULL, TenonLayerApplyMany(add, 2, xs, 1, &y));
  EXPECT_EQ(TENON_ERR_ARG, TenonLayerApplyMany(add, 65, xs, 1, &y));
  EXPECT_EQ(TENON_ERR_NULL, TenonLayerApplyMany(add, 2, nullptr, 1, &y));
  destroy({x, y});
  for (TenonLayer layer : {graph, add, other})
    expectSuccess(TenonLayerDestroy(&layer));
}

} // namespace
} // namespace tenon::test
