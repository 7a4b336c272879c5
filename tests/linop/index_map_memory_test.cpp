// SPDX-License-Identifier: BSD-2-Clause
// Tests the memory and the messages that the set-up of a distributed mesh needs: memory of the
// order of the rank's own list of nodes, and one message per neighbour, for any number of ranks.
// The mesh is a periodic grid of one tile of 125 x 125 nodes per rank: a million nodes on 64 ranks.
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "support/count_allocations.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenon {
namespace {

// The list of a rank: the nodes of its tile, then ghosts around the tile. Ids have no order.
class Tiles {
public:
  static constexpr Index kExtent = 125;

  Tiles(int rank, int size) : rank_(rank) {
    MPI_Dims_create(size, 2, dims_);
    for (Index i = 0; i < kExtent; ++i)
      for (Index j = 0; j < kExtent; ++j)
        list(i, j);
    owned = static_cast<Index>(ids.size());
    for (Index k = -1; k <= kExtent; ++k) {
      list(-1, k);
      list(kExtent, k);
      if (k >= 0 && k < kExtent) {
        list(k, -1);
        list(k, kExtent);
      }
    }
  }

  std::vector<Index> ids, numbers; // the owned ones first
  Index owned = 0;
  std::set<int> neighbours;

private:
  void list(Index i, Index j) {
    const Index rows = kExtent * dims_[0], columns = kExtent * dims_[1],
                row = (rank_ / dims_[1] * kExtent + i + rows) % rows,
                column = (rank_ % dims_[1] * kExtent + j + columns) % columns;
    numbers.push_back(row * columns + column);
    // The product with an odd number modulo 2^64 is different for each node.
    ids.push_back(
        static_cast<Index>(static_cast<std::uint64_t>(numbers.back()) * 0x9e3779b97f4a7c15ULL));
    const int owner = static_cast<int>(row / kExtent * dims_[1] + column / kExtent);
    if (owner != rank_)
      neighbours.insert(owner);
  }

  int rank_, dims_[2] = {0, 0};
};

TEST(IndexMapMemory, IsOfTheOrderOfARanksOwnList) {
  const CommPtr& comm = test::world();
  const Tiles tiles(comm->rank(), comm->size());
  const long list = static_cast<long>(tiles.ids.size() * sizeof(Index));
  test::mostBytesHeld = test::bytesHeld.load();
  const long before = test::bytesHeld;
  const IndexMapPtr map = makeIndexMapFromIds(*comm, tiles.owned, tiles.ids);
  IndexMapOp op(comm, map, map->from(), TENON_FLOAT64, CarrierPolicy::fromOptions());
  // The bounds do not depend on the number of ranks. A table of all nodes would be nearly as many
  // lists as there are ranks.
  EXPECT_LE(test::mostBytesHeld - before, 24 * list);
  EXPECT_LE(test::bytesHeld - before, 4 * list);
  EXPECT_EQ(map->sent().messages, static_cast<Index>(tiles.neighbours.size()));

  DTensor x(comm, op.domain(), TENON_FLOAT64), u(comm, op.range(), TENON_FLOAT64);
  std::copy_n(tiles.numbers.begin(), tiles.owned, x.mutableData<double>());
  op.apply(x, u);
  for (std::size_t k = 0; k < tiles.numbers.size(); ++k)
    ASSERT_EQ(u.data<double>()[k], static_cast<double>(tiles.numbers[k]));
}

} // namespace
} // namespace tenon
