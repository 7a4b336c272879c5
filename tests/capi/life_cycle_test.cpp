// SPDX-License-Identifier: BSD-2-Clause
// Looks for leaks of the library: objects are created, used and destroyed 80 times, on a new
// communicator each time; then 40 more times must not increase the memory on the heap, the number
// of memory mappings or the number of open files of the process.
#include "capi/expect_code.hpp"
#include "support/pages.hpp"

#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tenon::test {
namespace {

// What the process has: bytes on the heap, memory mappings, open files.
struct Resources {
  Index heap, mappings, files;
};

Resources resources() {
  const struct mallinfo2 heap = mallinfo2();
  std::ifstream maps("/proc/self/maps");
  Index mappings = 0, files = 0;
  for (std::string line; std::getline(maps, line);)
    ++mappings;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd"))
    ++files;
  return {static_cast<Index>(heap.uordblks + heap.hblkhd), mappings, files};
}

// Creates and destroys: a communicator, a convolution with its tensors, which is evaluated together
// with its adjoint, and memory that is shared with the other ranks.
void createUseDestroy() {
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
  expectSuccess(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/2, 0, 1));
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

// Small increases are allowed, since malloc and AddressSanitizer keep freed memory and mappings for
// later use: less than 1024 bytes and one mapping per round.
TEST_F(CApi, CreationUseAndDestructionLeaveNoMemoryMappingOrFile) {
  constexpr int kRounds = 40;
  const auto repeat = [] {
    for (int i = 0; i < kRounds; ++i)
      createUseDestroy();
    return resources();
  };
  repeat();
  const Resources before = repeat(), after = repeat();
  EXPECT_LT(after.mappings - before.mappings, kRounds);
  EXPECT_EQ(after.files, before.files);
  EXPECT_LT(after.heap - before.heap, 1024 * kRounds);
}

} // namespace
} // namespace tenon::test
