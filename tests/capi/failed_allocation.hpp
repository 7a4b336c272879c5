// SPDX-License-Identifier: BSD-2-Clause
// Shared by the two tests of failed allocations: lists of calls of the C API, a fixture under which
// no error ends the program, and a fixture with calls that create, use and destroy a network. A
// test runs a list of calls again and again, and in each run another allocation fails:
//
//   const Calls begin{TENON_STEP(TenonDTensorCreate(layout, TENON_FLOAT64, &x)), ...};
//   const Calls end{TENON_STEP(TenonDTensorDestroy(&x)), ...};
//
// The header replaces the global operator new (support/count_allocations.hpp), so include it in one
// source file of a test program of its own.
#pragma once

#include "capi/expect_code.hpp"
#include "support/count_allocations.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test {

// One call, or several as one step, of a list.
struct Step {
  const char* name; // for messages: the call's source text
  std::function<TenonErrorCode()> call;
};
// The step of one call that returns a code. Its arguments are captured by reference.
#define TENON_STEP(call)                                                                           \
  Step {                                                                                           \
#call, [&] { return call; }                                                                    \
  }
// The step of several statements; TenonCall() in them returns at the first error.
#define TENON_STEPS(name, ...)                                                                     \
  Step {                                                                                           \
    name, [&]() -> TenonErrorCode {                                                                \
      __VA_ARGS__                                                                                  \
      return TENON_SUCCESS;                                                                        \
    }                                                                                              \
  }
using Calls = std::vector<Step>;

inline Calls concatenated(Calls first, const Calls& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Makes all calls, which must succeed; returns the number of their allocations.
inline long callAll(const Calls& calls) {
  const long before = allocations;
  for (const Step& step : calls)
    EXPECT_EQ(step.call(), TENON_SUCCESS) << step.name << ": " << lastMessage();
  return allocations - before;
}

// Which allocations the tests let fail: each of the first kDenseAllocations, then every second of
// as many more, then every third, and so on. strideAt(n) is the distance from allocation n to the
// next.
inline constexpr long kDenseAllocations = TENON_TEST_DENSE_ALLOCATIONS;
inline long strideAt(long n, long dense = kDenseAllocations) {
  return 1 + n / dense;
}

// Fixture: errors are returned and not printed, an error that would be fatal is counted and fails
// the test at its end, and rank 0 makes an empty folder for files.
class WithoutMemory : public testing::Test {
protected:
  void SetUp() override {
    fatalErrors = 0;
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    TenonSetFatalErrorHandler(noteFatal, nullptr);
    if (worldRank() == 0) {
      std::filesystem::remove_all(kFolder);
      std::filesystem::create_directory(kFolder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    EXPECT_EQ(fatalErrors, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (worldRank() == 0)
      std::filesystem::remove_all(kFolder);
    TenonSetFatalErrorHandler(nullptr, nullptr);
    TenonPopErrorHandler();
  }

  static constexpr const char* kFolder = "failed_allocation";

private:
  static inline int fatalErrors = 0;
  static void noteFatal(TenonErrorCode, int, const char*, const char*, const char*, int, void*) {
    ++fatalErrors;
  }
};

inline constexpr TenonInt kShape[4] = {2, 2, 6, 6};
inline constexpr TenonInt kKernel[2] = {3, 3}, kPadding[2] = {1, 1};

// This rank's block [low, high) of a field of shape kShape: dimension 2 is divided among the ranks.
struct OwnBlock {
  TenonInt low[4] = {0, 0, kShape[2] * worldRank() / worldSize(), 0};
  TenonInt high[4] = {kShape[0], kShape[1], kShape[2] * (worldRank() + 1) / worldSize(), kShape[3]};
};

// Adds a network of a periodic convolution and tanh to a fixture: handles, and calls that create
// the layers, evaluate them after their set-up, and destroy all handles (a null handle is no
// error). The handles below them that `creation` does not create are for single tests.
template <class Fixture>
class WithNetwork : public Fixture {
protected:
  const Calls creation{
      TENON_STEP(
          TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 4, kShape, block.low, block.high, &layout)),
      TENON_STEP(TenonLayerCreateSequential(MPI_COMM_WORLD, &network)),
      TENON_STEP(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 2, 2, kKernel, &conv)),
      TENON_STEP(TenonLayerSetPadding(conv, kPadding, nullptr)),
      TENON_STEP(TenonObjectSetOptionsPrefix(TenonObject(conv), "a_prefix_that_is_not_short_")),
      TENON_STEP(TenonObjectSetFromOptions(objectOf(conv))),
      TENON_STEP(TenonObjectSetText(objectOf(conv), "boundary", "periodic")),
      TENON_STEP(TenonLayerCreateType(MPI_COMM_WORLD, "tanh", &tanh)),
      TENON_STEP(TenonLayerSequentialAdd(network, conv)),
      TENON_STEP(TenonLayerSequentialAdd(network, tanh)),
      TENON_STEP(TenonLayerSetDataType(network, TENON_FLOAT64)),
  };
  const Calls evaluation{
      TENON_STEP(TenonLayerInitialize(network, 1)),
      TENON_STEP(TenonDTensorCreate(layout, TENON_FLOAT64, &x)),
      TENON_STEP(TenonLayerCreateOutput(network, 0, &y)),
      TENON_STEP(TenonLayerCreateOutputCotangent(network, 0, &dy)),
      TENON_STEP(TenonLayerCreateInputCotangent(network, 0, &dx)),
      TENON_STEP(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/0, 0, 1)),
      TENON_STEP(TenonDTensorFillConstant(dy, 1)),
      TENON_STEP(TenonLayerApply(network, x, y)),
      TENON_STEP(TenonLayerApplyAdjoint(network, dy, dx)),
  };
  const Calls destruction{
      TENON_STEP(TenonCheckpointDestroy(&checkpoint)),
      TENON_STEP(TenonOptimizerDestroy(&optimizer)),
      TENON_STEP(TenonPlanDestroy(&plan)),
      TENON_STEP(TenonLayerDestroy(&read)),
      TENON_STEP(TenonDTensorDestroy(&x)),
      TENON_STEP(TenonDTensorDestroy(&y)),
      TENON_STEP(TenonDTensorDestroy(&dx)),
      TENON_STEP(TenonDTensorDestroy(&dy)),
      TENON_STEP(TenonLayerDestroy(&network)),
      TENON_STEP(TenonLayerDestroy(&conv)),
      TENON_STEP(TenonLayerDestroy(&tanh)),
      TENON_STEP(TenonLayoutDestroy(&layout)),
  };
  const OwnBlock block;
  TenonLayout layout = nullptr;
  TenonLayer network = nullptr, conv = nullptr, tanh = nullptr, read = nullptr;
  TenonDTensor x = nullptr, y = nullptr, dx = nullptr, dy = nullptr;
  TenonOptimizer optimizer = nullptr;
  TenonCheckpoint checkpoint = nullptr;
  TenonPlan plan = nullptr;
  TenonInt step = 0;
};

} // namespace tenon::test
