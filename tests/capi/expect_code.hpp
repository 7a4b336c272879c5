// SPDX-License-Identifier: BSD-2-Clause
// Checks for tests of the C API: the error code that a call returns, and parts of the message that
// TenonGetLastError() then returns. expectCommonCode() is for collective calls, whose error must
// have the same message on all ranks. Fixture CApi has a process grid and functions that create
// objects.
#pragma once

#include <tenon.h>

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace tenon::test {

inline int worldRank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int worldSize() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// The message of the last error on this rank.
inline std::string lastMessage() {
  char text[4096] = "";
  TenonGetLastError(nullptr, text, sizeof text, nullptr);
  return text;
}

// Converts a handle of any class to the handle that TenonObject...() calls accept.
template <class Handle>
TenonObject objectOf(Handle handle) {
  return reinterpret_cast<TenonObject>(handle);
}

template <class Handle>
TenonErrorCode setInteger(Handle handle, const char* name, TenonInt value) {
  return TenonObjectSetIntegers(objectOf(handle), name, 1, &value);
}

// `returned` is the result of the last call; `parts` must occur in the message of its error.
inline void expectCode(TenonErrorCode expected, TenonErrorCode returned,
                       std::initializer_list<const char*> parts) {
  EXPECT_STREQ(TenonErrorName(expected), TenonErrorName(returned)) << lastMessage();
  for (const char* part : parts)
    EXPECT_NE(lastMessage().find(part), std::string::npos)
        << "'" << part << "' is missing in: " << lastMessage();
}

// expectCode() for a collective call, whose message must be equal on all ranks. Collective.
inline void expectCommonCode(TenonErrorCode expected, TenonErrorCode returned,
                             std::initializer_list<const char*> parts) {
  expectCode(expected, returned, parts);
  const std::string ownText = lastMessage();
  std::string text = ownText; // after the broadcast: the message of rank 0
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(ownText, text);
}

inline void expectSuccess(TenonErrorCode returned) {
  expectCode(TENON_SUCCESS, returned, {});
}

// Fixture whose error handler returns errors without printing them, since tests provoke them. Its
// functions and handles are to be used on all ranks.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    const int extent = worldSize();
    expectSuccess(TenonPartitionCreate(MPI_COMM_WORLD, 1, &extent, &all_));
  }
  void TearDown() override {
    expectSuccess(TenonPartitionDestroy(&all_));
    TenonPopErrorHandler();
  }

  static bool isLast() { return worldRank() == worldSize() - 1; }

  TenonLayout layout(std::initializer_list<TenonInt> shape, const char* properties) {
    TenonLayout created = nullptr;
    expectSuccess(TenonLayoutCreateSharded(all_, static_cast<int>(shape.size()), shape.begin(),
                                           properties, &created));
    return created;
  }
  TenonDTensor tensor(TenonLayout layout, TenonDataType type) {
    TenonDTensor created = nullptr;
    expectSuccess(TenonDTensorCreate(layout, type, &created));
    return created;
  }

  TenonPartition all_ = nullptr; // process grid of one axis, which has all ranks
};

} // namespace tenon::test
