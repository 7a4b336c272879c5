// SPDX-License-Identifier: BSD-2-Clause
// Whole lives of objects, from a new communicator to its end, leave nothing behind in the process.
#include "capi/expect_code.hpp"
#include "support/pages.hpp"

#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tenon::test {
namespace {

struct Held {
  Index heap, mappings, files;
};

Held held() {
  const struct mallinfo2 heap = mallinfo2();
  std::ifstream maps("/proc/self/maps");
  Index mappings = 0, files = 0;
  for (std::string line; std::getline(maps, line);)
    ++mappings;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd"))
    ++files;
  return {static_cast<Index>(heap.uordblks + heap.hblkhd), mappings, files};
}

// A convolution over rows, there and back, from memory that the other ranks may read.
void live() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int ranks = worldSize();
  const TenonInt shape[] = {1, 2, 24, 6}, kernel[] = {3, 3};
  TenonPartition rows = nullptr;
  TenonLayout split = nullptr, result = nullptr, cotangents = nullptr;
  TenonDTensor x = nullptr, y = nullptr, dy = nullptr, dx = nullptr;
  TenonLayer conv = nullptr;
  expectSuccess(TenonPartitionCreate(comm, 1, &ranks, &rows));
  expectSuccess(TenonLayoutCreateSharded(rows, 4, shape, "S2", &split));
  expectSuccess(TenonDTensorCreate(split, TENON_FLOAT32, &x));
  expectSuccess(TenonDTensorFillNormal(x, 1, 2, 0, 1));
  expectSuccess(TenonLayerCreateConv(comm, 2, 2, 3, kernel, &conv));
  expectSuccess(TenonLayerSetUp(conv, split));
  expectSuccess(TenonLayerCreateOutput(conv, 0, &y));
  expectSuccess(TenonLayerApply(conv, x, y));
  expectSuccess(TenonLayerGetOutputLayout(conv, 0, &result));
  expectSuccess(TenonLayoutGetDual(result, &cotangents));
  expectSuccess(TenonDTensorCreate(cotangents, TENON_FLOAT32, &dy));
  expectSuccess(TenonDTensorFillConstant(dy, 1));
  expectSuccess(TenonLayerCreateInputCotangent(conv, 0, &dx));
  expectSuccess(TenonLayerApplyAdjoint(conv, dy, dx));
  const Pages field(3, MAP_PRIVATE);
  expectSuccess(TenonPartitionShareMemory(rows, field.page(0), 3 * Pages::size()));
  expectSuccess(TenonPartitionUnshareMemory(rows, field.page(0)));
  for (TenonDTensor* tensor : {&x, &y, &dy, &dx})
    expectSuccess(TenonDTensorDestroy(tensor));
  expectSuccess(TenonLayerDestroy(&conv));
  for (TenonLayout* layout : {&split, &result, &cotangents})
    expectSuccess(TenonLayoutDestroy(layout));
  expectSuccess(TenonPartitionDestroy(&rows));
  MPI_Comm_free(&comm);
}

// The heap's count includes what malloc keeps for later, a few hundred bytes a life, and mappings
// those of the allocator, AddressSanitizer's too.
TEST_F(CApi, AWholeLifeLeavesNoMemoryMappingOrFileBehind) {
  constexpr int kLives = 40;
  const auto liveOften = [] {
    for (int i = 0; i < kLives; ++i)
      live();
    return held();
  };
  liveOften();
  const Held before = liveOften(), after = liveOften();
  EXPECT_LT(after.mappings - before.mappings, kLives);
  EXPECT_EQ(after.files, before.files);
  EXPECT_LT(after.heap - before.heap, 1024 * kLives);
}

} // namespace
} // namespace tenon::test
