/* SPDX-License-Identifier: BSD-2-Clause */
/* 08 Plan: a network beside a solver, each layer with the parallelism that suits it.
 *
 * What you learn: TenonPlan chooses for each layer of a network how it is distributed. The solver's
 * own decomposition of its field is given. The plan compares the time of layers in this
 * decomposition with the time of redistribution to a faster one, and the program runs the result.
 * The losses depend neither on the plan nor on the number of processes.
 *
 * A parallelization has a label for each axis of a process grid: n splits the batch, o the output
 * channels, i the input channels, h the rows. With "input:h" a layer has the grid and the
 * decomposition of the solver's field, whose grid has one axis. Parallelizations without "input:"
 * are on a grid of the prime factors of the number of processes.
 *
 * A solver has eight waves cos(k x) exp(-r y) on a square, in blocks of rows, one block for each
 * process. A network estimates r from the field: two convolutions with pooling, which have much
 * data and few weights, and two affine layers, which have few data and many weights. It is trained
 * by gradient descent.
 *
 *   mpiexec -n 4 08_plan
 *   mpiexec -n 4 08_plan -view              # each layer: its parallelization, layouts, predicted costs
 *   mpiexec -n 4 08_plan -report            # predicted beside measured times and messages
 *   mpiexec -n 4 08_plan -save waves.json   # the plan as a file, for -load
 */
#include <tenon.h>

#include <math.h>
#include <stdio.h>

enum { kWaves = 8, kCells = 32, kSteps = 40, kText = 64 };

typedef struct Program {
  MPI_Comm comm;
  int rank;
  TenonLayout field, everywhere; /* of the waves; of the estimates */
  TenonLayer network, loss;
  TenonPlan plan;
  TenonLayer planned; /* the network as the plan runs it */
  TenonOptimizer optimizer;
  TenonDTensor u, rates, estimate, value, one, cotangent;
} Program;

/* The rate r with which wave n decays. */
static double Rate(TenonInt n) {
  return 0.5 + 0.25 * (double)(n * 5 % kWaves);
}

static TenonErrorCode Add(Program* p, TenonLayer layer, const char* name) {
  TenonCall(TenonObjectSetName((TenonObject)layer, name));
  TenonCall(TenonLayerSequentialAdd(p->network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

static TenonErrorCode AddConvolution(Program* p, TenonInt in, TenonInt out, const char* name) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  TenonLayer layer;

  TenonCall(TenonLayerCreateConv(p->comm, 2, in, out, kernel, &layer));
  TenonCall(TenonLayerSetPadding(layer, padding, NULL));
  return Add(p, layer, name);
}

static TenonErrorCode AddPointwiseAndPooling(Program* p, const char* tanh, const char* pool) {
  const TenonInt kernel[2] = {2, 2};
  TenonLayer layer;

  TenonCall(TenonLayerCreateType(p->comm, "tanh", &layer));
  TenonCall(Add(p, layer, tanh));
  TenonCall(TenonLayerCreateType(p->comm, "maxpooling", &layer));
  TenonCall(TenonObjectSetIntegers((TenonObject)layer, "kernel", 2, kernel));
  return Add(p, layer, pool);
}

static TenonErrorCode CreateNetwork(Program* p) {
  TenonLayer layer;

  TenonCall(TenonLayerCreateSequential(p->comm, &p->network));
  TenonCall(AddConvolution(p, 1, 8, "conv1"));
  TenonCall(AddPointwiseAndPooling(p, "tanh1", "pool1"));
  TenonCall(AddConvolution(p, 8, 16, "conv2"));
  TenonCall(AddPointwiseAndPooling(p, "tanh2", "pool2"));
  TenonCall(TenonLayerCreateType(p->comm, "flatten", &layer));
  TenonCall(Add(p, layer, "flatten"));
  TenonCall(TenonLayerCreateAffine(p->comm, 16 * kCells / 4 * kCells / 4, 256, &layer));
  TenonCall(Add(p, layer, "wide"));
  TenonCall(TenonLayerCreateType(p->comm, "tanh", &layer));
  TenonCall(Add(p, layer, "tanh3"));
  TenonCall(TenonLayerCreateAffine(p->comm, 256, 1, &layer));
  TenonCall(Add(p, layer, "rate"));
  TenonCall(TenonLayerSetDataType(p->network, TENON_FLOAT64));
  return TENON_SUCCESS;
}

/* The solver's blocks of rows, with its waves. */
static TenonErrorCode CreateField(Program* p) {
  const TenonInt shape[4] = {kWaves, 1, kCells, kCells};
  const TenonInt estimates[2] = {kWaves, 1};
  TenonInt low[4], high[4], n, i, j;
  TenonPartition line;
  int size;
  void* array;
  double* cell;

  MPI_Comm_size(p->comm, &size);
  TenonCall(TenonPartitionCreate(p->comm, 1, &size, &line));
  TenonCall(TenonLayoutCreateSharded(line, 2, estimates, "B", &p->everywhere));
  TenonCall(
      TenonLayoutCreateSharded(line, 4, shape, "S2", &p->field)); /* wave, channel, row, column */
  TenonCall(TenonPartitionDestroy(&line));
  TenonCall(TenonDTensorCreate(p->field, TENON_FLOAT64, &p->u));
  TenonCall(TenonDTensorGetBox(p->u, low, high));
  TenonCall(TenonDTensorGetArray(p->u, TENON_FLOAT64, &array));
  cell = (double*)array;
  for (n = 0; n < kWaves; ++n)
    for (i = low[2]; i < high[2]; ++i)
      for (j = 0; j < kCells; ++j)
        *cell++ = cos(6.0 * (double)j / kCells + (double)n) * exp(-Rate(n) * (double)i / kCells);
  TenonCall(TenonDTensorRestoreArray(p->u, &array));
  return TENON_SUCCESS;
}

/* The plan, by search or from a file; then the network is set up as it says. */
static TenonErrorCode CreatePlan(Program* p) {
  char file[kText], save[kText];

  TenonCall(TenonOptionsGetString("-", "load", file, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "save", save, kText, NULL));
  TenonCall(TenonPlanCreate(p->network, kWaves, &p->plan));
  TenonCall(TenonPlanSetInput(p->plan, 0, p->field));
  TenonCall(TenonPlanSetOutput(p->plan, p->everywhere));
  if (file[0] != '\0')
    TenonCall(TenonPlanLoad(p->plan, file));
  TenonCall(TenonPlanSetUp(p->plan));
  if (save[0] != '\0')
    TenonCall(TenonPlanSave(p->plan, save));
  TenonCall(TenonPlanGetLayer(p->plan, &p->planned));
  return TENON_SUCCESS;
}

static TenonErrorCode PrintParallelizations(Program* p) {
  char name[kText], parallelization[kText];
  TenonInt i;
  double layers, channels, space, batch;

  TenonCall(TenonPlanGetNumber(p->plan, NULL, "layers", &layers));
  for (i = 0; i < (TenonInt)layers; ++i) {
    TenonCall(TenonPlanGetLayerName(p->plan, i, name, kText, NULL));
    TenonCall(TenonPlanGetText(p->plan, name, "labels", parallelization, kText, NULL));
    TenonCall(TenonPlanGetNumber(p->plan, name, "channel_parts", &channels));
    TenonCall(TenonPlanGetNumber(p->plan, name, "space_parts", &space));
    TenonCall(TenonPlanGetNumber(p->plan, name, "batch_parts", &batch));
    if (p->rank == 0)
      printf("%-5s  %-6s  channels in %g, space in %g, batch in %g\n", name, parallelization,
             channels, space, batch);
  }
  return TENON_SUCCESS;
}

/* The loss is the mean of (estimate - r)^2 over the waves. */
static TenonErrorCode CreateTraining(Program* p) {
  TenonInt n;
  void* array;

  TenonCall(TenonLayerCreateOutput(p->planned, 0, &p->estimate));
  TenonCall(TenonLayerCreateOutputCotangent(p->planned, 0, &p->cotangent));
  TenonCall(TenonLayerCreateType(p->comm, "meansquarederror", &p->loss));
  TenonCall(TenonLayerSetDataType(p->loss, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(p->loss, p->everywhere));
  TenonCall(TenonLayerCreateOutput(p->loss, 0, &p->value));
  TenonCall(TenonLayerCreateOutputCotangent(p->loss, 0, &p->one));
  TenonCall(TenonDTensorFillConstant(p->one, p->rank == 0 ? 1 : 0)); /* contributions of 1 */
  TenonCall(TenonDTensorCreate(p->everywhere, TENON_FLOAT64, &p->rates));
  TenonCall(TenonDTensorGetArray(p->rates, TENON_FLOAT64, &array));
  for (n = 0; n < kWaves; ++n)
    ((double*)array)[n] = Rate(n);
  TenonCall(TenonDTensorRestoreArray(p->rates, &array));
  TenonCall(TenonLayerSetTarget(p->loss, p->rates));
  TenonCall(TenonOptimizerCreate(p->planned, "sgd", &p->optimizer));
  TenonCall(TenonOptimizerSetLearningRate(p->optimizer, 0.01));
  return TENON_SUCCESS;
}

static TenonErrorCode Train(Program* p) {
  const void* array;
  int step;

  for (step = 0; step <= kSteps; ++step) {
    TenonCall(TenonLayerApply(p->planned, p->u, p->estimate));
    TenonCall(TenonLayerApply(p->loss, p->estimate, p->value));
    if (step % 10 == 0) {
      TenonCall(TenonDTensorGetArrayRead(p->value, TENON_FLOAT64, &array));
      if (p->rank == 0)
        printf("step %2d: loss %.6f\n", step, *(const double*)array);
      TenonCall(TenonDTensorRestoreArrayRead(p->value, &array));
    }
    TenonCall(TenonLayerApplyAdjoint(p->loss, p->one, p->cotangent));
    TenonCall(TenonLayerApplyAdjoint(p->planned, p->cotangent, NULL));
    TenonCall(TenonOptimizerStep(p->optimizer));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode Destroy(Program* p) {
  TenonCall(TenonDTensorDestroy(&p->cotangent));
  TenonCall(TenonDTensorDestroy(&p->one));
  TenonCall(TenonDTensorDestroy(&p->value));
  TenonCall(TenonDTensorDestroy(&p->estimate));
  TenonCall(TenonDTensorDestroy(&p->rates));
  TenonCall(TenonDTensorDestroy(&p->u));
  TenonCall(TenonOptimizerDestroy(&p->optimizer));
  TenonCall(TenonLayerDestroy(&p->planned));
  TenonCall(TenonPlanDestroy(&p->plan));
  TenonCall(TenonLayerDestroy(&p->loss));
  TenonCall(TenonLayerDestroy(&p->network));
  TenonCall(TenonLayoutDestroy(&p->everywhere));
  TenonCall(TenonLayoutDestroy(&p->field));
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Program p = {.comm = comm};
  TenonBool view, report;

  MPI_Comm_rank(comm, &p.rank);
  TenonCall(TenonOptionsGetFlag("-", "view", &view));
  TenonCall(TenonOptionsGetFlag("-", "report", &report));
  TenonCall(CreateField(&p));
  TenonCall(CreateNetwork(&p));
  TenonCall(CreatePlan(&p));
  if (view)
    TenonCall(TenonObjectView((TenonObject)p.plan));
  TenonCall(PrintParallelizations(&p));
  TenonCall(CreateTraining(&p));
  if (report)
    TenonCall(TenonLogEnable(TENON_TRUE)); /* what is measured is in the log */
  TenonCall(Train(&p));
  if (report)
    TenonCall(TenonPlanReport(p.plan));
  TenonCall(Destroy(&p));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonOptionsDeclare("08_plan", "view", TENON_OPTION_FLAG, "false",
                                     "print the plan of each layer", NULL));
  TenonCallAbort(TenonOptionsDeclare("08_plan", "report", TENON_OPTION_FLAG, "false",
                                     "print predicted beside measured times", NULL));
  TenonCallAbort(TenonOptionsDeclare("08_plan", "save", TENON_OPTION_STRING, "",
                                     "file to write the plan to", NULL));
  TenonCallAbort(TenonOptionsDeclare("08_plan", "load", TENON_OPTION_STRING, "",
                                     "file to read the plan from, in place of a search", NULL));
  TenonCallAbort(
      TenonInitialize(&argc, &argv, "08 Plan: the parallelism of each layer beside a solver\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
