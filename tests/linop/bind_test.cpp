// SPDX-License-Identifier: BSD-2-Clause
// Tests that binding an operator to two arrays replaces new MPI requests by persistent ones. The
// file defines the MPI functions that create and start requests, counts their calls, and calls the
// real functions by their profiling names (PMPI_*). That results do not change is tested in
// every_operator_test.cpp.
#include "operators.hpp"

#include <gtest/gtest.h>

namespace {

struct Requests {
  int made = 0;                   // calls of MPI_Isend and MPI_Irecv
  int started = 0;                // persistent requests that were started
  std::vector<const void*> fixed; // addresses of persistent requests
};
Requests requests;

} // namespace

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++requests.made;
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++requests.made;
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
  return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request* list) {
  requests.started += count;
  return PMPI_Startall(count, list);
}

namespace tenon {
namespace {

using test::elementsOf;
using test::Ends;
using test::world;

// An operator in which every rank sends its part to all others.
LinearOpRef allGather() {
  return makeRef<Conversion>(world(), test::onLine({10, 7}, "S0"), test::onLine({10, 7}, "B"),
                             TENON_FLOAT64, test::by(Transport::Messages));
}

// Number of messages that this rank sends and receives in it.
int messagesOf(const DTensor& part) {
  const int others = world()->size() - 1;
  const int holders = std::min<int>(world()->size(), 10);
  const bool holds = part.localElements() > 0;
  return (holds ? others : 0) + holders - (holds ? 1 : 0);
}

TEST(Bind, UsesPersistentRequests) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3), others(*op, Sense::Forward, 4);
  const int messages = messagesOf(*ends.x);
  requests = {};
  op->bind(Sense::Forward, *ends.x, *ends.y);
  EXPECT_EQ(requests.fixed.size(), static_cast<std::size_t>(messages));
  for (int round = 1; round < 4; ++round) {
    op->apply(*ends.x, *ends.y);
    EXPECT_EQ(requests.started, round * messages);
  }
  EXPECT_EQ(requests.made, 0);
  op->apply(*others.x, *others.y);
  EXPECT_EQ(requests.made, messages);
  op->unbind();
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(requests.made, 2 * messages);
  EXPECT_EQ(requests.started, 3 * messages);
}

TEST(Bind, SendsFromAndReceivesIntoContiguousArrays) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  requests = {};
  op->bind(Sense::Forward, *ends.x, *ends.y);
  const auto isIn = [](const void* address, const DTensor& tensor) {
    const auto* first = tensor.data<double>();
    return address >= first && address < first + tensor.localElements();
  };
  for (const void* address : requests.fixed)
    EXPECT_TRUE(isIn(address, *ends.x) || isIn(address, *ends.y));
}

TEST(Bind, OneRankMayBindAndAnotherNot) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  op->apply(*ends.x, *ends.y);
  const auto expected = elementsOf(*ends.y);
  if (world()->rank() % 2 == 0)
    op->bind(Sense::Forward, *ends.x, *ends.y);
  fillRaw(*ends.y, 5, true);
  op->apply(*ends.x, *ends.y);
  EXPECT_EQ(elementsOf(*ends.y), expected);
}

TEST(Bind, FollowsTheArraysOfTheTensors) {
  const LinearOpRef op = allGather();
  const Ends ends(*op, Sense::Forward, 3);
  op->apply(*ends.x, *ends.y);
  const auto expected = elementsOf(*ends.y);
  std::vector<double> first(70, -1), second(70, -1);
  const auto place = [&](std::vector<double>& array, Index row, Index column) {
    ends.y->placeArray(array.data(), {row, column}, {0, 0}, {0, 0}, false);
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
