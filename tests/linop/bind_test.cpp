// SPDX-License-Identifier: BSD-2-Clause
// Tests where messages are sent from and received, with and without binding an operator to its
// arrays, and that binding replaces new MPI requests by persistent ones, which are started in one
// call. The file defines the MPI functions that create and start requests, counts their calls, and
// calls the real functions by their profiling names (PMPI_*). That results do not change is tested
// in every_operator_test.cpp.
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "operators.hpp"

#include <gtest/gtest.h>

namespace {

struct Requests {
  int made = 0;    // calls of MPI_Isend and MPI_Irecv
  int started = 0; // persistent requests that were started
  int starts = 0;  // calls that start them
  // Addresses of new requests, and of persistent ones when they were created.
  std::vector<const void*> sent, received, fixed;
};
Requests requests;

} // namespace

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++requests.made;
  requests.sent.push_back(data);
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++requests.made;
  requests.received.push_back(data);
  return PMPI_Irecv(data, count, type, peer, tag, comm, request);
}
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  requests.fixed.push_back(data);
  return PMPI_Send_init(data, count, type, peer, tag, comm, request);
}
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  requests.fixed.push_back(data);
  return PMPI_Recv_init(data, count, type, peer, tag, comm, request);
}
int MPI_Start(MPI_Request* request) {
  ++requests.started;
  ++requests.starts;
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request* list) {
  requests.started += count;
  ++requests.starts;
  return PMPI_Startall(count, list);
}

namespace tenon {
namespace {

using test::elementsOf;
using test::Ends;
using test::world;

// An operator in which every rank sends its part to all others.
LinearOpRef allGather(Index columns = 7) {
  return makeRef<Conversion>(world(), test::onLine({10, columns}, "S0"),
                             test::onLine({10, columns}, "B"), TENON_FLOAT64,
                             test::by(Transport::Messages));
}

// Number of messages that this rank sends and receives in it. Each of the 10 rows is on one rank,
// so with more than 10 ranks some have none, and send nothing.
int messagesOf(const DTensor& part) {
  const int others = world()->size() - 1;
  const int holders = std::min<int>(world()->size(), 10);
  const bool holds = part.localElements() > 0;
  return (holds ? others : 0) + holders - (holds ? 1 : 0);
}

bool isIn(const DTensor& tensor, const void* address) {
  const auto* first = tensor.data<double>();
  return address >= first && address < first + tensor.localElements();
}
int countIn(const DTensor& tensor, const std::vector<const void*>& addresses) {
  return static_cast<int>(
      std::ranges::count_if(addresses, [&](const void* address) { return isIn(tensor, address); }));
}

TEST(MessagesOfArrays, AreInTheArraysWithoutBind) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3), others(*op, Sense::Forward, 4);
  for (const Ends* used : {&ends, &others, &ends}) {
    requests = {};
    op->apply(*used->x, *used->y);
    EXPECT_EQ(countIn(*used->x, requests.sent), static_cast<int>(requests.sent.size()));
    EXPECT_EQ(countIn(*used->y, requests.received), static_cast<int>(requests.received.size()));
    EXPECT_EQ(requests.made, messagesOf(*used->x));
  }
  EXPECT_EQ(elementsOf(*ends.y).size(), 70u);
}

// An element that is read, scaled or summed gets its contribution from the buffer.
TEST(MessagesOfArrays, AreReceivedInTheBufferIfYIsRead) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3), cotangents(*op, Sense::Adjoint, 3);
  op->apply(*ends.x, *ends.y);
  const auto once = elementsOf(*ends.y);
  for (const auto& [alpha, beta] : {std::pair(1., 1.), std::pair(2., 0.)}) {
    op->apply(*ends.x, *ends.y);
    requests = {};
    op->apply(alpha, *ends.x, beta, *ends.y);
    EXPECT_EQ(countIn(*ends.y, requests.received), 0);
    EXPECT_EQ(countIn(*ends.x, requests.sent), static_cast<int>(requests.sent.size()));
    const auto twice = elementsOf(*ends.y);
    for (std::size_t i = 0; i < once.size(); ++i)
      EXPECT_EQ(twice[i], 2 * once[i]);
  }
  requests = {};
  op->applyAdjoint(*cotangents.x, *cotangents.y);
  EXPECT_EQ(countIn(*cotangents.y, requests.received), 0);
  EXPECT_EQ(countIn(*cotangents.x, requests.sent), static_cast<int>(requests.sent.size()));
}

// Each rank has four nodes, and two ghosts of nodes of the next rank that do not follow each other.
TEST(MessagesOfArrays, AreGhostsInBothDirections) {
  const int rank = world()->rank(), size = world()->size();
  if (size == 1)
    GTEST_SKIP() << "one rank has no ghosts";
  std::vector<Index> ids;
  for (Index i = 0; i < 4; ++i)
    ids.push_back(4 * rank + i);
  for (Index i : {1, 3})
    ids.push_back(4 * ((rank + 1) % size) + i);
  const IndexMapPtr map = makeIndexMapFromIds(*world(), 4, ids);
  IndexMapOp op(world(), map, map->layoutsOf({0, 3}).first, TENON_FLOAT64,
                test::by(Transport::Messages));
  const Ends ends(op, Sense::Forward, 3), cotangents(op, Sense::Adjoint, 3);
  requests = {};
  op.apply(*ends.x, *ends.y);
  EXPECT_EQ(countIn(*ends.x, requests.sent), 0); // packed
  EXPECT_EQ(countIn(*ends.y, requests.received), 1);
  requests = {};
  op.applyAdjoint(*cotangents.x, *cotangents.y);
  EXPECT_EQ(countIn(*cotangents.x, requests.sent), 1);
  EXPECT_EQ(countIn(*cotangents.y, requests.received), 0); // summed
}

// Rows of 400 elements, such that messages are too large to be sent at once (see
// SendsSmallMessagesWithoutPersistentRequests below).
TEST(Bind, UsesPersistentRequests) {
  const LinearOpRef op = allGather(/*columns=*/400);
  const Ends ends(*op, Sense::Forward, 3), others(*op, Sense::Forward, 4);
  const int messages = messagesOf(*ends.x);
  requests = {};
  op->bind(Sense::Forward, *ends.x, *ends.y);
  EXPECT_EQ(requests.fixed.size(), static_cast<std::size_t>(messages));
  for (int round = 1; round < 4; ++round) {
    op->apply(*ends.x, *ends.y);
    EXPECT_EQ(requests.started, round * messages);
    // One call for all receives, and one for all sends.
    EXPECT_LE(requests.starts, 2 * round);
  }
  EXPECT_EQ(requests.made, 0);
  op->apply(*others.x, *others.y);
  EXPECT_EQ(requests.made, messages);
  op->unbind();
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(requests.made, 2 * messages);
  EXPECT_EQ(requests.started, 3 * messages);
}

TEST(Bind, TakesEffectAfterAnApplyToTheSameArrays) {
  const LinearOpRef op = allGather(/*columns=*/400);
  const Ends ends(*op, Sense::Forward, 3);
  op->apply(*ends.x, *ends.y);
  op->bind(Sense::Forward, *ends.x, *ends.y);
  requests = {};
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(requests.started, messagesOf(*ends.x));
  EXPECT_EQ(requests.made, 0);
}

// MPI sends a small message at once, but not by a persistent request.
TEST(Bind, SendsSmallMessagesWithoutPersistentRequests) {
  const LinearOpRef op = allGather(/*columns=*/1);
  const Ends ends(*op, Sense::Forward, 3);
  requests = {};
  op->bind(Sense::Forward, *ends.x, *ends.y);
  const int receives = static_cast<int>(requests.fixed.size());
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(requests.started, receives);
  EXPECT_EQ(requests.made, messagesOf(*ends.x) - receives);
  EXPECT_TRUE(requests.received.empty());
  const auto bound = elementsOf(*ends.y);
  op->unbind();
  fillRaw(*ends.y, 5, /*integers=*/true);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(elementsOf(*ends.y), bound);
}

TEST(Bind, SendsFromAndReceivesIntoContiguousArrays) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  requests = {};
  op->bind(Sense::Forward, *ends.x, *ends.y);
  for (const void* address : requests.fixed)
    EXPECT_TRUE(isIn(*ends.x, address) || isIn(*ends.y, address));
}

TEST(Bind, OneRankMayBindAndAnotherNot) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  op->apply(*ends.x, *ends.y);
  const auto expected = elementsOf(*ends.y);
  if (world()->rank() % 2 == 0)
    op->bind(Sense::Forward, *ends.x, *ends.y);
  fillRaw(*ends.y, 5, /*integers=*/true);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(elementsOf(*ends.y), expected);
}

TEST(Bind, FollowsTheArraysOfTheTensors) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  op->apply(*ends.x, *ends.y);
  const auto expected = elementsOf(*ends.y);
  std::vector<double> first(70, -1), second(70, -1);
  // In an array in which the next row is `row` elements further, and the next column `column`.
  const auto place = [&](std::vector<double>& array, Index row, Index column) {
    ends.y->placeArray(array.data(), {row, column}, {0, 0}, {0, 0}, /*readOnly=*/false);
  };
  place(first, 7, 1);
  op->bind(Sense::Forward, *ends.x, *ends.y);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(first, expected);
  place(second, 7, 1);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(second, expected);
  place(first, 1, 10); // the bound array with other strides
  op->apply(*ends.x, *ends.y);
  for (Index i = 0; i < 10; ++i)
    for (Index j = 0; j < 7; ++j)
      EXPECT_EQ(first[i + 10 * j], expected[7 * i + j]);
}

} // namespace
} // namespace tenon
