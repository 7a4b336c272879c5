// SPDX-License-Identifier: BSD-2-Clause
// Tests index maps, operators that copy or add listed elements of any rank to elements of any rank.
// Each random map is written out here as a sparse matrix between the memories of all ranks, by the
// definition, and y <- alpha M x + beta y is compared with it, for every transport.
#include "all_ranks.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "operators.hpp"
#include "support/random_layout.hpp"
#include "sys/expect_error.hpp"

#include <limits>
#include <map>

namespace tenon {
namespace {

using test::act;
using test::elementsOf;
using test::Ends;
using test::LayoutDraw;
using test::ofAllRanks;
using test::world;

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

} // namespace
} // namespace tenon
