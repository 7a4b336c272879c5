/* SPDX-License-Identifier: BSD-2-Clause */
/* 09 Import: a network from PyTorch inside a solver.
 *
 * What you learn: how a network that was trained in PyTorch (train.py) comes into the solver of
 * tutorial 05 in one call, distributed as the solver is; that it proves at set-up that it is the
 * same network; and what a program sees of a file that is damaged.
 *
 * The plate conducts heat and radiates it (../05_heat/heat.h). From a cold plate the program runs
 * the full model, conduction alone, and conduction with the network in place of the radiation, and
 * prints the errors of the last two.
 *
 *   mpiexec -n 4 09_import -model tutorials/09_import/closure.pt2
 */
#include "../05_heat/heat.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon.h>

static const double kStep = 0.2, kLater = 40;

enum { kReports = 4, kText = 1024 };

typedef struct Closure {
  const Heat* heat;
  TenonLayout layout; /* [1, 1, rows, columns], the solver's decomposition */
  TenonLayer network;
  TenonDTensor u, tendency;
} Closure;

/* The graph and the weights, for the solver's boxes. TenonLayerSetUp() also runs the test in the
 * file: inputs, outputs and gradients as PyTorch has computed them. */
static TenonErrorCode ClosureCreate(const Heat* heat, const char* path, Closure* c) {
  const TenonInt shape[4] = {1, 1, kRows, kColumns};
  const TenonInt low[4] = {0, 0, heat->low[0], heat->low[1]};
  const TenonInt high[4] = {1, 1, heat->high[0], heat->high[1]};

  c->heat = heat;
  TenonCall(TenonLayerCreateFromModel(heat->comm, path, &c->network));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonLayerSetTraining(c->network, TENON_FALSE));
  TenonCall(TenonObjectSetFromOptions((TenonObject)c->network));
  TenonCall(TenonLayoutCreateFromBoxes(heat->comm, 4, shape, low, high, &c->layout));
  TenonCall(TenonLayerSetUp(c->network, c->layout));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->tendency));
  TenonCall(TenonDTensorCreate(c->layout, TENON_FLOAT64, &c->u));
  return TENON_SUCCESS;
}

static TenonErrorCode ClosureDestroy(Closure* c) {
  TenonCall(TenonDTensorDestroy(&c->tendency));
  TenonCall(TenonDTensorDestroy(&c->u));
  TenonCall(TenonLayerDestroy(&c->network));
  TenonCall(TenonLayoutDestroy(&c->layout));
  return TENON_SUCCESS;
}

/* Places a tensor on a field of the solver, without a copy. */
static TenonErrorCode Wrap(const Heat* heat, TenonDTensor tensor, double* field) {
  const TenonInt rows = heat->high[0] - heat->low[0] + 2 * kGhost, width = heat->width;
  const TenonInt strides[4] = {rows * width, rows * width, width, 1};
  const TenonInt ghosts[4] = {0, 0, kGhost, kGhost};

  TenonCall(TenonDTensorPlaceArray(tensor, HeatAt(heat, field, heat->low[0], heat->low[1]), strides,
                                   ghosts, ghosts, rows * width));
  return TENON_SUCCESS;
}

/* r <- network(u) */
static TenonErrorCode ClosureApply(Closure* c, double* u, double* r) {
  TenonCall(Wrap(c->heat, c->u, u));
  TenonCall(Wrap(c->heat, c->tendency, r));
  TenonCall(TenonLayerApply(c->network, c->u, c->tendency));
  return TENON_SUCCESS;
}

static void StepConduction(const Heat* heat, double* u, double time, double* tendency) {
  HeatExchange(heat, u);
  HeatConduction(heat, u, time, tendency);
}

/* All three models from a cold plate. */
static TenonErrorCode Use(const Heat* heat, Closure* closure, TenonInt steps) {
  double *truth = HeatCreateField(heat), *bare = HeatCreateField(heat);
  double *closed = HeatCreateField(heat), *rate = HeatCreateField(heat);
  double *missing = HeatCreateField(heat), without, with;
  TenonInt step;
  int rank;

  MPI_Comm_rank(heat->comm, &rank);
  for (step = 1; step <= steps; ++step) {
    const double time = kLater + kStep * (double)step;

    StepConduction(heat, truth, time, rate);
    HeatRadiation(heat, truth, missing);
    HeatAdd(heat, truth, kStep, rate);
    HeatAdd(heat, truth, kStep, missing);
    StepConduction(heat, bare, time, rate);
    HeatAdd(heat, bare, kStep, rate);
    StepConduction(heat, closed, time, rate);
    TenonCall(ClosureApply(closure, closed, missing));
    HeatAdd(heat, closed, kStep, rate);
    HeatAdd(heat, closed, kStep, missing);
    if (step * kReports % steps < kReports) {
      without = HeatDistance(heat, truth, bare);
      with = HeatDistance(heat, truth, closed);
      if (rank == 0)
        printf("use, step %4ld: error without network %.1e, with network %.1e\n", (long)step,
               without, with);
    }
  }
  free(truth), free(bare), free(closed), free(rate), free(missing);
  return TENON_SUCCESS;
}

/* Writes a copy of the file in which the first byte of the weights is another. */
static void WriteDamaged(const char* path, const char* copy) {
  FILE *from = fopen(path, "rb"), *to = fopen(copy, "wb");
  long at = 0;
  int byte;

  if (!from || !to)
    MPI_Abort(MPI_COMM_WORLD, 1);
  while ((byte = getc(from)) != EOF)
    putc(at++ == 128 ? byte ^ 1 : byte, to);
  fclose(from), fclose(to);
}

/* What a program sees of a damaged file: an error on all ranks, and nothing is left behind. */
static TenonErrorCode UseDamaged(const Heat* heat, const char* path) {
  const char* copy = "damaged.pt2";
  Closure closure = {NULL, NULL, NULL, NULL, NULL};
  TenonErrorCode code;
  int rank;

  MPI_Comm_rank(heat->comm, &rank);
  if (rank == 0)
    WriteDamaged(path, copy);
  MPI_Barrier(heat->comm);
  TenonCall(TenonPushErrorHandler(TenonReturnErrorHandler, NULL));
  code = ClosureCreate(heat, copy, &closure);
  TenonCall(TenonPopErrorHandler());
  if (rank == 0)
    printf("a file with one wrong bit: %s\n", TenonErrorName(code));
  return ClosureDestroy(&closure);
}

static TenonErrorCode Run(MPI_Comm comm) {
  Heat heat;
  Closure closure;
  TenonInt steps;
  int rank;
  char path[kText];

  TenonCall(TenonOptionsGetString("-", "model", path, kText, NULL));
  TenonCall(TenonOptionsGetInt("-", "use", &steps));
  HeatCreate(comm, &heat);
  TenonCall(ClosureCreate(&heat, path, &closure));
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    printf("the network gives the results that PyTorch computed\n");
  TenonCall(Use(&heat, &closure, steps));
  TenonCall(UseDamaged(&heat, path));
  TenonCall(ClosureDestroy(&closure));
  HeatDestroy(&heat);
  return TENON_SUCCESS;
}

static TenonErrorCode DeclareOptions(void) {
  TenonCall(TenonOptionsDeclare("09_import", "model", TENON_OPTION_STRING,
                                "tutorials/09_import/closure.pt2", "file of the network", NULL));
  TenonCall(TenonOptionsDeclare("09_import", "use", TENON_OPTION_INT, "200",
                                "time steps of the three models", NULL));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "09 Import: a network from PyTorch\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
