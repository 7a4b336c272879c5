// SPDX-License-Identifier: BSD-2-Clause
// Makes collective calls of the C API while allocations fail on one rank (`failingRank`) and not on
// the others: allocation n of the call alone, or n and all following ones, for each rank and for n
// = 0, 1, 2, ... until the call no longer makes so many. The call must then return TENON_ERR_MEMORY
// on all ranks; no rank ends the program or waits for another that has left the call. The call is
// made again without failures, and must succeed.
//
// failed_allocation_test.cpp tests the same on one rank, with all calls of the objects' lists.
#include "capi/expect_code.hpp"
#include "capi/failed_allocation.hpp"
#include "comm/agreement/agreement.hpp"
#include "comm/communicator.hpp"
#include "sys/errors/object.hpp"
#include "sys/memory/memory.hpp"
#include "sys/options/options.hpp"

#include <optional>

namespace tenon::test {
namespace {

// agreeOnText() and agree() are the collective checks in which all ranks get the same result or the
// same error. Rank 1 reports an error `bad`, and allocations fail on the failing rank: all ranks
// get an agreed error at once, without a timeout, and the next agreement pairs the right messages.
TEST(FailedAllocationOfOneRank, IsAgreedOn) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  if (comm->size() == 1)
    GTEST_SKIP() << "needs another rank";
  const std::optional<Error> bad =
      comm->rank() == 1 ? std::optional(Error(TENON_ERR_ARG, "bad")) : std::nullopt;
  for (int failingRank = 0; failingRank < comm->size(); ++failingRank)
    for (const bool allFollowing : {false, true})
      for (long n = 0; n < 12; ++n) {
        std::optional<Error> error;
        if (comm->rank() == failingRank)
          failAllocation(n, allFollowing);
        try {
          agreeOnText(*comm, "a text that all ranks have",
                      [] { return std::string("text that is the same, and not short"); });
          agree(*comm, bad);
        } catch (...) {
          error = caughtError();
        }
        if (comm->rank() == failingRank)
          endFailures();
        ASSERT_TRUE(error);
        EXPECT_TRUE(error->isAgreed()) << error->text();
        EXPECT_NE(error->code(), TENON_ERR_TIMEOUT) << error->text();
        EXPECT_FALSE(comm->isOutOfStep());
        agreeOnText(*comm, "what comes next", [&] { return std::to_string(n); });
      }
}

// The result of a call on all ranks.
struct Outcome {
  TenonErrorCode code = TENON_SUCCESS; // the least code of the ranks
  bool areAlike = true;                // all ranks returned the same code
  bool hasFailed = false;              // an allocation failed, on any rank
  bool isWrong = false;                // an expectation of the test failed, on any rank
};

// Collective. `code` is this rank's result, `failed` the number of allocations that failed on it.
Outcome outcomeOf(TenonErrorCode code, long failed) {
  struct {
    int low, high, failed, wrong;
  } mine{code, -code, failed > 0 ? -1 : 0, testing::Test::HasFailure() ? -1 : 0}, all{};
  MPI_Allreduce(&mine, &all, 4, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return {static_cast<TenonErrorCode>(all.low), all.low == -all.high, all.failed != 0,
          all.wrong != 0};
}

class OfOneRank : public WithoutMemory {
protected:
  // For each failing rank and allocation n: makes the calls `begin`; the collective `call` while
  // allocations fail; if it returned an error, `unchanged` (which checks that it has changed
  // nothing) and `call` again; then `end`, which destroys the objects.
  void tryAll(const Calls& begin, const Step& call, const Calls& end, const Calls& unchanged = {}) {
    callAll(
        concatenated(concatenated(begin, {call}), end)); // also makes what exists once per program
    const std::size_t alive = liveObjects().size();
    const Index bytes = bytesAlive();
    for (int failingRank = 0; failingRank < worldSize(); ++failingRank)
      for (const bool allFollowing : {false, true})
        for (long n = 0, completeRuns = 0; completeRuns < 2; n += strideAt(n, dense)) {
          SCOPED_TRACE(testing::Message()
                       << call.name << ", allocation " << n << " of rank " << failingRank
                       << (allFollowing ? " and all that follow" : ""));
          callAll(begin);
          const Outcome outcome =
              failingCall(call, unchanged, n, worldRank() == failingRank, allFollowing);
          completeRuns = outcome.hasFailed ? 0 : completeRuns + 1;
          if (outcome.isWrong)
            return;
          callAll(end);
          EXPECT_EQ(liveObjects().size(), alive);
          EXPECT_EQ(bytesAlive(), bytes);
        }
  }

  long dense = kDenseAllocations; // see strideAt()

private:
  static Outcome failingCall(const Step& step, const Calls& unchanged, long n, bool isFailingRank,
                             bool allFollowing) {
    failures.count = 0;
    if (isFailingRank)
      failAllocation(n, allFollowing);
    const TenonErrorCode code = step.call();
    const Outcome outcome = outcomeOf(code, endFailures());
    EXPECT_TRUE(outcome.areAlike) << TenonErrorName(code) << ", " << lastMessage();
    if (code == TENON_SUCCESS)
      return outcomeOf(code, outcome.hasFailed);
    EXPECT_TRUE(outcome.hasFailed && code == TENON_ERR_MEMORY)
        << TenonErrorName(code) << ", " << lastMessage();
    if (!outcomeOf(code, 0).isWrong) {
      callAll(unchanged);
      EXPECT_EQ(step.call(), TENON_SUCCESS) << "again: " << lastMessage();
    }
    return outcomeOf(code, outcome.hasFailed);
  }
};

using OfOneRankWithNetwork = WithNetwork<OfOneRank>;

// At the first use of a communicator, the library duplicates it and creates the memory that ranks
// of one node share.
TEST_F(OfOneRank, FirstUseOfACommunicator) {
  MPI_Comm comm = MPI_COMM_NULL;
  TenonLayer layer = nullptr;
  tryAll({ TENON_STEPS("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm);) },
         TENON_STEP(TenonLayerCreateType(comm, "tanh", &layer)),
         {
           TENON_STEP(TenonLayerDestroy(&layer)),
               TENON_STEPS("MPI_Comm_free", MPI_Comm_free(&comm);),
         });
}

// A process grid creates the communicator of an axis at its first use.
TEST_F(OfOneRank, CommunicatorOfAnAxis) {
  const int extents[2] = {1, worldSize()};
  MPI_Comm comm = MPI_COMM_NULL, line = MPI_COMM_NULL;
  TenonPartition grid = nullptr;
  tryAll(
      {
        TENON_STEPS("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm);),
            TENON_STEP(TenonPartitionCreate(comm, 2, extents, &grid)),
      },
      TENON_STEP(TenonPartitionGetAxisComm(grid, 1, &line)),
      {
        TENON_STEP(TenonPartitionDestroy(&grid)),
            TENON_STEPS("MPI_Comm_free", MPI_Comm_free(&comm);),
      });
}

TEST_F(OfOneRankWithNetwork, LayerSetUp) {
  tryAll(creation, TENON_STEP(TenonLayerSetUp(network, layout)), destruction);
}

// Conversions with collective operations of MPI create communicators. The test uses a new
// communicator, for which the library has not created any.
TEST_F(OfOneRank, LayerSetUpWithCollectives) {
  MPI_Comm comm = MPI_COMM_NULL;
  TenonLayout layout = nullptr;
  TenonLayer conv = nullptr;
  const OwnBlock block;
  options().set("-tenon_conversion_route", "collective");
  tryAll(
      {
        TENON_STEPS("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &comm);),
            TENON_STEP(TenonLayoutCreateFromBoxes(comm, 4, kShape, block.low, block.high, &layout)),
            TENON_STEP(TenonLayerCreateConv(comm, 2, 2, 2, kKernel, &conv)),
      },
      TENON_STEP(TenonLayerSetUp(conv, layout)),
      {
        TENON_STEP(TenonLayerDestroy(&conv)), TENON_STEP(TenonLayoutDestroy(&layout)),
            TENON_STEPS("MPI_Comm_free", MPI_Comm_free(&comm);),
      });
  options().set("-tenon_conversion_route", "auto");
}

TEST_F(OfOneRank, LayoutOfBoxes) {
  TenonLayout layout = nullptr;
  const OwnBlock block;
  tryAll({},
         TENON_STEP(
             TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 4, kShape, block.low, block.high, &layout)),
         {TENON_STEP(TenonLayoutDestroy(&layout))});
}

TEST_F(OfOneRank, Machine) {
  TenonMachine machine = nullptr;
  tryAll({}, TENON_STEP(TenonMachineCreateFromComm(MPI_COMM_WORLD, &machine)),
         {TENON_STEP(TenonMachineDestroy(&machine))});
}

// A search makes a hundred thousand allocations, so fewer of them are tried.
class OfOneRankWithPlan : public OfOneRankWithNetwork {
protected:
  OfOneRankWithPlan() { dense = kDenseAllocations / 3; }
};

// Rank 0 searches the plan, and the others wait for the result.
TEST_F(OfOneRankWithPlan, SetUp) {
  tryAll(concatenated(creation,
                      {
                          TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                          TENON_STEP(TenonPlanSetInput(plan, 0, layout)),
                      }),
         TENON_STEP(TenonPlanSetUp(plan)), destruction);
}

TEST_F(OfOneRankWithPlan, Files) {
  const char* const path = "failed_allocation/plan.json";
  callAll(concatenated(creation, {
                                     TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                                     TENON_STEP(TenonPlanSetInput(plan, 0, layout)),
                                     TENON_STEP(TenonPlanSearch(plan)),
                                 }));
  tryAll({}, TENON_STEP(TenonPlanSave(plan, path)), {});
  tryAll({}, TENON_STEP(TenonPlanLoad(plan, path)), {});
  callAll(destruction);
}

// Calls that write and read files, with both transports: "together" (all ranks write their data
// into the file) and "root" (rank 0 writes all). The checkpoint contains a network and an
// optimizer, whose tensors are the same on all ranks, and a distributed tensor x.
class OfOneRankWithFiles : public OfOneRankWithNetwork,
                           public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    if (!TENON_TEST_HAS_HDF5)
      GTEST_SKIP() << "without HDF5";
    OfOneRankWithNetwork::SetUp();
    options().set("-tenon_checkpoint_transport", GetParam());
    callAll(concatenated(
        creation,
        {
            TENON_STEP(TenonLayerSetUp(network, layout)),
            TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
            TENON_STEP(TenonDTensorCreate(layout, TENON_FLOAT64, &x)),
            TENON_STEP(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/0, 0, 1)),
            TENON_STEP(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint)),
            TENON_STEP(TenonObjectSetFromOptions(objectOf(checkpoint))),
            TENON_STEP(TenonCheckpointAddLayer(checkpoint, network, "the network, by name")),
            TENON_STEP(TenonCheckpointAddOptimizer(checkpoint, optimizer, "adam")),
            TENON_STEP(TenonCheckpointAddTensor(checkpoint, x, "field")),
            TENON_STEP(
                TenonObjectSetText(objectOf(checkpoint), "who", "a value that is not short")),
        }));
  }
  void TearDown() override {
    if (!TENON_TEST_HAS_HDF5)
      return;
    callAll(destruction);
    options().set("-tenon_checkpoint_transport", "auto");
    OfOneRankWithNetwork::TearDown();
  }
};
INSTANTIATE_TEST_SUITE_P(Transports, OfOneRankWithFiles, testing::Values("together", "root"));

TEST_P(OfOneRankWithFiles, CheckpointWrite) {
  tryAll({}, TENON_STEP(TenonCheckpointWrite(checkpoint, "failed_allocation/state.h5")), {});
}

TEST_P(OfOneRankWithFiles, CheckpointWriteStep) {
  tryAll({}, TENON_STEP(TenonCheckpointWriteStep(checkpoint, "failed_allocation/steps", ++step)),
         {});
}

// The file has x = 3 and weight = 4, the objects 1 and 2. A failed call must leave these, the
// repeated call must have read the file's.
TEST_P(OfOneRankWithFiles, CheckpointRead) {
  const char* const path = "failed_allocation/state.h5";
  TenonDTensor weight = nullptr;
  callAll({
      TENON_STEP(TenonLayerGetParameter(network, 0, &weight)),
      TENON_STEP(TenonDTensorFillConstant(x, 3)),
      TENON_STEP(TenonDTensorFillConstant(weight, 4)),
      TENON_STEP(TenonCheckpointWrite(checkpoint, path)),
  });
  const auto expectValues = [&](double inField, double inWeight) {
    for (const auto& [tensor, expected] : {std::pair(x, inField), {weight, inWeight}}) {
      double value = 0;
      TenonCall(TenonDTensorMaxAbs(tensor, &value));
      EXPECT_EQ(value, expected);
    }
    return TENON_SUCCESS;
  };
  tryAll(
      {
          TENON_STEP(TenonDTensorFillConstant(x, 1)),
          TENON_STEP(TenonDTensorFillConstant(weight, 2)),
      },
      TENON_STEP(TenonCheckpointRead(checkpoint, path)), {TENON_STEP(expectValues(3, 4))},
      {TENON_STEP(expectValues(1, 2))});
  callAll({TENON_STEP(TenonDTensorDestroy(&weight))});
}

// The latest file, of step 2, is cut off at 5000 bytes, so the call reads the one of step 1.
TEST_P(OfOneRankWithFiles, CheckpointReadLatest) {
  const char* const folder = "failed_allocation/steps";
  callAll({
      TENON_STEP(TenonCheckpointWriteStep(checkpoint, folder, 1)),
      TENON_STEP(TenonCheckpointWriteStep(checkpoint, folder, 2)),
  });
  if (worldRank() == 0)
    std::filesystem::resize_file("failed_allocation/steps/step-2.h5", 5000);
  MPI_Barrier(MPI_COMM_WORLD);
  testing::internal::CaptureStderr();
  tryAll({}, TENON_STEP(TenonCheckpointReadLatest(checkpoint, folder, &step)), {});
  const std::string warnings = testing::internal::GetCapturedStderr();
  if (worldRank() == 0) {
    EXPECT_NE(warnings.find("step-2.h5': it has 5000 bytes"), std::string::npos) << warnings;
  }
  EXPECT_EQ(step, 1);
}

TEST_P(OfOneRankWithFiles, FieldSeries) {
  TenonFieldSeries series = nullptr;
  step = 0;
  tryAll(
      {
          TENON_STEP(TenonFieldSeriesCreate(MPI_COMM_WORLD, "failed_allocation/heat", 2, &series)),
          TENON_STEP(TenonObjectSetFromOptions(objectOf(series))),
          TENON_STEP(TenonFieldSeriesAddTensor(series, x, "field", nullptr)),
          TENON_STEP(TenonFieldSeriesWrite(series, 1, 0.5)),
      },
      TENON_STEP(TenonFieldSeriesWrite(series, 2, 1.5)),
      {TENON_STEP(TenonFieldSeriesDestroy(&series))});
}

TEST_P(OfOneRankWithFiles, SamplesFromHdf5) {
  callAll({TENON_STEP(TenonCheckpointWrite(checkpoint, "failed_allocation/state.h5"))});
  TenonDataset dataset = nullptr;
  const Step create = TENON_STEP(TenonDatasetCreateHDF5(
      MPI_COMM_WORLD, "failed_allocation/state.h5", "tensors/field", nullptr, &dataset));
  const Step destroy = TENON_STEP(TenonDatasetDestroy(&dataset));
  tryAll({}, create, {destroy});
  tryAll({create}, TENON_STEP(TenonDatasetSetUp(dataset, layout, nullptr)), {destroy});
}

} // namespace
} // namespace tenon::test
