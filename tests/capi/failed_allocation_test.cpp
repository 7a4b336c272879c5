// SPDX-License-Identifier: BSD-2-Clause
// In the lives of objects allocations fail, each of the first ones and then some: alone, after which the call that met it is made
// again and the life goes on, or with all that follow, to the end of the objects. A call then returns a
// code, nothing ends the program, and nothing is left behind.
#include "capi/expect_code.hpp"
#include "comm/agreement/agreement.hpp"
#include "support/count_allocations.hpp"
#include "sys/errors/object.hpp"
#include "sys/memory/memory.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test {
namespace {

struct Step {
  const char* name;
  std::function<TenonErrorCode()> call;
};
#define TENON_STEP(call)                                                                           \
  Step {                                                                                           \
#call, [&] { return call; }                                                                    \
  }
// A step of several calls that ends at the first that fails.
#define TENON_STEPS(name, ...)                                                                     \
  Step {                                                                                           \
    name, [&]() -> TenonErrorCode {                                                                \
      __VA_ARGS__                                                                                  \
      return TENON_SUCCESS;                                                                        \
    }                                                                                              \
  }
using Life = std::vector<Step>;

int fatalErrors = 0;
void noteFatal(TenonErrorCode, int, const char*, const char*, const char*, int, void*) {
  ++fatalErrors;
}

bool isOneOfSeveral() {
  return Communicator::of(MPI_COMM_WORLD)->size() > 1;
}

// Of one rank, in an agreement: the others hear of it at once, and all are in step afterwards.
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

class FailedAllocation : public testing::Test {
protected:
  void SetUp() override {
    if (isOneOfSeveral())
      GTEST_SKIP() << "is a test of one rank";
    fatalErrors = 0;
    TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
    TenonSetFatalErrorHandler(noteFatal, nullptr);
    std::filesystem::remove_all("failed_allocation");
    std::filesystem::create_directory("failed_allocation");
  }
  void TearDown() override {
    if (isOneOfSeveral())
      return;
    EXPECT_EQ(fatalErrors, 0);
    std::filesystem::remove_all("failed_allocation");
    TenonSetFatalErrorHandler(nullptr, nullptr);
    TenonPopErrorHandler();
  }

  // The life is `begin` and then `end`, which destroys what is there.
  void tryAll(const Life& begin, const Life& end) {
    const long whole = lead(begin, end); // and what is made once for all is there
    const std::size_t alive = liveObjects().size();
    const Index bytes = bytesAlive();
    lead(begin, end);
    for (const bool forGood : {false, true})
      for (long n = 0, misses = 0; misses < 3 && !HasFailure(); n += strideAt(n)) {
        SCOPED_TRACE(testing::Message() << "allocation " << n << " of " << whole
                                        << (forGood ? " and all that follow" : ""));
        const bool met = forGood ? leadStarved(begin, end, n) : leadOnce(begin, end, n);
        misses = met ? 0 : misses + 1;
        EXPECT_EQ(liveObjects().size(), alive);
        EXPECT_EQ(bytesAlive(), bytes);
      }
    lead(begin, end);
  }

private:
  // All of the first, where most checks are, and then one in so many.
  static long strideAt(long n) { return 1 + n / kDense; }
  static constexpr long kDense = TENON_TEST_DENSE_ALLOCATIONS;

  static long lead(const Life& begin, const Life& end) {
    const long before = allocations;
    for (const Life* part : {&begin, &end})
      for (const Step& step : *part)
        EXPECT_EQ(step.call(), TENON_SUCCESS) << step.name << ": " << lastMessage();
    return allocations - before;
  }

  static void expectFailure(const Step& step, TenonErrorCode code) {
    EXPECT_EQ(code, TENON_ERR_MEMORY)
        << step.name << ": " << TenonErrorName(code) << ", " << lastMessage();
    TenonErrorCode recorded = TENON_SUCCESS;
    TenonGetLastError(&recorded, nullptr, 0, nullptr);
    EXPECT_EQ(recorded, code) << step.name;
  }

  // Whether the call can be made again, or says why the object is of no use now.
  static bool again(const Step& step) {
    const TenonErrorCode code = step.call();
    if (code == TENON_SUCCESS)
      return true;
    EXPECT_FALSE(lastMessage().empty()) << step.name;
    return false;
  }

  static bool leadOnce(const Life& begin, const Life& end, long n) {
    failAllocation(n, false);
    bool usable = true;
    for (const Step& step : begin) {
      if (!usable)
        break;
      const TenonErrorCode code = step.call();
      if (code == TENON_SUCCESS)
        continue;
      EXPECT_EQ(failures.count, 1) << step.name << ": " << lastMessage();
      expectFailure(step, code);
      usable = again(step);
    }
    const long failed = endFailures();
    for (const Step& step : end)
      EXPECT_EQ(step.call(), TENON_SUCCESS) << step.name << ": " << lastMessage();
    return failed > 0;
  }

  // No memory is left for the checks themselves before the end.
  static bool leadStarved(const Life& begin, const Life& end, long n) {
    const Step *first = nullptr, *undestroyed = nullptr;
    TenonErrorCode code = TENON_SUCCESS;
    failAllocation(n, true);
    for (const Step& step : begin) {
      const TenonErrorCode got = step.call();
      if (got != TENON_SUCCESS && !first)
        first = &step, code = got;
    }
    for (const Step& step : end)
      if (step.call() != TENON_SUCCESS)
        undestroyed = &step;
    const bool failed = endFailures() > 0;
    EXPECT_FALSE(first && !failed) << first->name;
    EXPECT_TRUE(!first || code == TENON_ERR_MEMORY) << first->name << ": " << TenonErrorName(code);
    EXPECT_FALSE(undestroyed) << undestroyed->name;
    return failed;
  }
};

constexpr TenonInt kShape[4] = {2, 2, 6, 6}, kLow[4] = {0, 0, 0, 0}, kGhosts[4] = {0, 0, 1, 1};
constexpr TenonInt kKernel[2] = {3, 3}, kPadding[2] = {1, 1};

TEST_F(FailedAllocation, LayoutsTensorsAndOperators) {
  std::vector<double> field(2 * 2 * 8 * 8, 1.0);
  TenonPartition grid = nullptr;
  TenonLayout plain = nullptr, wide = nullptr, boxes = nullptr;
  TenonDTensor x = nullptr, y = nullptr, placed = nullptr;
  TenonLinearOp halo = nullptr, adjoint = nullptr, sum = nullptr, product = nullptr;
  const int extents[2] = {1, 1};
  double norm = 0;
  const Life begin {
    TENON_STEP(TenonPartitionCreate(MPI_COMM_WORLD, 2, extents, &grid)),
        TENON_STEP(TenonLayoutCreateSharded(grid, 4, kShape, "S2,S3", &plain)),
        TENON_STEP(TenonLayoutCreate(grid, &wide)),
        TENON_STEP(TenonObjectSetName(TenonObject(wide), "a layout with a name that is not short")),
        TENON_STEP(TenonLayoutSetShape(wide, 4, kShape)),
        TENON_STEP(TenonLayoutSetProperties(wide, "S2,S3")),
        TENON_STEP(
            TenonLayoutSetHalo(wide, 2, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)),
        TENON_STEP(TenonLayoutSetHalo(wide, 3, 1, 1, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_REFLECT)),
        TENON_STEP(TenonLayoutSetUp(wide)),
        TENON_STEP(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 4, kShape, kLow, kShape, &boxes)),
        TENON_STEP(TenonDTensorCreate(plain, TENON_FLOAT64, &x)),
        TENON_STEP(TenonDTensorCreate(wide, TENON_FLOAT64, &y)),
        TENON_STEP(TenonDTensorCreate(boxes, TENON_FLOAT64, &placed)),
        TENON_STEP(TenonDTensorPlaceArray(placed, &field[9], nullptr, kGhosts, kGhosts, 256)),
        TENON_STEP(TenonDTensorFillNormal(x, 1, 0, 0, 1)), TENON_STEP(TenonDTensorNorm(x, &norm)),
        TENON_STEP(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &halo)),
        TENON_STEP(TenonLinearOpCreateAdjoint(halo, &adjoint)),
        TENON_STEPS("TenonLinearOpCreateSum", const TenonLinearOp both[2] = {halo, halo};
                    TenonCall(TenonLinearOpCreateSum(2, both, &sum));),
        TENON_STEPS("TenonLinearOpCreateComposition", const TenonLinearOp both[1] = {halo};
                    TenonCall(TenonLinearOpCreateComposition(1, both, &product));),
        TENON_STEP(TenonLinearOpApply(halo, x, y)), TENON_STEP(TenonLinearOpApply(sum, x, y)),
        TENON_STEP(TenonLinearOpApply(product, x, y)), TENON_STEP(TenonLinearOpBind(halo, x, y)),
        TENON_STEP(TenonLinearOpApply(halo, x, y)),
  };
  const Life end{
      TENON_STEP(TenonLinearOpDestroy(&product)), TENON_STEP(TenonLinearOpDestroy(&sum)),
      TENON_STEP(TenonLinearOpDestroy(&adjoint)), TENON_STEP(TenonLinearOpDestroy(&halo)),
      TENON_STEP(TenonDTensorDestroy(&placed)),   TENON_STEP(TenonDTensorDestroy(&x)),
      TENON_STEP(TenonDTensorDestroy(&y)),        TENON_STEP(TenonLayoutDestroy(&boxes)),
      TENON_STEP(TenonLayoutDestroy(&wide)),      TENON_STEP(TenonLayoutDestroy(&plain)),
      TENON_STEP(TenonPartitionDestroy(&grid)),
  };
  tryAll(begin, end);
}

// A network of a convolution and what follows it, its training, and its files.
class OfNetworks : public FailedAllocation {
protected:
  const Life made{
      TENON_STEP(TenonLayoutCreateFromBoxes(MPI_COMM_WORLD, 4, kShape, kLow, kShape, &layout)),
      TENON_STEP(TenonLayerCreateSequential(MPI_COMM_WORLD, &network)),
      TENON_STEP(TenonLayerCreateConv(MPI_COMM_WORLD, 2, 2, 2, kKernel, &conv)),
      TENON_STEP(TenonLayerSetPadding(conv, kPadding, nullptr)),
      TENON_STEP(TenonObjectSetOptionsPrefix(TenonObject(conv), "a_prefix_that_is_not_short_")),
      TENON_STEP(TenonObjectSetFromOptions(objectOf(conv))),
      TENON_STEP(TenonObjectSetText(objectOf(conv), "boundary", "periodic")),
      TENON_STEP(TenonLayerCreatePointwise(MPI_COMM_WORLD, "tanh", &tanh)),
      TENON_STEP(TenonLayerSequentialAdd(network, conv)),
      TENON_STEP(TenonLayerSequentialAdd(network, tanh)),
      TENON_STEP(TenonLayerSetDataType(network, TENON_FLOAT64)),
  };
  const Life run{
      TENON_STEP(TenonLayerInitialize(network, 1)),
      TENON_STEP(TenonDTensorCreate(layout, TENON_FLOAT64, &x)),
      TENON_STEP(TenonLayerCreateOutput(network, &y)),
      TENON_STEP(TenonLayerCreateOutputCotangent(network, &dy)),
      TENON_STEP(TenonLayerCreateInputCotangent(network, &dx)),
      TENON_STEP(TenonDTensorFillNormal(x, 1, 0, 0, 1)),
      TENON_STEP(TenonDTensorFillConstant(dy, 1)),
      TENON_STEP(TenonLayerApply(network, x, y)),
      TENON_STEP(TenonLayerApplyAdjoint(network, dy, dx)),
  };
  const Life end{
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
  static Life joined(Life first, const Life& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  TenonLayout layout = nullptr;
  TenonLayer network = nullptr, conv = nullptr, tanh = nullptr, read = nullptr;
  TenonDTensor x = nullptr, y = nullptr, dx = nullptr, dy = nullptr;
  TenonOptimizer optimizer = nullptr;
  TenonCheckpoint checkpoint = nullptr;
  TenonPlan plan = nullptr;
  TenonInt step = 0;
};

TEST_F(OfNetworks, LayersAndOptimizers) {
  tryAll(joined(joined(made, {TENON_STEP(TenonLayerSetUp(network, layout))}),
                joined(run,
                       {
                           TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
                           TENON_STEP(TenonObjectSetFromOptions(objectOf(optimizer))),
                           TENON_STEP(TenonOptimizerSetLearningRate(optimizer, 0.1)),
                           TENON_STEP(TenonOptimizerStep(optimizer)),
                           TENON_STEP(TenonLayerApply(network, x, y)),
                       })),
         end);
}

TEST_F(OfNetworks, NetworkFilesAndWeights) {
  tryAll(
      joined(joined(made, {TENON_STEP(TenonLayerSetUp(network, layout))}),
             {
                 TENON_STEP(TenonLayerSaveNetwork(network, "failed_allocation/net.json")),
                 TENON_STEP(TenonLayerSaveWeights(network, "failed_allocation/net.npz")),
                 TENON_STEP(TenonLayerLoadWeights(network, "failed_allocation/net.npz", nullptr)),
                 TENON_STEP(
                     TenonLayerCreateFromFile(MPI_COMM_WORLD, "failed_allocation/net.json", &read)),
                 TENON_STEP(TenonLayerSetUp(read, layout)),
             }),
      end);
}

TEST_F(OfNetworks, Checkpoints) {
  if (!TENON_TEST_HAS_HDF5)
    GTEST_SKIP() << "without HDF5";
  tryAll(
      joined(
          joined(made, {TENON_STEP(TenonLayerSetUp(network, layout))}),
          {
              TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
              TENON_STEP(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint)),
              TENON_STEP(TenonCheckpointAddLayer(checkpoint, network, "the network, by name")),
              TENON_STEP(TenonCheckpointAddOptimizer(checkpoint, optimizer, "optimizer")),
              TENON_STEP(TenonCheckpointSetString(checkpoint, "who",
                                                  "a value that is not a short string")),
              TENON_STEP(TenonCheckpointSetReal(checkpoint, "time", 0.5)),
              TENON_STEP(TenonCheckpointWriteStep(checkpoint, "failed_allocation/steps", 3)),
              TENON_STEP(TenonCheckpointReadLatest(checkpoint, "failed_allocation/steps", &step)),
          }),
      end);
}

TEST_F(OfNetworks, Plans) {
  tryAll(joined(made, joined(
                          {
                              TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                              TENON_STEP(TenonPlanSetInput(plan, layout)),
                              TENON_STEP(TenonPlanSearch(plan)),
                              TENON_STEP(TenonPlanSave(plan, "failed_allocation/plan.json")),
                              TENON_STEP(TenonPlanLoad(plan, "failed_allocation/plan.json")),
                              TENON_STEP(TenonPlanSetUp(plan)),
                          },
                          run)),
         end);
}

TEST_F(FailedAllocation, MachinesAndReductions) {
  TenonMachine machine = nullptr, copy = nullptr;
  TenonPlacementList list = nullptr;
  TenonReductionPrograms programs = nullptr;
  const char* const names[2] = {"a level that has a long name", "device"};
  const TenonInt sizes[2] = {2, 2};
  const int reduce[1] = {1};
  const Life begin{
      TENON_STEP(TenonMachineCreate("a machine with a long name", 2, names, sizes, &machine)),
      TENON_STEP(TenonMachineAddLink(machine, "a link that has a long name", 0, 1, 1e9, 1e-6,
                                     TENON_LINK_LEAVING)),
      TENON_STEP(TenonMachineSave(machine, "failed_allocation/machine.json")),
      TENON_STEP(TenonMachineCreateFromFile("failed_allocation/machine.json", 0, &copy)),
      TENON_STEP(TenonPlacementListCreate(2, sizes, 2, sizes, &list)),
      TENON_STEP(TenonReductionProgramsCreate(list, 0, 1, reduce, 2, &programs)),
  };
  const Life end{
      TENON_STEP(TenonReductionProgramsDestroy(&programs)),
      TENON_STEP(TenonPlacementListDestroy(&list)),
      TENON_STEP(TenonMachineDestroy(&copy)),
      TENON_STEP(TenonMachineDestroy(&machine)),
  };
  tryAll(begin, end);
}

// With the message of the error itself, and of a handler that prints it.
TEST_F(FailedAllocation, ErrorsAreReportedWithoutMemory) {
  TenonPushErrorHandler(TenonPrintErrorHandler, nullptr);
  failAllocation(0, true);
  const TenonErrorCode code = TenonDTensorNorm(nullptr, nullptr);
  TenonAddFrame(code, "solve", "solver.c", 12);
  char text[64] = "";
  TenonErrorCode recorded = TENON_SUCCESS;
  const TenonErrorCode got = TenonGetLastError(&recorded, text, sizeof text, nullptr);
  const TenonErrorCode report = TenonGetLastErrorReport(text, sizeof text, nullptr);
  endFailures();
  TenonPopErrorHandler();
  EXPECT_EQ(code, TENON_ERR_MEMORY);
  EXPECT_EQ(got, TENON_SUCCESS);
  EXPECT_EQ(recorded, TENON_ERR_MEMORY);
  EXPECT_STREQ(text, "an allocation failed");
  EXPECT_EQ(report, TENON_ERR_MEMORY);
}

} // namespace
} // namespace tenon::test
