// SPDX-License-Identifier: BSD-2-Clause
// In a collective call an allocation fails on one rank, each of the first ones and then some:
// alone, or with all that follow to the end of the call. All ranks then return the same code, none
// ends the program or waits in vain, and the call can be made again.
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

// In an agreement: the others hear of it at once, and all are in step afterwards.
TEST(FailedAllocationOfOneRank, IsAgreedOn) {
  const CommPtr comm = Communicator::of(MPI_COMM_WORLD);
  if (comm->size() == 1)
    GTEST_SKIP() << "needs another rank";
  const std::optional<Error> bad =
      comm->rank() == 1 ? std::optional(Error(TENON_ERR_ARG, "bad")) : std::nullopt;
  for (int poor = 0; poor < comm->size(); ++poor)
    for (const bool forGood : {false, true})
      for (long n = 0; n < 12; ++n) {
        std::optional<Error> error;
        if (comm->rank() == poor)
          failAllocation(n, forGood);
        try {
          agreeOnText(*comm, "a text that all ranks have",
                      [] { return std::string("text that is the same, and not short"); });
          agree(*comm, bad);
        } catch (...) {
          error = caughtError();
        }
        if (comm->rank() == poor)
          endFailures();
        ASSERT_TRUE(error);
        EXPECT_TRUE(error->isAgreed()) << error->text();
        EXPECT_NE(error->code(), TENON_ERR_TIMEOUT) << error->text();
        EXPECT_FALSE(comm->isOutOfStep());
        agreeOnText(*comm, "what comes next", [&] { return std::to_string(n); });
      }
}

// What the ranks say of a call.
struct Outcome {
  TenonErrorCode code = TENON_SUCCESS; // of rank 0
  bool areAlike = true;                // all codes
  bool hasFailed = false;              // an allocation, on any rank
  bool isWrong = false;                // an expectation of the test, on any rank
};

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
  // The life is `begin`, the collective call that meets the failures, `unchanged` if it fails, the
  // call again, and `end`, which destroys what is there.
  void tryAll(const Life& begin, const Step& call, const Life& end, const Life& unchanged = {}) {
    lead(joined(joined(begin, {call}), end)); // what is made once for all is there
    const std::size_t alive = liveObjects().size();
    const Index bytes = bytesAlive();
    for (int poor = 0; poor < worldSize(); ++poor)
      for (const bool forGood : {false, true})
        for (long n = 0, misses = 0; misses < 2; n += strideAt(n, dense)) {
          SCOPED_TRACE(testing::Message() << call.name << ", allocation " << n << " of rank "
                                          << poor << (forGood ? " and all that follow" : ""));
          lead(begin);
          const Outcome outcome = failingCall(call, unchanged, n, worldRank() == poor, forGood);
          misses = outcome.hasFailed ? 0 : misses + 1;
          if (outcome.isWrong)
            return;
          lead(end);
          EXPECT_EQ(liveObjects().size(), alive);
          EXPECT_EQ(bytesAlive(), bytes);
        }
  }

  long dense = kDense;

private:
  static Outcome failingCall(const Step& step, const Life& unchanged, long n, bool isPoor,
                             bool forGood) {
    failures.count = 0;
    if (isPoor)
      failAllocation(n, forGood);
    const TenonErrorCode code = step.call();
    const Outcome outcome = outcomeOf(code, endFailures());
    EXPECT_TRUE(outcome.areAlike) << TenonErrorName(code) << ", " << lastMessage();
    if (code == TENON_SUCCESS)
      return outcomeOf(code, outcome.hasFailed);
    EXPECT_TRUE(outcome.hasFailed && code == TENON_ERR_MEMORY)
        << TenonErrorName(code) << ", " << lastMessage();
    if (!outcomeOf(code, 0).isWrong) {
      lead(unchanged);
      EXPECT_EQ(step.call(), TENON_SUCCESS) << "again: " << lastMessage();
    }
    return outcomeOf(code, outcome.hasFailed);
  }
};

using OfOneRankWithNetwork = WithNetwork<OfOneRank>;

// The first use of a communicator makes the library's copy of it, and the memory that its ranks
// share.
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

// The communicators of process grids are made at their first use.
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
  tryAll(made, TENON_STEP(TenonLayerSetUp(network, layout)), end);
}

// Its conversions make communicators, which is tried on one that has none yet.
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

// A search makes a hundred thousand allocations.
class OfOneRankWithPlan : public OfOneRankWithNetwork {
protected:
  OfOneRankWithPlan() { dense = kDense / 3; }
};

// Rank 0 searches.
TEST_F(OfOneRankWithPlan, SetUp) {
  tryAll(joined(made,
                {
                    TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                    TENON_STEP(TenonPlanSetInput(plan, 0, layout)),
                }),
         TENON_STEP(TenonPlanSetUp(plan)), end);
}

TEST_F(OfOneRankWithPlan, Files) {
  const char* const path = "failed_allocation/plan.json";
  lead(joined(made, {
                        TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                        TENON_STEP(TenonPlanSetInput(plan, 0, layout)),
                        TENON_STEP(TenonPlanSearch(plan)),
                    }));
  tryAll({}, TENON_STEP(TenonPlanSave(plan, path)), {});
  tryAll({}, TENON_STEP(TenonPlanLoad(plan, path)), {});
  lead(end);
}

// Of a network with an optimizer, of which some tensors are the same on all ranks and some
// distributed.
class OfOneRankWithFiles : public OfOneRankWithNetwork,
                           public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    if (!TENON_TEST_HAS_HDF5)
      GTEST_SKIP() << "without HDF5";
    OfOneRankWithNetwork::SetUp();
    options().set("-tenon_checkpoint_transport", GetParam());
    lead(joined(
        made, {
                  TENON_STEP(TenonLayerSetUp(network, layout)),
                  TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
                  TENON_STEP(TenonDTensorCreate(layout, TENON_FLOAT64, &x)),
                  TENON_STEP(TenonDTensorFillNormal(x, 1, 0, 0, 1)),
                  TENON_STEP(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint)),
                  TENON_STEP(TenonObjectSetFromOptions(objectOf(checkpoint))),
                  TENON_STEP(TenonCheckpointAddLayer(checkpoint, network, "the network, by name")),
                  TENON_STEP(TenonCheckpointAddOptimizer(checkpoint, optimizer, "adam")),
                  TENON_STEP(TenonCheckpointAddTensor(checkpoint, x, "field")),
                  TENON_STEP(TenonObjectSetText((TenonObject)checkpoint, "who",
                                                "a value that is not short")),
              }));
  }
  void TearDown() override {
    if (!TENON_TEST_HAS_HDF5)
      return;
    lead(end);
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

// The objects are as they were until the call has succeeded.
TEST_P(OfOneRankWithFiles, CheckpointRead) {
  const char* const path = "failed_allocation/state.h5";
  TenonDTensor weight = nullptr;
  lead({
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
  lead({TENON_STEP(TenonDTensorDestroy(&weight))});
}

// The latest file is damaged, so that the one before it is read.
TEST_P(OfOneRankWithFiles, CheckpointReadLatest) {
  const char* const folder = "failed_allocation/steps";
  lead({
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
  lead({TENON_STEP(TenonCheckpointWrite(checkpoint, "failed_allocation/state.h5"))});
  TenonDataset dataset = nullptr;
  const Step create = TENON_STEP(TenonDatasetCreateHDF5(
      MPI_COMM_WORLD, "failed_allocation/state.h5", "tensors/field", nullptr, &dataset));
  const Step destroy = TENON_STEP(TenonDatasetDestroy(&dataset));
  tryAll({}, create, {destroy});
  tryAll({create}, TENON_STEP(TenonDatasetSetUp(dataset, layout, nullptr)), {destroy});
}

} // namespace
} // namespace tenon::test
