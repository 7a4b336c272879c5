// SPDX-License-Identifier: BSD-2-Clause
// Tests index maps, operators that copy or add listed elements of any rank to elements of any rank.
// Each random map is written out here as a sparse matrix between the memories of all ranks, by the
// definition, and y <- alpha M x + beta y is compared with it, for every transport. The tests
// Meshes.* use maps of meshes by node ids through the C interface; the numbers in nodes and ghosts
// must not depend on which rank owns which node.
#include "capi/expect_code.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "operators.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"

#include <tenon/index_map.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace tenon {
namespace {

using test::act;
using test::elementsOf;
using test::Ends;
using test::LayoutDraw;
using test::world;

template <class T>
MPI_Datatype mpiType() {
  return std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
}

// Returns the lists of all ranks, on each rank.
template <class T>
std::vector<std::vector<T>> ofAllRanks(const std::vector<T>& local) {
  const int size = world()->size();
  std::vector<int> counts(size), begins(size + 1, 0);
  const int count = static_cast<int>(local.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  std::vector<T> joined(static_cast<std::size_t>(begins.back()));
  MPI_Allgatherv(local.data(), count, mpiType<T>(), joined.data(), counts.data(), begins.data(),
                 mpiType<T>(), MPI_COMM_WORLD);
  std::vector<std::vector<T>> all;
  for (int rank = 0; rank < size; ++rank)
    all.emplace_back(joined.begin() + begins[rank], joined.begin() + begins[rank + 1]);
  return all;
}

struct MapCase {
  Layout from, to;
  std::vector<int> dims;
  WantedEntries wanted;
  Shape trailing; // dimensions of tensors behind those of the map
};

// Draws a map: layouts of up to three dimensions on grids of up to two axes; entries in some of the
// dimensions jointly; with or without a linked halo; fewer or more entries than elements.
MapCase drawCase(unsigned seed) {
  LayoutDraw draw(seed);
  std::mt19937 own(1000 * seed + static_cast<unsigned>(world()->rank()));
  const auto upTo = [&](Index n) { return std::uniform_int_distribution<Index>(0, n)(own); };
  const int rank = draw.between(1, 3), size = world()->size();
  const std::vector<int> extents = size % 2 == 0 && rank > 1 && draw.chance(60)
                                       ? std::vector<int>{size / 2, 2}
                                       : std::vector<int>{size};
  const GridPtr grid = Grid::make(extents);
  std::vector<int> dims{0};
  for (int d = 1; d < rank; ++d)
    if (draw.chance(40) && !(extents.size() == 2 && d == rank - 1))
      dims.push_back(d);
  Shape shape;
  for (int d = 0; d < rank; ++d)
    shape.push_back(draw.between(1, 4));
  // The second axis splits a free dimension, or has copies or partial sums.
  Properties properties{Property::shard(0)};
  if (extents.size() == 2)
    properties.push_back(draw.chance(50)   ? Property::shard(rank - 1)
                         : draw.chance(50) ? Property::broadcast()
                                           : Property::partial());
  const auto cutsOf = [&](Index extent, int parts) {
    std::vector<Index> cuts{0, extent};
    for (int i = 1; i < parts; ++i)
      cuts.push_back(draw.between(0, static_cast<int>(extent)));
    std::ranges::sort(cuts);
    return cuts;
  };
  const auto layoutOf = [&](Index first) {
    LayoutSpec spec{.shape = shape, .grid = grid, .properties = properties};
    spec.shape[0] = first;
    spec.cuts.resize(rank);
    spec.cuts[0] = cutsOf(first, extents[0]);
    return Layout(spec);
  };
  const Layout from = layoutOf(draw.between(1, 9));
  Layout to = from;
  const bool isSame = draw.chance(50);
  LayoutSpec spec = isSame ? from.spec() : layoutOf(draw.between(1, 9)).spec();
  if (isSame || draw.chance(30)) {
    Halo halo{.boxes = {}, .low = Boundary::Linked, .high = Boundary::Linked};
    for (std::size_t part = 0; part + 1 < spec.cuts[0].size(); ++part)
      halo.boxes.push_back(
          {spec.cuts[0][part] - draw.between(0, 1), spec.cuts[0][part + 1] + draw.between(0, 4)});
    spec.halos.resize(rank);
    spec.halos[0] = halo;
  }
  to = Layout(spec);
  const bool isHalo = to.hasLinkedHalos() && to.withoutHalos() == from;
  MapCase result{from, to, dims, {}, {}};
  const int position = grid->position(world()->rank());
  const Index targets = elements(jointExtent(to, dims, position)),
              sources = elements(jointShape(from, dims));
  const bool weighted = draw.chance(50), onceEach = draw.chance(50);
  const Shape extent = jointExtent(to, dims, position);
  const Interval box = to.box(position)[0], owned = to.ownedBox(position)[0];
  for (Index n = 0; n < (onceEach ? targets : 2 * targets); ++n) {
    const Index target = onceEach ? n : upTo(targets - 1);
    const Index at = unflattened(target, extent)[0] + box.begin;
    if (isHalo && at >= owned.begin && at < owned.end)
      continue;
    result.wanted.target.push_back(target);
    result.wanted.source.push_back(upTo(sources - 1));
    if (weighted)
      result.wanted.weights.push_back(double(upTo(6) - 3));
  }
  for (int d = draw.upTo(2); d > 0; --d)
    result.trailing.push_back(draw.between(1, 2));
  return result;
}

// Returns a layout with more dimensions at the end, which are not split.
Layout withTrailing(const Layout& pattern, const Shape& trailing) {
  LayoutSpec spec = pattern.spec();
  spec.shape.insert(spec.shape.end(), trailing.begin(), trailing.end());
  spec.splitAxes.resize(spec.shape.size());
  spec.cuts.resize(spec.shape.size());
  spec.halos.resize(spec.shape.size());
  return Layout(spec);
}

// An entry of the matrix; positions are offsets in the arrays of two ranks.
struct Entry {
  int fromRank, toRank;
  Index source, target;
  double weight;
};

Index offsetIn(const Box& box, const std::vector<Index>& global) {
  Index offset = 0;
  for (std::size_t d = 0; d < box.size(); ++d)
    offset = offset * box[d].size() + global[d] - box[d].begin;
  return offset;
}

// Returns all entries of the matrix of a map, from its definition.
std::vector<Entry> matrixOf(const MapCase& c, const Layout& from, const Layout& to) {
  const auto targets = ofAllRanks(c.wanted.target), sources = ofAllRanks(c.wanted.source);
  const auto weights = ofAllRanks(c.wanted.weights);
  const Grid& grid = from.grid();
  std::vector<Entry> entries;
  for (int r = 0; r < world()->size(); ++r) {
    const Box box = to.boxOfRank(r), owned = to.ownedBox(grid.position(r));
    // visit(index in the target, index in the source) for each index of the free dimensions.
    const auto add = [&](const std::vector<Index>& t, const std::vector<Index>& s, double weight) {
      for (int owner = 0; owner < world()->size(); ++owner) {
        bool has = true;
        const Box held = from.boxOfRank(owner);
        for (std::size_t d = 0; d < held.size(); ++d)
          has = has && s[d] >= held[d].begin && s[d] < held[d].end;
        for (int axis = 1; axis < grid.axes(); ++axis)
          has = has && grid.coordinate(grid.position(owner), axis) ==
                           grid.coordinate(grid.position(r), axis);
        if (has)
          entries.push_back({owner, r, offsetIn(held, s), offsetIn(box, t), weight});
      }
    };
    const bool isHalo = to.hasLinkedHalos() && to.withoutHalos() == from;
    const Shape all = extents(box);
    for (Index flat = 0; flat < elements(all); ++flat) {
      std::vector<Index> t = unflattened(flat, all);
      Shape jointBox;
      std::vector<Index> joint;
      bool isOwned = true;
      for (int d : c.dims) {
        jointBox.push_back(all[d]);
        joint.push_back(t[d]);
      }
      for (std::size_t d = 0; d < t.size(); ++d) {
        t[d] += box[d].begin;
        isOwned = isOwned && t[d] >= owned[d].begin && t[d] < owned[d].end;
      }
      if (isHalo && isOwned)
        add(t, t, 1);
      const Index number = flattened(joint.data(), jointBox);
      for (std::size_t n = 0; n < targets[r].size(); ++n) {
        if (targets[r][n] != number)
          continue;
        std::vector<Index> s = t;
        const std::vector<Index> index = unflattened(sources[r][n], jointShape(from, c.dims));
        for (std::size_t i = 0; i < c.dims.size(); ++i)
          s[c.dims[i]] = index[i];
        add(t, s, weights[r].empty() ? 1 : weights[r][n]);
      }
    }
  }
  return entries;
}

// Computes this rank's elements of y <- alpha M x + beta y, or with the transpose of M.
std::vector<double> expectedOf(const std::vector<Entry>& entries, bool forward, double alpha,
                               const std::vector<double>& mineX, double beta,
                               std::vector<double> y) {
  const auto x = ofAllRanks(mineX);
  for (double& value : y)
    value = beta == 0 ? 0 : beta * value;
  for (const Entry& e : entries)
    if ((forward ? e.toRank : e.fromRank) == world()->rank())
      y[forward ? e.target : e.source] +=
          alpha * e.weight * x[forward ? e.fromRank : e.toRank][forward ? e.source : e.target];
  return y;
}

std::vector<CarrierPolicy> policies() {
  std::vector<CarrierPolicy> all{test::by(Transport::Messages)};
  if (world()->arena()) {
    all.push_back(test::by(Transport::Shared));
    all.push_back(test::by(Transport::Shared));
    all.back().packLimit = 0; // read in place
    all.push_back(test::by(Transport::NodeAware));
  }
  return all;
}

TEST(IndexMap, IsItsMatrixByEveryTransport) {
  int halos = 0, weighted = 0, several = 0;
  const unsigned seeds = 24 / static_cast<unsigned>(world()->size()) + 6;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    const MapCase c = drawCase(seed);
    const IndexMapPtr map = makeIndexMap(*world(), c.from, c.to, c.dims, c.wanted);
    const Layout from = withTrailing(c.from, c.trailing), to = withTrailing(c.to, c.trailing);
    halos += map->isHalo();
    weighted += map->isWeighted();
    several += c.dims.size() > 1;
    const std::vector<Entry> entries = matrixOf(c, from, to);
    for (const CarrierPolicy& policy : policies())
      for (TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64}) {
        IndexMapOp op(world(), map, from, type, policy);
        ASSERT_EQ(op.range(), to) << op.range().describe();
        for (Sense sense : {Sense::Forward, Sense::Adjoint})
          for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {-2.0, 3.0}, {1.0, 1.0}}) {
            const Ends ends(op, sense, seed);
            const std::vector<double> x = elementsOf(*ends.x), y = elementsOf(*ends.y);
            act(op, sense, alpha, *ends.x, beta, *ends.y);
            ASSERT_EQ(elementsOf(*ends.y),
                      expectedOf(entries, sense == Sense::Forward, alpha, x, beta, y))
                << op.describe();
          }
      }
  }
  EXPECT_GT(halos, 0);
  EXPECT_GT(several, 0);
  // A rank's part of a map may have no weights.
  MPI_Allreduce(MPI_IN_PLACE, &weighted, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world()->size() > 1) {
    EXPECT_GT(weighted, 0);
  }
}

TEST(IndexMap, NamesEntriesThatItRefuses) {
  const int size = world()->size(), last = size - 1, ownRank = world()->rank();
  const Layout line = test::onLine({3 * size}, "S0");
  const auto make = [&](Index target, Index source) {
    WantedEntries wanted{{0, 1}, {0, 1}, {}};
    if (ownRank == last)
      wanted = {{0, target}, {0, source}, {}};
    makeIndexMap(*world(), line, line, {0}, wanted);
  };
  expectError(TENON_ERR_ARG, {"target[1] is 3", "there are 3 elements of this rank's array"},
              [&] { make(3, 0); });
  expectError(TENON_ERR_ARG, {"source[1] is -1"}, [&] { make(1, -1); });
  expectError(TENON_ERR_LAYOUT, {"divided unlike"}, [&] {
    makeIndexMap(*world(), test::onLine({4, 4}, "S0"), test::onLine({4, 5}, "S0"), {0}, {});
  });
  expectError(TENON_ERR_ARG, {"joint dimensions 0,0"}, [&] {
    makeIndexMap(*world(), line, line, {0, 0}, {});
  });
}

TEST(IndexMap, RefusesWeightsOfIntegers) {
  const Layout line = test::onLine({world()->size()}, "S0");
  const IndexMapPtr map = makeIndexMap(*world(), line, line, {0}, {{0}, {0}, {2.0}});
  expectError(TENON_ERR_DATATYPE, {"an index map with weights"},
              [&] { IndexMapOp(world(), map, line, TENON_INT64, CarrierPolicy::fromOptions()); });
}

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

// More ranks than ids, ids at both ends of their range, and ranks that have all or none.
TEST(IndexMap, SortsFewIdsOnManyRanks) {
  const Index lowest = std::numeric_limits<Index>::min(),
              highest = std::numeric_limits<Index>::max();
  for (const std::vector<Index>& ids :
       {std::vector<Index>{}, {7}, {highest, lowest}, {highest - 1, highest}, {lowest, 0, highest}})
    for (int owner : {0, world()->size() - 1}) {
      const bool isOwner = owner == world()->rank();
      const IndexMapPtr nodes =
          makeIndexMapFromIds(*world(), isOwner ? static_cast<Index>(ids.size()) : 0,
                              isOwner ? ids : std::vector<Index>{});
      const IndexMapObject object(world(), nodes, isOwner ? ids : std::vector<Index>{});
      const IndexMapPtr map = makeSortedIndexMap(*world(), object);
      IndexMapOp op(world(), map, map->from(), TENON_INT64, CarrierPolicy::fromOptions());
      DTensor x(world(), op.domain(), TENON_INT64), y(world(), op.range(), TENON_INT64);
      if (isOwner)
        std::ranges::copy(ids, x.mutableData<std::int64_t>());
      op.apply(x, y);
      std::vector<Index> sorted = ids;
      std::ranges::sort(sorted);
      const Interval ownRows = y.layout().boxOfRank(world()->rank())[0];
      for (Index n = ownRows.begin; n < ownRows.end; ++n)
        ASSERT_EQ(y.data<std::int64_t>()[n - ownRows.begin], sorted[static_cast<std::size_t>(n)]);
    }
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
