// SPDX-License-Identifier: BSD-2-Clause
// Runs calls of the C API while allocations fail, on one rank. Each test lists calls that create
// and use objects (`begin`) and calls that destroy them (`end`). The lists run for n = 0, 1, 2, ...
// in two ways:
//
//   allocation n fails   a call returns TENON_ERR_MEMORY and is made again; the calls continue
//   n and all following  each call may return TENON_ERR_MEMORY, but all handles are destroyed
//
// until n exceeds the number of allocations. In both ways no error ends the program, and afterwards
// as many objects and bytes exist as before.
#include "capi/failed_allocation.hpp"
#include "sys/errors/object.hpp"
#include "sys/memory/memory.hpp"

#include <tenon/ext/linearop.h>
#include <tenon/ext/machine.h>
#include <tenon/ext/reduction.h>

#include <vector>

namespace tenon::test {
namespace {

class FailedAllocation : public WithoutMemory {
protected:
  // `end` must also succeed if only the first calls of `begin` were made.
  void tryAll(const Calls& begin, const Calls& end) {
    const Calls all = concatenated(begin, end);
    // The first run also makes what the library creates once per program.
    const long allocationsInAll = callAll(all);
    const std::size_t alive = liveObjects().size();
    const Index bytes = bytesAlive();
    callAll(all);
    for (const bool allFollowing : {false, true})
      for (long n = 0, completeRuns = 0; completeRuns < 3 && !HasFailure(); n += strideAt(n)) {
        SCOPED_TRACE(testing::Message() << "allocation " << n << " of " << allocationsInAll
                                        << (allFollowing ? " and all that follow" : ""));
        const bool hasFailed = allFollowing ? failAllFrom(begin, end, n) : failOnce(begin, end, n);
        completeRuns = hasFailed ? 0 : completeRuns + 1;
        EXPECT_EQ(liveObjects().size(), alive);
        EXPECT_EQ(bytesAlive(), bytes);
      }
    callAll(all);
  }

private:
  static void expectFailure(const Step& step, TenonErrorCode code) {
    EXPECT_EQ(code, TENON_ERR_MEMORY)
        << step.name << ": " << TenonErrorName(code) << ", " << lastMessage();
    TenonErrorCode recorded = TENON_SUCCESS;
    TenonGetLastError(&recorded, nullptr, 0, nullptr);
    EXPECT_EQ(recorded, code) << step.name;
  }

  // Makes a call again after its failure. Returns whether it succeeds; if not, its object can no
  // longer be used, and there must be a message that says why.
  static bool callAgain(const Step& step) {
    const TenonErrorCode code = step.call();
    if (code == TENON_SUCCESS)
      return true;
    EXPECT_FALSE(lastMessage().empty()) << step.name;
    return false;
  }

  // Runs the calls while allocation n fails. Returns whether there was one.
  static bool failOnce(const Calls& begin, const Calls& end, long n) {
    failAllocation(n, /*allFollowing=*/false);
    bool usable = true;
    for (const Step& step : begin) {
      if (!usable)
        break;
      const TenonErrorCode code = step.call();
      if (code == TENON_SUCCESS)
        continue;
      EXPECT_EQ(failures.count, 1) << step.name << ": " << lastMessage();
      expectFailure(step, code);
      usable = callAgain(step);
    }
    const long failed = endFailures();
    callAll(end);
    return failed > 0;
  }

  // Runs the calls while allocation n and all following ones fail. Returns whether there was one.
  // The checks need memory too, so they are made after the calls.
  static bool failAllFrom(const Calls& begin, const Calls& end, long n) {
    const Step *firstError = nullptr, *undestroyed = nullptr;
    TenonErrorCode code = TENON_SUCCESS;
    failAllocation(n, /*allFollowing=*/true);
    for (const Step& step : begin) {
      const TenonErrorCode returned = step.call();
      if (returned != TENON_SUCCESS && !firstError)
        firstError = &step, code = returned;
    }
    for (const Step& step : end)
      if (step.call() != TENON_SUCCESS)
        undestroyed = &step;
    const bool failed = endFailures() > 0;
    EXPECT_FALSE(firstError && !failed) << firstError->name;
    EXPECT_TRUE(!firstError || code == TENON_ERR_MEMORY)
        << firstError->name << ": " << TenonErrorName(code);
    EXPECT_FALSE(undestroyed) << undestroyed->name;
    return failed;
  }
};

TEST_F(FailedAllocation, MeshesAndTheirLayers) {
  // Two patches linked as tiles and as sides, for a convolution; an index map of mesh nodes, where
  // ids that occur twice are ghosts on one rank too; edges between the nodes, for message passing.
  constexpr TenonInt kIds[5] = {40, 10, 30, 10, 40}, kFields[2] = {0, 2};
  constexpr TenonInt kTarget[4] = {0, 1, 2, 2}, kSource[4] = {3, 4, 0, 1}, kKeys[4] = {7, 5, 3, 1};
  constexpr TenonInt kOfEdges[2] = {4, 3}, kOfNodes[2] = {5, 2};
  constexpr int kJoint[2] = {1, 0};
  constexpr double kWeights[4] = {1, 2, 3, 4};
  TenonIndexMap nodes = nullptr, cells = nullptr;
  TenonEdges edges = nullptr, shared = nullptr;
  TenonLayout plain = nullptr, ghosted = nullptr, onEdges = nullptr;
  TenonDTensor x = nullptr, u = nullptr, y = nullptr, dy = nullptr, dx = nullptr;
  TenonLinearOp fill = nullptr, map = nullptr;
  TenonLayer f = nullptr, g = nullptr, step = nullptr;
  constexpr TenonInt kTiles[1] = {2}, kPlaces[2] = {1, 0}, kPatches[3] = {0, 2, 4},
                     kSides[4] = {1, 1, 0, 0};
  constexpr TenonInt kThree[1] = {3}, kOne[1] = {1};
  constexpr int kMeets[4] = {1, 0, 1, 0};
  constexpr TenonBoundary kLinked[1] = {TENON_BOUNDARY_LINKED}, kZero[1] = {TENON_BOUNDARY_ZERO};
  TenonLinks tiles = nullptr, sides = nullptr;
  TenonLayout patches = nullptr;
  TenonLayer conv = nullptr;
  const Calls begin{
      TENON_STEP(
          TenonLinksCreateFromTiles(MPI_COMM_WORLD, 1, kTiles, kZero, nullptr, 2, kPlaces, &tiles)),
      TENON_STEP(TenonLinksCreateFromSides(MPI_COMM_WORLD, 1, 4, kSides, kMeets, nullptr, &sides)),
      TENON_STEP(TenonLinksGetLayout(sides, 3, kPatches, &patches)),
      TENON_STEP(TenonLayerCreateConv(MPI_COMM_WORLD, 1, 2, 1, kThree, &conv)),
      TENON_STEP(TenonLayerSetPadding(conv, kOne, nullptr)),
      TENON_STEP(TenonLayerSetBoundary(conv, kLinked, nullptr)),
      TENON_STEP(TenonLayerSetLinks(conv, tiles)),
      TENON_STEP(TenonLayerSetLinks(conv, sides)),
      TENON_STEP(TenonLayerSetUp(conv, patches)),
      TENON_STEP(TenonIndexMapCreateFromIds(MPI_COMM_WORLD, 3, 5, kIds, &nodes)),
      TENON_STEP(TenonIndexMapGetLayouts(nodes, 2, kFields, &plain, &ghosted)),
      TENON_STEP(TenonLinearOpCreateIndexMap(nodes, plain, TENON_FLOAT64, &fill)),
      TENON_STEP(
          TenonIndexMapCreateCells(plain, plain, kJoint, 4, kTarget, kTarget, kWeights, &cells)),
      TENON_STEP(TenonLinearOpCreateIndexMap(cells, plain, TENON_FLOAT64, &map)),
      TENON_STEP(TenonDTensorCreate(plain, TENON_FLOAT64, &x)),
      TENON_STEP(TenonDTensorCreate(ghosted, TENON_FLOAT64, &u)),
      TENON_STEP(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/0, 0, 1)),
      TENON_STEP(TenonLinearOpApply(fill, x, u)),
      TENON_STEP(TenonEdgesCreate(nodes, nodes, 4, kTarget, kSource, kKeys, kWeights, &edges)),
      TENON_STEP(TenonEdgesCreateShared(nodes, nodes, 4, kTarget, kSource, kKeys, nullptr, kWeights,
                                        &shared)),
      TENON_STEP(TenonEdgesGetLayout(edges, 2, kFields, &onEdges)),
      TENON_STEP(TenonLayerCreateType(MPI_COMM_WORLD, "columnmlp", &f)),
      TENON_STEP(TenonObjectSetIntegers(TenonObject(f), "widths", 2, kOfEdges)),
      TENON_STEP(TenonLayerCreateType(MPI_COMM_WORLD, "columnmlp", &g)),
      TENON_STEP(TenonObjectSetIntegers(TenonObject(g), "widths", 2, kOfNodes)),
      TENON_STEP(TenonLayerCreateMessagePassing(f, g, 1, "max", &step)),
      TENON_STEP(TenonLayerSetDataType(step, TENON_FLOAT64)),
      TENON_STEP(TenonLayerSetEdges(step, "a name that is not short at all", shared)),
      TENON_STEP(TenonLayerSetEdges(step, "", edges)),
      TENON_STEP(TenonLayerSetIndexMap(step, "nodes", nodes)),
      TENON_STEP(TenonLayerSetUp(step, plain)),
      TENON_STEP(TenonLayerCreateOutput(step, 0, &y)),
      TENON_STEP(TenonLayerCreateOutputCotangent(step, 0, &dy)),
      TENON_STEP(TenonLayerCreateInputCotangent(step, 0, &dx)),
      TENON_STEP(TenonLayerApply(step, x, y)),
      TENON_STEP(TenonDTensorFillConstant(dy, 1)),
      TENON_STEP(TenonLayerApplyAdjoint(step, dy, dx))};
  const Calls end{
      TENON_STEP(TenonDTensorDestroy(&x)),      TENON_STEP(TenonDTensorDestroy(&u)),
      TENON_STEP(TenonDTensorDestroy(&y)),      TENON_STEP(TenonDTensorDestroy(&dy)),
      TENON_STEP(TenonDTensorDestroy(&dx)),     TENON_STEP(TenonLayerDestroy(&step)),
      TENON_STEP(TenonLayerDestroy(&f)),        TENON_STEP(TenonLayerDestroy(&g)),
      TENON_STEP(TenonLinearOpDestroy(&fill)),  TENON_STEP(TenonLinearOpDestroy(&map)),
      TENON_STEP(TenonEdgesDestroy(&edges)),    TENON_STEP(TenonEdgesDestroy(&shared)),
      TENON_STEP(TenonIndexMapDestroy(&nodes)), TENON_STEP(TenonIndexMapDestroy(&cells)),
      TENON_STEP(TenonLayoutDestroy(&plain)),   TENON_STEP(TenonLayoutDestroy(&ghosted)),
      TENON_STEP(TenonLayoutDestroy(&onEdges)), TENON_STEP(TenonLayerDestroy(&conv)),
      TENON_STEP(TenonLayoutDestroy(&patches)), TENON_STEP(TenonLinksDestroy(&tiles)),
      TENON_STEP(TenonLinksDestroy(&sides))};
  tryAll(begin, end);
}

TEST_F(FailedAllocation, LayoutsTensorsAndOperators) {
  constexpr TenonInt kLow[4] = {0, 0, 0, 0}, kGhosts[4] = {0, 0, 1, 1};
  std::vector<double> field(2 * 2 * 8 * 8, 1.0);
  TenonPartition grid = nullptr;
  TenonLayout plain = nullptr, wide = nullptr, boxes = nullptr;
  TenonDTensor x = nullptr, y = nullptr, placed = nullptr;
  TenonLinearOp halo = nullptr, adjoint = nullptr, sum = nullptr, product = nullptr,
                diagonal = nullptr;
  const int extents[2] = {1, 1};
  double norm = 0;
  const Calls begin {
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
        TENON_STEP(TenonDTensorFillNormal(x, /*seed=*/1, /*stream=*/0, 0, 1)),
        TENON_STEP(TenonDTensorNorm(x, &norm)),
        TENON_STEP(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &halo)),
        TENON_STEP(TenonLinearOpCreateAdjoint(halo, &adjoint)),
        TENON_STEPS("TenonLinearOpCreateSum", const TenonLinearOp both[2] = {halo, halo};
                    TenonCall(TenonLinearOpCreateSum(2, both, NULL, &sum));),
        TENON_STEPS("TenonLinearOpCreateComposition", const TenonLinearOp both[1] = {halo};
                    TenonCall(TenonLinearOpCreateComposition(1, both, &product));),
        TENON_STEP(TenonLinearOpApply(halo, x, y)), TENON_STEP(TenonLinearOpApply(sum, x, y)),
        TENON_STEP(TenonLinearOpApply(product, x, y)), TENON_STEP(TenonLinearOpBind(halo, x, y)),
        TENON_STEPS("TenonLinearOpCreateBlockDiagonal", const TenonLinearOp one[1] = {halo};
                    TenonCall(TenonLinearOpCreateBlockDiagonal(1, one, &diagonal));),
        TENON_STEP(TenonLinearOpApplyMany(diagonal, 1, &x, &y)),
        TENON_STEP(TenonLinearOpApply(halo, x, y)),
  };
  const Calls end{
      TENON_STEP(TenonLinearOpDestroy(&diagonal)), TENON_STEP(TenonLinearOpDestroy(&product)),
      TENON_STEP(TenonLinearOpDestroy(&sum)),      TENON_STEP(TenonLinearOpDestroy(&adjoint)),
      TENON_STEP(TenonLinearOpDestroy(&halo)),     TENON_STEP(TenonDTensorDestroy(&placed)),
      TENON_STEP(TenonDTensorDestroy(&x)),         TENON_STEP(TenonDTensorDestroy(&y)),
      TENON_STEP(TenonLayoutDestroy(&boxes)),      TENON_STEP(TenonLayoutDestroy(&wide)),
      TENON_STEP(TenonLayoutDestroy(&plain)),      TENON_STEP(TenonPartitionDestroy(&grid)),
  };
  tryAll(begin, end);
}

using OfNetworks = WithNetwork<FailedAllocation>;

TEST_F(OfNetworks, LayersAndOptimizers) {
  tryAll(
      concatenated(concatenated(creation, {TENON_STEP(TenonLayerSetUp(network, layout))}),
                   concatenated(evaluation,
                                {
                                    TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
                                    TENON_STEP(TenonObjectSetFromOptions(objectOf(optimizer))),
                                    TENON_STEP(TenonOptimizerSetLearningRate(optimizer, 0.1)),
                                    TENON_STEP(TenonOptimizerStep(optimizer)),
                                    TENON_STEP(TenonLayerApply(network, x, y)),
                                })),
      destruction);
}

TEST_F(OfNetworks, NetworkFilesAndWeights) {
  tryAll(concatenated(
             concatenated(creation, {TENON_STEP(TenonLayerSetUp(network, layout))}),
             {
                 TENON_STEP(TenonLayerSaveNetwork(network, "failed_allocation/net.json")),
                 TENON_STEP(TenonLayerSaveWeights(network, "failed_allocation/net.npz")),
                 TENON_STEP(TenonLayerLoadWeights(network, "failed_allocation/net.npz", nullptr)),
                 TENON_STEP(
                     TenonLayerCreateFromFile(MPI_COMM_WORLD, "failed_allocation/net.json", &read)),
                 TENON_STEP(TenonLayerSetUp(read, layout)),
             }),
         destruction);
}

TEST_F(OfNetworks, Checkpoints) {
  if (!TENON_TEST_HAS_HDF5)
    GTEST_SKIP() << "without HDF5";
  tryAll(
      concatenated(
          concatenated(creation, {TENON_STEP(TenonLayerSetUp(network, layout))}),
          {
              TENON_STEP(TenonOptimizerCreate(network, "adam", &optimizer)),
              TENON_STEP(TenonCheckpointCreate(MPI_COMM_WORLD, &checkpoint)),
              TENON_STEP(TenonCheckpointAddLayer(checkpoint, network, "the network, by name")),
              TENON_STEP(TenonCheckpointAddOptimizer(checkpoint, optimizer, "optimizer")),
              TENON_STEP(TenonObjectSetText((TenonObject)checkpoint, "who",
                                            "a value that is not a short string")),
              TENON_STEP(TenonObjectSetReal((TenonObject)checkpoint, "time", 0.5)),
              TENON_STEP(TenonCheckpointWriteStep(checkpoint, "failed_allocation/steps", 3)),
              TENON_STEP(TenonCheckpointReadLatest(checkpoint, "failed_allocation/steps", &step)),
          }),
      destruction);
}

TEST_F(OfNetworks, Plans) {
  tryAll(
      concatenated(creation, concatenated(
                                 {
                                     TENON_STEP(TenonPlanCreate(network, 2, &plan)),
                                     TENON_STEP(TenonPlanSetInput(plan, 0, layout)),
                                     TENON_STEP(TenonPlanSearch(plan)),
                                     TENON_STEP(TenonPlanSave(plan, "failed_allocation/plan.json")),
                                     TENON_STEP(TenonPlanLoad(plan, "failed_allocation/plan.json")),
                                     TENON_STEP(TenonPlanSetUp(plan)),
                                 },
                                 evaluation)),
      destruction);
}

int contexts = 0; // those that makeContext() has created and freeContext() has not freed

TenonErrorCode makeContext(TenonLayout, TenonLayout, TenonDataType, TenonDataType, void*,
                           void** context) {
  ++contexts;
  *context = &contexts;
  return TENON_SUCCESS;
}
void freeContext(void*) {
  --contexts;
}
TenonErrorCode copyTensor(TenonDTensor x, TenonDTensor y, void*) {
  return TenonDTensorCopy(x, y);
}

// The type is the program's own: its functions create and free a context per operator. If the
// creation of an operator fails after makeContext(), freeContext() must have been called, once.
TEST_F(FailedAllocation, RegisteredOperators) {
  const TenonLinearOpFunctions functions = {makeContext, copyTensor, copyTensor, freeContext};
  expectSuccess(TenonLinearOpRegister("an operator with a long name", &functions));
  const int one = 1;
  const TenonInt shape[1] = {6};
  TenonPartition grid = nullptr;
  TenonLayout layout = nullptr;
  TenonLinearOp op = nullptr;
  const Calls begin{
      TENON_STEP(TenonPartitionCreate(MPI_COMM_WORLD, 1, &one, &grid)),
      TENON_STEP(TenonLayoutCreateSharded(grid, 1, shape, "S0", &layout)),
      TENON_STEP(TenonLinearOpCreateType(layout, layout, TENON_FLOAT64, TENON_FLOAT64,
                                         "an operator with a long name", nullptr, &op)),
  };
  const Calls end{
      TENON_STEP(TenonLinearOpDestroy(&op)),
      TENON_STEP(TenonLayoutDestroy(&layout)),
      TENON_STEP(TenonPartitionDestroy(&grid)),
  };
  tryAll(begin, end);
  EXPECT_EQ(contexts, 0);
}

TEST_F(FailedAllocation, MachinesAndReductions) {
  TenonMachine machine = nullptr, copy = nullptr;
  TenonPlacementList list = nullptr;
  TenonReductionPrograms programs = nullptr;
  const char* const names[2] = {"a level that has a long name", "device"};
  const TenonInt sizes[2] = {2, 2};
  const int reduce[1] = {1};
  const Calls begin{
      TENON_STEP(TenonMachineCreate("a machine with a long name", 2, names, sizes, &machine)),
      TENON_STEP(TenonMachineAddLink(machine, "a link that has a long name", 0, 1, 1e9, 1e-6,
                                     TENON_LINK_LEAVING)),
      TENON_STEP(TenonMachineSave(machine, "failed_allocation/machine.json")),
      TENON_STEP(TenonMachineCreateFromFile("failed_allocation/machine.json", 0, &copy)),
      TENON_STEP(TenonPlacementListCreate(2, sizes, 2, sizes, &list)),
      TENON_STEP(TenonReductionProgramsCreate(list, 0, 1, reduce, 2, &programs)),
  };
  const Calls end{
      TENON_STEP(TenonReductionProgramsDestroy(&programs)),
      TENON_STEP(TenonPlacementListDestroy(&list)),
      TENON_STEP(TenonMachineDestroy(&copy)),
      TENON_STEP(TenonMachineDestroy(&machine)),
  };
  tryAll(begin, end);
}

// All allocations fail while an error is reported: its code and a message that needs no memory are
// recorded, and a handler that prints the error ends without an error of its own.
TEST_F(FailedAllocation, ErrorsAreReportedWithoutMemory) {
  TenonPushErrorHandler(TenonPrintErrorHandler, nullptr);
  failAllocation(0, /*allFollowing=*/true);
  const TenonErrorCode code = TenonDTensorNorm(nullptr, nullptr);
  TenonAddFrame(code, "solve", "solver.c", 12);
  char text[64] = "";
  TenonErrorCode recorded = TENON_SUCCESS;
  const TenonErrorCode query = TenonGetLastError(&recorded, text, sizeof text, nullptr);
  const TenonErrorCode report = TenonGetLastErrorReport(text, sizeof text, nullptr);
  endFailures();
  TenonPopErrorHandler();
  EXPECT_EQ(code, TENON_ERR_MEMORY);
  EXPECT_EQ(query, TENON_SUCCESS);
  EXPECT_EQ(recorded, TENON_ERR_MEMORY);
  EXPECT_STREQ(text, "an allocation failed");
  EXPECT_EQ(report, TENON_ERR_MEMORY);
}

} // namespace
} // namespace tenon::test
