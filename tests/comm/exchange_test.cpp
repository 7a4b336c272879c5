// SPDX-License-Identifier: BSD-2-Clause
// Tests rounds of messages (comm/exchange.hpp): pieces, memory that is replaced between rounds,
// persistent requests, and messages that are taken in the order in which they arrive. That order is
// enforced: rank 1 does not send before rank 0 has received from the last rank.
#include "comm/exchange.hpp"

#include "support/world.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenon {
namespace {

using test::world;

constexpr Index kCount = 5, kPieceBytes = 16;

std::byte* bytesOf(std::vector<double>& numbers, Index first) {
  return reinterpret_cast<std::byte*>(numbers.data() + first);
}

// A round in which each rank sends kCount numbers to each other rank.
struct AllToAll {
  int rank = world()->rank(), ranks = world()->size();
  std::vector<double> sent, received;
  std::vector<Message> sends, receives;

  AllToAll() : sent(kCount * ranks), received(kCount * ranks, -1) {
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) {
        sends.push_back({peer, bytesOf(sent, kCount * peer), kCount * Index(sizeof(double))});
        receives.push_back(
            {peer, bytesOf(received, kCount * peer), kCount * Index(sizeof(double))});
      }
  }
  // Number i for this peer of this round.
  static double number(int round, int from, int to, Index i) {
    return 1000. * round + 100 * from + 10 * to + double(i);
  }
  void setNumbers(int round) {
    for (int peer = 0; peer < ranks; ++peer)
      for (Index i = 0; i < kCount; ++i)
        sent[kCount * peer + i] = number(round, rank, peer, i);
  }
  void expectNumbers(int round, const std::vector<double>& numbers) const {
    for (int peer = 0; peer < ranks; ++peer)
      for (Index i = 0; i < kCount; ++i)
        EXPECT_EQ(numbers[kCount * peer + i], peer == rank ? -1 : number(round, peer, rank, i));
  }
};

TEST(Exchange, ReturnsEachPieceOnce) {
  AllToAll all;
  Exchange exchange(world(), world()->nextTag(), all.sends, all.receives, kPieceBytes);
  const int messages = static_cast<int>(all.receives.size());
  for (int round = 0; round < 6; ++round) {
    if (round == 3)
      exchange.makePersistent();
    all.setNumbers(round);
    exchange.startReceives();
    exchange.startSends();
    std::set<std::pair<int, int>> pieces;
    int last = 0;
    EXPECT_EQ(exchange.piecesOfReceives(), 3 * messages);
    for (int i = 0; i < exchange.piecesOfReceives(); ++i) {
      const Exchange::Arrival arrival = exchange.nextReceive();
      pieces.insert({arrival.index, arrival.piece});
      last += arrival.isLast;
    }
    EXPECT_EQ(static_cast<int>(pieces.size()), 3 * messages);
    EXPECT_EQ(last, messages);
    exchange.waitSends();
    all.expectNumbers(round, all.received);
  }
}

TEST(Exchange, UsesTheMemoryThatWasPlacedLast) {
  AllToAll all;
  std::vector<double> others(all.received.size(), -1);
  Exchange exchange(world(), world()->nextTag(), all.sends, all.receives);
  for (int round = 0; round < 2; ++round) {
    all.setNumbers(round);
    exchange.startReceives();
    exchange.startSends();
    for (int i = 0; i < static_cast<int>(all.receives.size()); ++i) {
      exchange.waitReceive(i, 0);
      exchange.placeReceive(i, bytesOf(others, kCount * all.receives[i].peer));
    }
    exchange.waitSends();
    all.expectNumbers(round, round == 0 ? all.received : others);
  }
}

TEST(Exchange, TakesMessagesAsTheyArrive) {
  const int rank = world()->rank(), last = world()->size() - 1;
  if (last < 2)
    GTEST_SKIP() << "needs two senders";
  double number = rank;
  std::vector<double> received(last + 1);
  std::vector<Message> sends, receives;
  if (rank == 0)
    for (int peer : {1, last})
      receives.push_back({peer, bytesOf(received, peer), sizeof(double)});
  else if (rank == 1 || rank == last)
    sends.push_back({0, reinterpret_cast<std::byte*>(&number), sizeof(double)});
  const int tag = world()->nextTag();
  Exchange exchange(world(), tag, sends, receives);
  Exchange go(world(), world()->nextTag(),
              rank == 0 ? std::vector<Message>{{1, bytesOf(received, 0), sizeof(double)}}
                        : std::vector<Message>{},
              rank == 1 ? std::vector<Message>{{0, bytesOf(received, 0), sizeof(double)}}
                        : std::vector<Message>{});
  exchange.startReceives();
  go.startReceives();
  if (rank == 1)
    go.waitReceive(0, 0);
  exchange.startSends();
  for (int i = 0; i < exchange.piecesOfReceives(); ++i) {
    EXPECT_EQ(exchange.nextReceive().index, i == 0 ? 1 : 0);
    if (i == 0)
      go.startSends();
  }
  exchange.waitSends();
  go.waitSends();
  if (rank == 0) {
    EXPECT_EQ(received[1], 1);
    EXPECT_EQ(received[last], last);
  }
}

} // namespace
} // namespace tenon
