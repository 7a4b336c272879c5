// SPDX-License-Identifier: BSD-2-Clause
// Tests the transport node_aware, by which small parts for another node go there in one message for
// each pair of nodes. All operators must give the bits of messages, in both directions, for several
// fields, and with several actions in flight; the messages between nodes are counted where MPI gets
// them. Runs on the pretended nodes of tests/support/pretended_nodes.cpp.
#include "comm/agreement/agreement.hpp"
#include "linop/exchange/block_diagonal.hpp"
#include "operators.hpp"
#include "support/own_communicator.hpp"
#include "sys/expect_error.hpp"
#include "sys/log/log.hpp"
#include "sys/options/options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>

namespace tenon {
namespace {

using test::Ends;
using test::world;

// The node of a rank, as pretended_nodes.cpp has it.
int nodeOf(int rank) {
  if (const char* const nodes = std::getenv("TENON_TEST_NODES"))
    return rank % std::atoi(nodes);
  const char* const ranks = std::getenv("TENON_TEST_NODE_RANKS");
  return ranks ? rank / std::atoi(ranks) : 0;
}

std::set<int> allNodes() {
  std::set<int> nodes;
  for (int rank = 0; rank < world()->size(); ++rank)
    nodes.insert(nodeOf(rank));
  return nodes;
}

int sentToOtherNodes = 0; // By this rank.

Index onAllRanks(Index number) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return number;
}

// The messages between nodes, of all ranks, in a function that all ranks call.
Index betweenNodes(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = sentToOtherNodes;
  work();
  const int sent = sentToOtherNodes - before;
  return onAllRanks(sent);
}

// Makes an object while the options are this transport and this limit: parts of at most so many
// bytes are joined with others in one message between two nodes, and larger ones go by themselves.
template <class Make>
auto with(const char* transport, Index limit, const Make& make) {
  options().set("-tenon_conversion_transport", transport);
  options().set("-tenon_conversion_relay_limit", std::to_string(limit));
  auto made = make();
  options().set("-tenon_conversion_transport", "auto");
  options().set("-tenon_conversion_relay_limit", "4096");
  return made;
}

void expectSameBits(const DTensor& y, const DTensor& want, const LinearOp& op) {
  const std::vector<double> got = test::elementsOf(y), expected = test::elementsOf(want);
  ASSERT_EQ(got.size(), expected.size());
  if (!got.empty()) {
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0)
        << op.describe();
  }
}

// Compares the results of one field, and of three fields in one action.
void expectAsByMessages(LinearOp& op, LinearOp& messages, Sense sense) {
  constexpr int kFields = 3;
  std::deque<Ends> ends, want;
  std::vector<const DTensor*> x;
  std::vector<DTensor*> y;
  for (int i = 0; i < kFields; ++i) {
    x.push_back(ends.emplace_back(op, sense, 10 * i).x.get());
    y.push_back(ends[i].y.get());
    want.emplace_back(messages, sense, 10 * i);
  }
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (int i = 0; i < kFields; ++i)
      for (Ends* one : {&ends[i], &want[i]})
        fillRaw(*one->x, round + 5 * i, /*integers=*/false);
    for (const auto& [alpha, beta] : {std::pair(1.0, 0.0), {2.0, -1.0}}) {
      test::act(op, sense, alpha, *ends[0].x, beta, *ends[0].y);
      test::act(messages, sense, alpha, *want[0].x, beta, *want[0].y);
      ASSERT_NO_FATAL_FAILURE(expectSameBits(*ends[0].y, *want[0].y, op));
    }
    op.applyMany(sense, x, y);
    for (int i = 0; i < kFields; ++i) {
      test::act(messages, sense, 1, *want[i].x, 0, *want[i].y);
      ASSERT_NO_FATAL_FAILURE(expectSameBits(*ends[i].y, *want[i].y, op));
    }
  }
}

class ByNodes : public testing::TestWithParam<test::NamedOp> {};

// A limit of 24 bytes lets some parts go by themselves.
TEST_P(ByNodes, GivesTheBitsOfMessages) {
  for (const auto& [type, limit] : {std::pair(TENON_FLOAT64, Index(4096)), {TENON_FLOAT32, 24}}) {
    const auto made = [&, type = type, limit = limit](const char* transport) {
      return with(transport, limit, [&] { return GetParam().make(type); });
    };
    const LinearOpRef op = made("node_aware"), messages = made("messages");
    for (const Sense sense : {Sense::Forward, Sense::Adjoint})
      ASSERT_NO_FATAL_FAILURE(expectAsByMessages(*op, *messages, sense));
  }
}

INSTANTIATE_TEST_SUITE_P(Linop, ByNodes, testing::ValuesIn(test::allOperators()),
                         test::nameOfParameter);

// Fields with elements of two sizes, whose parts are not multiples of the larger one.
TEST(BlockDiagonalByNodes, GivesTheBitsOfMessages) {
  const auto exchange = [](const char* from, const char* to, const Shape& shape,
                           TenonDataType type) {
    return makeRef<Conversion>(world(), test::onLine(shape, from), test::onLine(shape, to), type,
                               CarrierPolicy::fromOptions());
  };
  const std::vector<LinearOpRef> ops = with("messages", 4096, [&]() -> std::vector<LinearOpRef> {
    return {exchange("S0", "S1", {9, 7}, TENON_FLOAT32),
            exchange("S1", "S0", {11, 9}, TENON_FLOAT64), exchange("S0", "B", {13}, TENON_FLOAT32)};
  });
  for (const Index limit : {4096, 24}) {
    const LinearOpRef op = with("node_aware", limit, [&] {
      return collectively(*world(),
                          [&] { return blockDiagonal(ops, CarrierPolicy::fromOptions()); });
    });
    for (const Sense sense : {Sense::Forward, Sense::Adjoint})
      for (int round = 0; round < 2; ++round) {
        std::deque<Ends> ends, want;
        std::vector<const DTensor*> x;
        std::vector<DTensor*> y;
        for (const LinearOpRef& one : ops) {
          x.push_back(ends.emplace_back(*one, sense, 10 + round).x.get());
          y.push_back(ends.back().y.get());
          const Ends& single = want.emplace_back(*one, sense, 10 + round);
          test::act(*one, sense, 1, *single.x, 0, *single.y);
        }
        op->applyMany(sense, x, y);
        for (std::size_t i = 0; i < ops.size(); ++i)
          ASSERT_NO_FATAL_FAILURE(expectSameBits(*y[i], *want[i].y, *op));
      }
  }
}

Ref<Conversion> transpose(Index elements, const char* transport, Index limit = 4096) {
  const Index size = world()->size();
  const Shape shape = {size, size * elements};
  return with(transport, limit, [&] {
    return makeRef<Conversion>(world(), test::onLine(shape, "S0"), test::onLine(shape, "S1"),
                               TENON_FLOAT64, CarrierPolicy::fromOptions());
  });
}

// Each rank sends each other one a part. Of N nodes, each sends one message to each other.
TEST(NodeAware, SendsOneMessageForEachPairOfNodes) {
  const Index size = world()->size(), nodes = static_cast<Index>(allNodes().size());
  Index pairs = 0; // Of ranks on different nodes.
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b)
      pairs += nodeOf(a) != nodeOf(b);
  const auto direct = transpose(5, "auto"), byNodes = transpose(5, "node_aware"),
             atLimit = transpose(5, "node_aware", 40), above = transpose(5, "node_aware", 39);
  for (const auto& [op, expected] : {std::pair(direct, pairs),
                                     {byNodes, nodes * (nodes - 1)},
                                     {atLimit, nodes * (nodes - 1)},
                                     {above, pairs}})
    for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
      const Ends ends(*op, sense, 1);
      test::act(*op, sense, 1, *ends.x, 0, *ends.y); // Announces lanes.
      for (int round = 0; round < 3; ++round)
        EXPECT_EQ(betweenNodes([&, op = op] { test::act(*op, sense, 1, *ends.x, 0, *ends.y); }),
                  expected)
            << op->describe();
    }
}

// A grid of blocks with corners: a node sends a message to each node that has a neighbour of one of
// its ranks. The log counts these, with the bytes of all their parts.
TEST(NodeAware, CountsItsMessagesInTheLog) {
  const int size = world()->size(), columns = size % 2 == 0 ? 2 : 1, rows = size / columns;
  const GridPtr grid = Grid::make({rows, columns});
  LayoutSpec spec{.shape = {4 * rows, 4 * columns},
                  .grid = grid,
                  .properties = {Property::shard(0), Property::shard(1)}};
  const Layout plain(spec);
  for (int d = 0; d < 2; ++d) {
    Halo halo{.boxes = {}, .low = Boundary::Zero, .high = Boundary::Zero};
    for (int part = 0; part < plain.parts(d); ++part)
      halo.boxes.push_back({plain.owned(d, part).begin - 1, plain.owned(d, part).end + 1});
    spec.halos.push_back(halo);
  }
  const auto op = with("node_aware", 4096, [&] {
    return makeRef<Conversion>(world(), plain, Layout(spec), TENON_FLOAT64,
                               CarrierPolicy::fromOptions());
  });
  std::set<std::pair<int, int>> pairs;
  Index elements = 0; // Of all parts between nodes: rows and columns of 4, and corners.
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b) {
      const int dy = std::abs(a / columns - b / columns), dx = std::abs(a % columns - b % columns);
      if (std::max(dy, dx) == 1 && nodeOf(a) != nodeOf(b)) {
        pairs.insert({nodeOf(a), nodeOf(b)});
        elements += dy + dx == 1 ? 4 : 1;
      }
    }
  for (const Sense sense : {Sense::Forward, Sense::Adjoint}) {
    const Ends ends(*op, sense, 1);
    test::act(*op, sense, 1, *ends.x, 0, *ends.y);
    logEnable(true);
    logReset();
    const Index sent = betweenNodes([&] { test::act(*op, sense, 1, *ends.x, 0, *ends.y); });
    logEnable(false);
    Index messages = 0, bytes = 0;
    for (const EventRecord& record : logSnapshot())
      if (record.event == "BetweenNodes") {
        messages += record.messages;
        bytes += record.bytes;
      }
    EXPECT_EQ(sent, static_cast<Index>(pairs.size()));
    EXPECT_EQ(onAllRanks(messages), sent);
    EXPECT_EQ(onAllRanks(bytes), elements * Index(sizeof(double)));
  }
}

// Ranks wait for parts of one action while others are in flight, and large parts on the node need
// several slots of their lanes, which are filled meanwhile.
TEST(NodeAware, CarriesSeveralActionsAtOnce) {
  constexpr int kOps = 5;
  const auto senseOf = [](int i) { return i % 2 == 0 ? Sense::Forward : Sense::Adjoint; };
  std::vector<Ref<Conversion>> ops, messages;
  std::deque<Ends> ends, want;
  for (int i = 0; i < kOps; ++i) {
    const Index elements = i == 2 ? 90000 : 3 + i;
    const Sense sense = senseOf(i);
    ops.push_back(transpose(elements, "node_aware"));
    messages.push_back(transpose(elements, "messages"));
    ends.emplace_back(*ops[i], sense, i);
    want.emplace_back(*messages[i], sense, i);
    ends[i].x->setPrivate(true);
  }
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (int i = 0; i < kOps; ++i) {
      for (Ends* one : {&ends[i], &want[i]})
        fillRaw(*one->x, round + i, /*integers=*/false);
      ops[i]->begin(senseOf(i), 1, *ends[i].x, 0, *ends[i].y);
    }
    for (int i = kOps; i-- > 0;) {
      ops[i]->end(senseOf(i));
      test::act(*messages[i], senseOf(i), 1, *want[i].x, 0, *want[i].y);
      ASSERT_NO_FATAL_FAILURE(expectSameBits(*ends[i].y, *want[i].y, *ops[i]));
    }
  }
}

TEST(NodeAware, IsNamedInTheViewWithTheNumberOfItsParts) {
  const auto op = transpose(5, "node_aware");
  int others = 0;
  for (int rank = 0; rank < world()->size(); ++rank)
    others += nodeOf(rank) != nodeOf(world()->rank());
  const std::string expected =
      world()->size() == 1 ? "transport messages" : fmt::format("{} parts are relayed", others);
  EXPECT_NE(op->describe().find(expected), std::string::npos) << op->describe();
  EXPECT_GE(op->bufferBytes(), 2 * others * 5 * Index(sizeof(double)));
}

bool hasRanksThatShare() {
  std::set<int> nodes = allNodes();
  return static_cast<int>(nodes.size()) < world()->size();
}

TEST(NodeAware, NeedsTheMemoryOfTheNode) {
  const CommPtr without = test::communicatorWithArena(0);
  const auto make = [&](const CommPtr& comm, Index elements) {
    const Shape shape = {comm->size(), comm->size() * elements};
    return collectively(*comm, [&] {
      return makeRef<Conversion>(comm, test::onLine(shape, "S0"), test::onLine(shape, "S1"),
                                 TENON_FLOAT64, test::by(Transport::NodeAware));
    });
  };
  if (!hasRanksThatShare() || allNodes().size() == 1)
    GTEST_SKIP() << "needs several nodes of several ranks";
  expectError(TENON_ERR_SUPPORT, {"node_aware", "-tenon_shared_memory is 0", "use auto"},
              [&] { make(without, 1); });
  // The lanes of parts of 4 KiB fill an arena of 1 MiB.
  const CommPtr small = test::communicatorWithArena(1);
  std::vector<Ref<Conversion>> many;
  expectError(TENON_ERR_MEMORY, {"enlarge -tenon_shared_memory", "to auto"}, [&] {
    for (int i = 0; i < 300; ++i)
      many.push_back(make(small, 512));
  });
  EXPECT_GT(many.size(), 1U);
  many.clear();
  make(small, 512);
}

} // namespace
} // namespace tenon

// Counts the messages between nodes. They are in communicators of all ranks, in which the ranks are
// those of the world; in the communicator of a node, ranks are numbered otherwise.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  int rank = 0, size = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  if (size == tenon::world()->size() && tenon::nodeOf(peer) != tenon::nodeOf(rank))
    ++tenon::sentToOtherNodes;
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}
