// SPDX-License-Identifier: BSD-2-Clause
// The halos of a network's inputs in one exchange: a program fills those of both inputs by a block
// diagonal, and the network, whose inputs have the halos, exchanges nothing. Outputs and cotangents
// are bitwise those of the network that fills the halos of each input itself, and each neighbour is
// sent one message in place of two. The adjoint of the block diagonal likewise adds the cotangents
// of both halos.
#include "capi/expect_code.hpp"

#include <array>
#include <cmath>
#include <functional>

namespace tenon::test {
namespace {

constexpr int kInputs = 2;

class JointHalos : public CApi {
protected:
  void SetUp() override {
    CApi::SetUp();
    for (int i = 0; i < kInputs; ++i) {
      plain_[i] = halo(i, /*width=*/0);
      ghosted_[i] = halo(i, kWidths[i]);
      expectSuccess(TenonLinearOpCreateHalo(plain_[i], ghosted_[i], TENON_FLOAT64, &fill_[i]));
    }
    expectSuccess(TenonLinearOpCreateBlockDiagonal(kInputs, fill_.data(), &both_));
    expectSuccess(TenonLinearOpCreateAdjoint(both_, &add_));
  }
  void TearDown() override {
    for (TenonLinearOp* op : {&fill_[0], &fill_[1], &both_, &add_})
      expectSuccess(TenonLinearOpDestroy(op));
    for (auto* layouts : {&plain_, &ghosted_})
      for (TenonLayout& layout : *layouts)
        expectSuccess(TenonLayoutDestroy(&layout));
    CApi::TearDown();
  }

  // A field of 2 or 1 channels on a periodic line with 4 points for each rank.
  TenonLayout halo(int input, TenonInt width) {
    const TenonInt shape[] = {3, 2 - input, 4 * TenonInt(worldSize())};
    TenonLayout layout = nullptr;
    expectSuccess(TenonLayoutCreate(all_, &layout));
    expectSuccess(TenonLayoutSetShape(layout, 3, shape));
    expectSuccess(TenonLayoutSetProperties(layout, "S2"));
    if (width > 0)
      expectSuccess(TenonLayoutSetHalo(layout, 2, width, width, TENON_BOUNDARY_PERIODIC,
                                       TENON_BOUNDARY_PERIODIC));
    expectSuccess(TenonLayoutSetUp(layout));
    return layout;
  }
  // y = conv3(x0) + conv5(x1).
  static TenonLayer network(const std::array<TenonLayout, kInputs>& inputs) {
    TenonLayer graph = nullptr, add = nullptr;
    int nodes[kInputs] = {};
    expectSuccess(TenonLayerCreateGraph(MPI_COMM_WORLD, &graph));
    expectSuccess(setInteger(graph, "input_count", kInputs));
    for (int i = 0; i < kInputs; ++i) {
      TenonLayer conv = nullptr;
      const TenonInt kernel = 2 * kWidths[i] + 1;
      const TenonBoundary periodic = TENON_BOUNDARY_PERIODIC;
      expectSuccess(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 2 - i, 1, &kernel, &conv));
      expectSuccess(TenonLayerSetPadding(conv, &kWidths[i], nullptr));
      expectSuccess(TenonLayerSetBoundary(conv, &periodic, nullptr));
      const int input = -1 - i;
      expectSuccess(TenonLayerGraphAddNode(graph, conv, 1, &input, &nodes[i]));
      expectSuccess(TenonLayerDestroy(&conv));
    }
    expectSuccess(TenonLayerCreateType(MPI_COMM_WORLD, "add", &add));
    expectSuccess(TenonLayerGraphAddNode(graph, add, kInputs, nodes, nullptr));
    expectSuccess(TenonLayerDestroy(&add));
    expectSuccess(TenonLayerSetDataType(graph, TENON_FLOAT64));
    expectSuccess(TenonLayerSetUpMany(graph, kInputs, inputs.data()));
    expectSuccess(TenonLayerInitialize(graph, /*seed=*/6));
    return graph;
  }
  static TenonInt messagesOf(const std::function<void()>& work) {
    int event = -1;
    TenonInt messages = -1;
    expectSuccess(TenonLogEnable(TENON_TRUE));
    expectSuccess(TenonLogEventRegister("joint halos", &event));
    expectSuccess(TenonLogEventBegin(event));
    work();
    expectSuccess(TenonLogGetWork(nullptr, nullptr, &messages, nullptr));
    expectSuccess(TenonLogEventEnd(event));
    expectSuccess(TenonLogEnable(TENON_FALSE));
    return messages;
  }
  static std::vector<double> valuesOf(TenonDTensor x) {
    const void* array = nullptr;
    TenonLayout layout = nullptr;
    TenonInt low[3], high[3];
    expectSuccess(TenonDTensorGetLayout(x, &layout));
    expectSuccess(TenonLayoutGetBox(layout, low, high));
    expectSuccess(TenonLayoutDestroy(&layout));
    expectSuccess(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &array));
    const auto* first = static_cast<const double*>(array);
    std::vector<double> values(first, first + (high[0] - low[0]) * (high[1] - low[1]) *
                                                  (high[2] - low[2]));
    expectSuccess(TenonDTensorRestoreArrayRead(x, &array));
    return values;
  }

  static constexpr TenonInt kWidths[kInputs] = {1, 2};
  std::array<TenonLayout, kInputs> plain_{}, ghosted_{};
  std::array<TenonLinearOp, kInputs> fill_{};
  TenonLinearOp both_ = nullptr, add_ = nullptr;
};

TEST_F(JointHalos, AreThoseThatTheNetworkFills) {
  TenonLayer apart = network(plain_), joint = network(ghosted_);
  std::array<TenonDTensor, kInputs> x{}, u{}, dx{}, du{}, sums{};
  TenonDTensor y = nullptr, z = nullptr, dy = nullptr;
  for (int i = 0; i < kInputs; ++i) {
    x[i] = tensor(plain_[i], TENON_FLOAT64);
    u[i] = tensor(ghosted_[i], TENON_FLOAT64);
    expectSuccess(TenonDTensorFillNormal(x[i], /*seed=*/3, /*stream=*/i, 0, 1));
    expectSuccess(TenonLayerCreateInputCotangent(apart, i, &dx[i]));
    expectSuccess(TenonLayerCreateInputCotangent(joint, i, &du[i]));
    expectSuccess(TenonLayerCreateInputCotangent(apart, i, &sums[i]));
  }
  expectSuccess(TenonLayerCreateOutput(apart, 0, &y));
  expectSuccess(TenonLayerCreateOutput(joint, 0, &z));
  expectSuccess(TenonLayerCreateOutputCotangent(apart, 0, &dy));
  expectSuccess(TenonDTensorFillNormal(dy, /*seed=*/4, /*stream=*/0, 0, 1));
  const auto applyApart = [&] {
    expectSuccess(TenonLayerApplyMany(apart, kInputs, x.data(), 1, &y));
    expectSuccess(TenonLayerApplyAdjointMany(apart, 1, &dy, kInputs, dx.data()));
  };
  const auto applyJoint = [&] {
    expectSuccess(TenonLinearOpApplyMany(both_, kInputs, x.data(), u.data()));
    expectSuccess(TenonLayerApplyMany(joint, kInputs, u.data(), 1, &z));
    expectSuccess(TenonLayerApplyAdjointMany(joint, 1, &dy, kInputs, du.data()));
    expectSuccess(TenonLinearOpApplyMany(add_, kInputs, du.data(), sums.data()));
  };
  applyApart();
  applyJoint();
  EXPECT_EQ(valuesOf(z), valuesOf(y));
  for (int i = 0; i < kInputs; ++i)
    EXPECT_EQ(valuesOf(sums[i]), valuesOf(dx[i])) << "input " << i;
  const TenonInt many = messagesOf(applyApart), few = messagesOf(applyJoint);
  const TenonInt neighbours = std::min(worldSize() - 1, 2);
  EXPECT_EQ(many - few, 2 * neighbours); // one in Apply, and one in the adjoint
  for (auto* tensors : {&x, &u, &dx, &du, &sums})
    for (TenonDTensor& one : *tensors)
      expectSuccess(TenonDTensorDestroy(&one));
  for (TenonDTensor* one : {&y, &z, &dy})
    expectSuccess(TenonDTensorDestroy(one));
  for (TenonLayer* one : {&apart, &joint})
    expectSuccess(TenonLayerDestroy(one));
}

} // namespace
} // namespace tenon::test
