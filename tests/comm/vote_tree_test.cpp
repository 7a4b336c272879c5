// SPDX-License-Identifier: BSD-2-Clause
// Tests the trees along which votes are sent: each rank is reached once, over a number of other
// ranks that grows as log2 of the size, and sends at most three messages; and that an agreement
// sends as many messages as the trees say. For this, the program replaces MPI_Send() by a function
// that counts.
#include "comm/agreement/vote_tree.hpp"

#include "comm/agreement/agreement.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace {
int sends = 0; // Number of calls of MPI_Send() by this rank so far.
} // namespace

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(data, count, type, to, tag, comm);
}

namespace tenon {
namespace {

using test::world;

constexpr VoteTree::Order kOrders[] = {VoteTree::Order::Ranks, VoteTree::Order::Mirrored};

int childrenOf(const VoteTree& tree, int rank) {
  const auto ranks = tree.children(rank);
  return static_cast<int>(std::count_if(ranks.begin(), ranks.end(), [](int r) { return r >= 0; }));
}

// Messages of a rank in one vote (vote.hpp): "here", with which rank 0 says that it is present, to
// the rank's children in the first tree; a ballot, the outcomes of its subtree, to its parent; and
// the verdict, the outcome for all ranks, to its children in the second tree.
int sendsOf(int rank, int size) {
  return childrenOf({size, kOrders[0]}, rank) + (rank > 0 ? 1 : 0) +
         childrenOf({size, kOrders[1]}, rank);
}

std::vector<int> sizes() {
  std::vector<int> all;
  for (int size = 1; size <= 300; ++size)
    all.push_back(size);
  all.insert(all.end(), {1023, 1024, 1025, 65535, 65536, 98304});
  return all;
}

TEST(VoteTree, ReachesEachRankOnceAtLogarithmicDepth) {
  for (const int size : sizes())
    for (const auto order : kOrders) {
      const VoteTree tree(size, order);
      std::vector<int> depth(size, -1), reached = {0};
      depth[0] = 0;
      for (std::size_t i = 0; i < reached.size(); ++i)
        for (const int child : tree.children(reached[i]))
          if (child >= 0) {
            ASSERT_LT(child, size);
            ASSERT_EQ(depth[child], -1) << "rank " << child << " of " << size << " twice";
            EXPECT_EQ(tree.parent(child), reached[i]);
            depth[child] = depth[reached[i]] + 1;
            reached.push_back(child);
          }
      EXPECT_EQ(reached.size(), static_cast<std::size_t>(size));
      // A binary heap below rank 0.
      EXPECT_LE(*std::max_element(depth.begin(), depth.end()),
                std::bit_width(static_cast<unsigned>(size)) + 1)
          << size;
    }
}

TEST(VoteTree, BalancesTheNumbersOfMessages) {
  for (const int size : sizes()) {
    int least = 3, most = 0;
    for (int rank = 0; rank < size; ++rank) {
      least = std::min(least, sendsOf(rank, size));
      most = std::max(most, sendsOf(rank, size));
    }
    EXPECT_LE(most, 3) << size;
    EXPECT_LE(most - least, 1) << size;
  }
}

TEST(VoteTree, GivesTheNumberOfMessagesOfAnAgreement) {
  for (int size = 1; size <= world()->size(); ++size) {
    const bool isIn = world()->rank() < size;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, isIn ? 0 : MPI_UNDEFINED, 0, &some);
    if (!isIn)
      continue;
    const CommPtr comm = Communicator::copyOf(some);
    const int expected = sendsOf(comm->rank(), size), before = sends;
    agree(*comm, std::nullopt);
    EXPECT_EQ(sends - before, expected) << "rank " << comm->rank() << " of " << size;
    agreeOnText(*comm, "the name", [] { return "same"; });
    EXPECT_EQ(sends - before, 2 * expected) << "rank " << comm->rank() << " of " << size;
    MPI_Comm_free(&some);
  }
}

} // namespace
} // namespace tenon
