// SPDX-License-Identifier: BSD-2-Clause
// Maps of meshes by node ids, through the C interface: each rank lists the ids of its nodes and of
// the ghosts that it reads. The same mesh is distributed over any number of ranks (Mesh), and the
// numbers in nodes and ghosts must not depend on which rank owns which node.
#include "all_ranks.hpp"
#include "capi/expect_code.hpp"

#include <tenon/index_map.h>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

namespace tenon {
namespace {

using test::ofAllRanks;
using test::world;

// This rank's part of a mesh, which is the same on any number of ranks. Ids of nodes are scattered,
// and there are ghosts of every kind.
struct Mesh {
  static constexpr int kNodes = 60;
  std::vector<TenonInt> ids; // the owned ones first
  TenonInt owned = 0;
  int count() const { return static_cast<int>(ids.size()); }

  static TenonInt idOf(int node) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(node) + 1);
    return static_cast<TenonInt>(engine() >> 1) - (node % 2 ? 0 : TenonInt(1) << 62);
  }
  // Rank 1, if there are more than two, owns nothing; the owner has no order.
  static int ownerOf(int node) {
    const int size = world()->size();
    const int rank =
        static_cast<int>(static_cast<std::uint64_t>(idOf(node)) % static_cast<std::uint64_t>(size));
    return size > 2 && rank == 1 ? 0 : rank;
  }
  explicit Mesh(bool repeats) {
    const int ownRank = world()->rank();
    std::vector<int> nodes;
    for (int node = kNodes - 1; node >= 0; --node)
      if (ownerOf(node) == ownRank)
        nodes.push_back(node);
    owned = static_cast<TenonInt>(nodes.size());
    for (int node = 0; node < kNodes;
         ++node) // every third is a ghost of two ranks, others of one or none
      if (ownerOf(node) != ownRank && (node + ownRank) % 3 == 0 && node % 7 != 0)
        nodes.push_back(node);
    if (repeats && ownRank != 1)
      nodes.insert(nodes.end(), {nodes[0], nodes[0], 5, 5});
    for (int node : nodes)
      ids.push_back(idOf(node));
  }
};

// A number in [-1, 3) that depends on the node and the column only, and not on the owner.
double valueOf(TenonInt id, TenonInt column) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(id) * 31 + static_cast<std::uint64_t>(column));
  return std::ldexp(static_cast<double>(engine() >> 12), -50) - 1;
}

class Meshes : public test::CApi {
protected:
  // Layouts of tensors [nodes, columns].
  void make(const Mesh& mesh, TenonInt columns) {
    test::expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, mesh.owned, mesh.count(),
                                                   mesh.ids.data(), &nodes_));
    const TenonInt shape[] = {0, columns};
    test::expectSuccess(TenonIndexMapGetLayouts(nodes_, 2, shape, &plain_, &ghosted_));
    test::expectSuccess(TenonLinearOpCreateIndexMap(nodes_, plain_, TENON_FLOAT64, &fill_));
  }
  // A field, and the field with ghosts, both in one array as in a solver.
  void place(const Mesh& mesh, TenonInt columns) {
    array_.assign(static_cast<std::size_t>(mesh.count() * columns), -1e300);
    x_ = tensor(plain_, TENON_FLOAT64);
    u_ = tensor(ghosted_, TENON_FLOAT64);
    const TenonInt behind[] = {mesh.count() - mesh.owned, 0}, length = mesh.count() * columns;
    test::expectSuccess(
        TenonDTensorPlaceArray(x_, array_.data(), nullptr, nullptr, nullptr, length));
    test::expectSuccess(
        TenonDTensorPlaceArray(u_, array_.data(), nullptr, nullptr, behind, length));
    TenonLayout dual = nullptr;
    test::expectSuccess(TenonLayoutGetDual(ghosted_, &dual));
    du_ = tensor(dual, TENON_FLOAT64);
    test::expectSuccess(TenonLayoutDestroy(&dual));
    test::expectSuccess(
        TenonDTensorPlaceArray(du_, array_.data(), nullptr, nullptr, behind, length));
  }
  void TearDown() override {
    for (TenonDTensor* t : {&x_, &u_, &du_})
      test::expectSuccess(TenonDTensorDestroy(t));
    test::expectSuccess(TenonLinearOpDestroy(&fill_));
    test::expectSuccess(TenonLayoutDestroy(&plain_));
    test::expectSuccess(TenonLayoutDestroy(&ghosted_));
    test::expectSuccess(TenonIndexMapDestroy(&nodes_));
    CApi::TearDown();
  }

  TenonIndexMap nodes_ = nullptr;
  TenonLayout plain_ = nullptr, ghosted_ = nullptr;
  TenonLinearOp fill_ = nullptr;
  std::vector<double> array_;
  TenonDTensor x_ = nullptr, u_ = nullptr, du_ = nullptr;
};

TEST_F(Meshes, FillGhostsInTheArrayOfTheSolver) {
  const Mesh mesh(true);
  const TenonInt columns = 3;
  make(mesh, columns);
  place(mesh, columns);
  for (TenonInt k = 0; k < mesh.owned; ++k)
    for (TenonInt c = 0; c < columns; ++c)
      array_[k * columns + c] = valueOf(mesh.ids[k], c);
  test::expectSuccess(TenonLinearOpApply(fill_, x_, u_));
  for (TenonInt k = 0; k < mesh.count(); ++k)
    for (TenonInt c = 0; c < columns; ++c)
      ASSERT_EQ(array_[k * columns + c], valueOf(mesh.ids[k], c)) << "node " << k;
}

TEST_F(Meshes, AddWhatAllRanksHoldAtTheOwners) {
  const Mesh mesh(true);
  const TenonInt columns = 2;
  make(mesh, columns);
  place(mesh, columns);
  const auto contribution = [&](int rank, TenonInt k, TenonInt c) {
    return double((7 * rank + 3 * k + c) % 11 - 5);
  };
  for (TenonInt k = 0; k < mesh.count(); ++k)
    for (TenonInt c = 0; c < columns; ++c)
      array_[k * columns + c] = contribution(test::worldRank(), k, c);
  std::map<std::pair<TenonInt, TenonInt>, double> sums;
  const auto all = ofAllRanks(mesh.ids);
  for (int rank = 0; rank < test::worldSize(); ++rank)
    for (TenonInt k = 0; k < static_cast<TenonInt>(all[rank].size()); ++k)
      for (TenonInt c = 0; c < columns; ++c)
        sums[{all[rank][k], c}] += contribution(rank, k, c);
  test::expectSuccess(TenonLinearOpApplyAdjoint(fill_, du_, x_));
  for (TenonInt k = 0; k < mesh.owned; ++k)
    for (TenonInt c = 0; c < columns; ++c)
      ASSERT_EQ(array_[k * columns + c], (sums[{mesh.ids[k], c}])) << "node " << k;
}

// Nodes in the order of their ids: a file of them is the same for every partition of the mesh.
TEST_F(Meshes, GoInTheOrderOfTheirIdsAndBack) {
  const Mesh mesh(false);
  const TenonInt columns = 2, shape[] = {0, columns};
  make(mesh, columns);
  place(mesh, columns);
  for (TenonInt k = 0; k < mesh.owned; ++k)
    for (TenonInt c = 0; c < columns; ++c)
      array_[k * columns + c] = valueOf(mesh.ids[k], c);
  const std::vector<double> before = array_;
  TenonIndexMap sorted = nullptr;
  test::expectSuccess(TenonIndexMapCreateSorted(nodes_, &sorted));
  TenonLayout plain = nullptr, byId = nullptr;
  test::expectSuccess(TenonIndexMapGetLayouts(sorted, 2, shape, &plain, &byId));
  TenonLinearOp sort = nullptr;
  test::expectSuccess(TenonLinearOpCreateIndexMap(sorted, plain_, TENON_FLOAT64, &sort));
  TenonDTensor y = tensor(byId, TENON_FLOAT64);
  test::expectSuccess(TenonLinearOpApply(sort, x_, y));

  std::vector<TenonInt> ids;
  for (int node = 0; node < Mesh::kNodes; ++node)
    ids.push_back(Mesh::idOf(node));
  std::ranges::sort(ids);
  TenonInt low[2], high[2];
  test::expectSuccess(TenonDTensorGetBox(y, low, high));
  EXPECT_EQ(high[0] - low[0], Mesh::kNodes / world()->size() +
                                  (world()->rank() < Mesh::kNodes % world()->size() ? 1 : 0));
  const void* values = nullptr;
  test::expectSuccess(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &values));
  for (TenonInt n = low[0]; n < high[0]; ++n)
    for (TenonInt c = 0; c < columns; ++c)
      ASSERT_EQ(static_cast<const double*>(values)[(n - low[0]) * columns + c],
                valueOf(ids[static_cast<std::size_t>(n)], c));
  test::expectSuccess(TenonDTensorRestoreArrayRead(y, &values));

  std::fill_n(array_.begin(), mesh.owned * columns, 0);
  test::expectSuccess(TenonLinearOpApplyAdjoint(sort, y, x_));
  EXPECT_EQ(array_, before);

  TenonIndexMap again = nullptr;
  test::expectCommonCode(TENON_ERR_LAYOUT, TenonIndexMapCreateSorted(sorted, &again),
                         {"knows no ids"});
  test::expectSuccess(TenonDTensorDestroy(&y));
  test::expectSuccess(TenonLinearOpDestroy(&sort));
  test::expectSuccess(TenonLayoutDestroy(&plain));
  test::expectSuccess(TenonLayoutDestroy(&byId));
  test::expectSuccess(TenonIndexMapDestroy(&sorted));
}

// Copies of a node must have equal bits: they would differ if ranks added in different orders. The
// factor 0.3 keeps the sums of 100 turns finite, and makes each turn round.
TEST_F(Meshes, KeepCopiesEqualBitByBit) {
  const Mesh mesh(true);
  make(mesh, 1);
  place(mesh, 1);
  for (TenonInt k = 0; k < mesh.owned; ++k)
    array_[k] = valueOf(mesh.ids[k], 0);
  for (int turn = 0; turn < 100; ++turn) {
    test::expectSuccess(TenonLinearOpApply(fill_, x_, u_));
    for (double& value : array_)
      value *= 0.3;
    test::expectSuccess(TenonLinearOpApplyAdjoint(fill_, du_, x_));
  }
  test::expectSuccess(TenonLinearOpApply(fill_, x_, u_));
  std::map<TenonInt, double> copies;
  const auto ids = ofAllRanks(mesh.ids);
  const auto values = ofAllRanks(array_);
  for (std::size_t rank = 0; rank < ids.size(); ++rank)
    for (std::size_t k = 0; k < ids[rank].size(); ++k) {
      const auto [at, isNew] = copies.emplace(ids[rank][k], values[rank][k]);
      ASSERT_TRUE(isNew || std::memcmp(&at->second, &values[rank][k], sizeof(double)) == 0);
      ASSERT_TRUE(std::isfinite(values[rank][k]));
    }
}

TEST_F(Meshes, SendEachNodeOnceToEachRankThatHasIt) {
  const Mesh mesh(false);
  const TenonInt columns = 4;
  make(mesh, columns);
  const auto ids = ofAllRanks(mesh.ids);
  const std::set<TenonInt> ownIds(mesh.ids.begin(), mesh.ids.begin() + mesh.owned);
  TenonInt neighbours = 0, copies = 0;
  for (int rank = 0; rank < test::worldSize(); ++rank) {
    const TenonInt shared =
        rank == test::worldRank()
            ? 0
            : std::ranges::count_if(ids[rank], [&](TenonInt id) { return ownIds.contains(id); });
    neighbours += shared > 0;
    copies += shared;
  }
  TenonInt messages = -1, bytes = -1;
  test::expectSuccess(TenonLinearOpGetTraffic(fill_, &messages, &bytes));
  EXPECT_EQ(messages, neighbours);
  const IndexMapPtr map = makeIndexMapFromIds(*world(), mesh.owned, mesh.ids);
  EXPECT_EQ(map->sent().messages, neighbours);
  EXPECT_EQ(map->sent().elements, copies);
  EXPECT_EQ(bytes, copies * columns * 8);
  // All ranks know the most that any sends, and that any receives: its ghosts.
  TenonInt most[] = {copies, static_cast<TenonInt>(mesh.ids.size()) - mesh.owned};
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(map->most().sent.elements, most[0]);
  EXPECT_EQ(map->most().received.elements, most[1]);
}

TEST_F(Meshes, CountEachNodeOnceInNorms) {
  const Mesh mesh(true);
  make(mesh, 2);
  place(mesh, 2);
  for (TenonInt k = 0; k < mesh.owned; ++k)
    for (TenonInt c = 0; c < 2; ++c)
      array_[2 * k + c] = valueOf(mesh.ids[k], c);
  test::expectSuccess(TenonLinearOpApply(fill_, x_, u_));
  double expected = 0, norm = 0;
  for (int node = 0; node < Mesh::kNodes; ++node)
    for (TenonInt c = 0; c < 2; ++c)
      expected += std::pow(valueOf(Mesh::idOf(node), c), 2);
  test::expectSuccess(TenonDTensorNorm(u_, &norm));
  EXPECT_NEAR(norm, std::sqrt(expected), 1e-12 * norm);
  test::expectCode(TENON_ERR_SUPPORT, TenonDTensorNorm(du_, &norm), {"holds partial sums"});
}

TEST_F(Meshes, DoNotLetConversionsFillGhosts) {
  const Mesh mesh(false);
  make(mesh, 2);
  TenonLinearOp op = nullptr;
  const auto refused = {"a conversion does not know whose copies linked halos hold: from [60,2] S0",
                        "apply the index map that they were made with, or its adjoint"};
  test::expectCommonCode(TENON_ERR_LAYOUT,
                         TenonLinearOpCreateConversion(plain_, ghosted_, TENON_FLOAT64, &op),
                         refused);
  test::expectCommonCode(TENON_ERR_LAYOUT,
                         TenonLinearOpCreateHalo(plain_, ghosted_, TENON_FLOAT64, &op), refused);
  TenonLayout dual = nullptr;
  test::expectSuccess(TenonLayoutGetDual(ghosted_, &dual));
  test::expectCommonCode(TENON_ERR_LAYOUT,
                         TenonLinearOpCreateConversion(dual, plain_, TENON_FLOAT64, &op), refused);
  // To drop them is a conversion, whose adjoint puts zeros there.
  test::expectSuccess(TenonLinearOpCreateConversion(ghosted_, plain_, TENON_FLOAT64, &op));
  double relative = 1;
  test::expectSuccess(TenonLinearOpTestAdjoint(op, 3, TENON_TRUE, nullptr, nullptr, &relative));
  EXPECT_EQ(relative, 0);
  test::expectSuccess(TenonLinearOpDestroy(&op));
  test::expectSuccess(TenonLayoutDestroy(&dual));
}

TEST_F(Meshes, NameWrongIdsOnAllRanks) {
  const int ownRank = test::worldRank(), size = test::worldSize();
  TenonIndexMap map = nullptr;
  std::vector<TenonInt> ids{10 + ownRank, 7};
  const auto make = [&](TenonInt owned) {
    return TenonIndexMapCreateFromIds(MPI_COMM_WORLD, owned, static_cast<TenonInt>(ids.size()),
                                      ids.data(), &map);
  };
  test::expectCommonCode(
      TENON_ERR_LAYOUT, make(1),
      {"lists id 7 as a ghost, but no rank owns it; the ids that ranks own are the "
       "first `owned` of each list"});
  if (size > 1) {
    ids = {ownRank < 2 ? 7 : 10 + ownRank};
    test::expectCommonCode(
        TENON_ERR_LAYOUT, make(1),
        {"id 7 is owned by rank 0 and by rank 1; list it among the first `owned` ids "
         "of one rank alone"});
  }
  ids = {10 + ownRank, ownRank == size - 1 ? 10 + ownRank : 20 + ownRank};
  test::expectCommonCode(TENON_ERR_LAYOUT, make(2), {"is twice among the ids that rank"});
  test::expectCommonCode(TENON_ERR_ARG, make(ownRank == size - 1 ? 3 : 1),
                         {"owned is 3 and count 2"});
  test::expectCommonCode(
      TENON_ERR_NULL,
      TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 0, ownRank == 0 ? 1 : 0, nullptr, &map),
      {"ids is NULL"});
  EXPECT_EQ(map, nullptr);
  // A domain that is not divided as the nodes are.
  ids = {10 + ownRank, 20 + ownRank};
  test::expectSuccess(make(2));
  TenonLayout other = layout({2 * size + 1, 3}, "S0");
  TenonLinearOp op = nullptr;
  test::expectCommonCode(
      TENON_ERR_LAYOUT, TenonLinearOpCreateIndexMap(map, other, TENON_FLOAT64, &op),
      {"but the index map was made for", "(dimensions 0 alike, the others of any extent)"});
  const TenonInt shape[] = {5};
  TenonLayout plain = nullptr;
  test::expectCommonCode(TENON_ERR_SHAPE, TenonIndexMapGetLayouts(map, 1, shape, &plain, &other),
                         {"pass 0 in its joint dimensions 0"});
  test::expectSuccess(TenonLayoutDestroy(&other));
  test::expectSuccess(TenonIndexMapDestroy(&map));
}

// Maps by lists of entries: y[i, c] is twice the element of one row minus that of another; or, with
// entries in both dimensions, an element of any row and column.
TEST_F(Meshes, AreMapsBetweenLayoutsByEntries) {
  const TenonInt ownRank = test::worldRank(), rows = 2 * test::worldSize();
  TenonLayout from = layout({rows, 3}, "S0"), to = layout({test::worldSize(), 3}, "S0");
  const TenonInt first = 7 * ownRank % rows, second = 5 * (ownRank + 1) % rows;
  struct Case {
    std::vector<int> joint;
    std::vector<TenonInt> target, source;
    std::vector<double> weights, expected;
  };
  const auto value = [](TenonInt place) { return double(place * place % 17); };
  Case ofRows{{1, 0}, {0, 0}, {first, second}, {2, -1}, {}}, ofAll{{1, 1}, {2, 0}, {1, 3}, {}, {}};
  for (TenonInt c = 0; c < 3; ++c)
    ofRows.expected.push_back(2 * value(3 * first + c) - value(3 * second + c));
  ofAll.expected = {value(3), 0, value(1)};
  std::vector<double> given, found(3);
  for (TenonInt place = 6 * ownRank; place < 6 * (ownRank + 1); ++place)
    given.push_back(value(place));
  TenonDTensor x = tensor(from, TENON_FLOAT64), y = tensor(to, TENON_FLOAT64);
  test::expectSuccess(TenonDTensorPlaceArray(x, given.data(), nullptr, nullptr, nullptr, 6));
  test::expectSuccess(TenonDTensorPlaceArray(y, found.data(), nullptr, nullptr, nullptr, 3));
  for (const Case& c : {ofRows, ofAll}) {
    TenonIndexMap map = nullptr;
    TenonLinearOp op = nullptr;
    test::expectSuccess(TenonIndexMapCreateCells(
        from, to, c.joint.data(), static_cast<TenonInt>(c.target.size()), c.target.data(),
        c.source.data(), c.weights.empty() ? nullptr : c.weights.data(), &map));
    test::expectSuccess(TenonLinearOpCreateIndexMap(map, from, TENON_FLOAT64, &op));
    test::expectSuccess(TenonLinearOpApply(op, x, y));
    EXPECT_EQ(found, c.expected);
    test::expectSuccess(TenonLinearOpDestroy(&op));
    test::expectSuccess(TenonIndexMapDestroy(&map));
  }
  const int wrong[] = {1, 2};
  TenonIndexMap map = nullptr;
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  EXPECT_EQ(TenonIndexMapCreateCells(from, to, wrong, 0, nullptr, nullptr, nullptr, &map),
            TENON_ERR_ARG);
  char text[256] = "";
  TenonGetLastError(nullptr, text, sizeof text, nullptr);
  EXPECT_STREQ(text, "joint[1] is 2; pass 1 for a joint dimension and 0 for another");
  TenonPopErrorHandler();
  for (TenonDTensor* t : {&x, &y})
    test::expectSuccess(TenonDTensorDestroy(t));
  for (TenonLayout* l : {&from, &to})
    test::expectSuccess(TenonLayoutDestroy(l));
}

TEST_F(Meshes, CanBeEmpty) {
  const Mesh none{true};
  TenonIndexMap map = nullptr;
  test::expectSuccess(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 0, 0, nullptr, &map));
  const TenonInt shape[] = {0, 3};
  test::expectSuccess(TenonIndexMapGetLayouts(map, 2, shape, &plain_, &ghosted_));
  test::expectSuccess(TenonLinearOpCreateIndexMap(map, plain_, TENON_FLOAT64, &fill_));
  double relative = 1;
  test::expectSuccess(TenonLinearOpTestAdjoint(fill_, 3, TENON_TRUE, nullptr, nullptr, &relative));
  EXPECT_EQ(relative, 0);
  test::expectSuccess(TenonIndexMapDestroy(&map));
}

} // namespace
} // namespace tenon
