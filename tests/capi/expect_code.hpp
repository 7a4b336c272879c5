// SPDX-License-Identifier: BSD-2-Clause
// Checks of C calls: the code that comes back, and the words that the record of the error holds.
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

inline std::string lastMessage() {
  char text[4096] = "";
  TenonGetLastError(nullptr, text, sizeof text, nullptr);
  return text;
}

// A handle of any class as that of the calls for all classes.
template <class Handle>
TenonObject objectOf(Handle handle) {
  return reinterpret_cast<TenonObject>(handle);
}

// The call has returned `got`.
inline void expectCode(TenonErrorCode expected, TenonErrorCode got,
                       std::initializer_list<const char*> parts) {
  EXPECT_STREQ(TenonErrorName(expected), TenonErrorName(got)) << lastMessage();
  for (const char* part : parts)
    EXPECT_NE(lastMessage().find(part), std::string::npos)
        << "'" << part << "' is missing in: " << lastMessage();
}

// The same for a collective call: all ranks have the same words.
inline void expectCommonCode(TenonErrorCode expected, TenonErrorCode got,
                             std::initializer_list<const char*> parts) {
  expectCode(expected, got, parts);
  std::string text = lastMessage();
  const std::string mine = text;
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  EXPECT_EQ(mine, text);
}

inline void expectSuccess(TenonErrorCode got) {
  expectCode(TENON_SUCCESS, got, {});
}

// Errors are expected here, so nothing prints them; handles that tests need on all ranks.
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
    TenonLayout made = nullptr;
    expectSuccess(TenonLayoutCreateSharded(all_, static_cast<int>(shape.size()), shape.begin(),
                                           properties, &made));
    return made;
  }
  TenonDTensor tensor(TenonLayout layout, TenonDataType type) {
    TenonDTensor made = nullptr;
    expectSuccess(TenonDTensorCreate(layout, type, &made));
    return made;
  }

  TenonPartition all_ = nullptr; // one axis over all ranks
};

} // namespace tenon::test
