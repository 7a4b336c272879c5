/* SPDX-License-Identifier: BSD-2-Clause */
/* 11 Sphere: a spectral model of a rotating atmosphere, and a spherical neural operator in it.
 *
 * What you learn: how to transform winds to vorticity and divergence and back on any number of
 * processes (solver.c), how to train a network of spherical convolutions while such a model runs,
 * through eight of its steps and the adjoints of its transforms (closure.c, window.c), and how
 * coefficients of spherical harmonics are stored (flow.c).
 *
 * First the solver is compared with an exact solution, the wave of Rossby and Haurwitz. Then a
 * model of many degrees is the truth for one of half as many: the closure learns what the missing
 * degrees do, and is used from a start that it has never seen, beside the bare model. The numbers
 * do not depend on the number of processes. A closure that was trained in PyTorch (train.py) is
 * read from its file instead, and gives the numbers that PyTorch gives.
 *
 *   mpiexec -n 4 11_sphere
 *   mpiexec -n 4 11_sphere -degrees 22 -train 400 -tenon_log_view
 *   mpiexec -n 4 11_sphere -degrees 11 -closure tutorials/11_sphere/closure.pt2
 *   mpiexec -n 4 11_sphere -picture globe && python3 tutorials/11_sphere/picture.py globe
 */
#include "flow.h"
#include "picture.h"
#include "window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kReports = 4, kWindows = 5, kUnseen = 1000, kHalvings = 3, kText = 1024 };

static const double kStep = 0.04, kDamping = 10, kRate = 5e-3, kWaveTime = 0.5;

typedef struct Experiment {
  int rank;
  TenonInt degrees, train, use;
  char model[kText], picture[kText];
  TenonPartition processes;
  Solver truth, coarse;
  Closure closure;
  Window window;
  TenonLayer truncation;
  TenonDTensor flow; /* of the truth */
  TenonDTensor samples[kWindow + 1], bare, closed, work;
} Experiment;

static TenonErrorCode DeclareOptions(void) {
  const char* me = "11_sphere";

  TenonCall(TenonOptionsDeclare(me, "degrees", TENON_OPTION_INT, "22",
                                "degrees of the model; the truth has twice as many", NULL));
  TenonCall(TenonOptionsDeclare(me, "train", TENON_OPTION_INT, "400", "training steps", NULL));
  TenonCall(
      TenonOptionsDeclare(me, "use", TENON_OPTION_INT, "40", "time steps of the comparison", NULL));
  TenonCall(TenonOptionsDeclare(me, "closure", TENON_OPTION_STRING, "",
                                "file of a closure from PyTorch, instead of training one", NULL));
  TenonCall(TenonOptionsDeclare(me, "picture", TENON_OPTION_STRING, "",
                                "file, without .txt, for the vorticities that picture.py draws",
                                NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode Create(MPI_Comm comm, Experiment* x) {
  const TenonInt* degrees = &x->degrees;
  int size, n;

  MPI_Comm_rank(comm, &x->rank);
  MPI_Comm_size(comm, &size);
  TenonCall(TenonOptionsGetInt("-", "degrees", &x->degrees));
  TenonCall(TenonOptionsGetInt("-", "train", &x->train));
  TenonCall(TenonOptionsGetInt("-", "use", &x->use));
  TenonCall(TenonOptionsGetString("-", "closure", x->model, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "picture", x->picture, kText, NULL));
  TenonCall(TenonPartitionCreate(comm, 1, &size, &x->processes));
  TenonCall(SolverCreate(x->processes, 2 * *degrees, kStep, kDamping, &x->truth));
  TenonCall(SolverCreate(x->processes, *degrees, kStep, kDamping, &x->coarse));
  TenonCall(ClosureCreate(&x->coarse, x->model, kWindow, &x->closure));
  TenonCall(WindowCreate(&x->coarse, &x->window));
  TenonCall(FlowCreateTruncation(&x->truth, *degrees, &x->truncation));
  TenonCall(SolverCreateField(&x->truth, &x->flow));
  TenonCall(SolverCreateField(&x->coarse, &x->bare));
  TenonCall(SolverCreateField(&x->coarse, &x->closed));
  TenonCall(SolverCreateField(&x->coarse, &x->work));
  for (n = 0; n <= kWindow; ++n)
    TenonCall(SolverCreateField(&x->coarse, &x->samples[n]));
  return TENON_SUCCESS;
}

static TenonErrorCode Destroy(Experiment* x) {
  int n;

  for (n = 0; n <= kWindow; ++n)
    TenonCall(TenonDTensorDestroy(&x->samples[n]));
  TenonCall(TenonDTensorDestroy(&x->work));
  TenonCall(TenonDTensorDestroy(&x->closed));
  TenonCall(TenonDTensorDestroy(&x->bare));
  TenonCall(TenonDTensorDestroy(&x->flow));
  TenonCall(TenonLayerDestroy(&x->truncation));
  TenonCall(WindowDestroy(&x->window));
  TenonCall(ClosureDestroy(&x->closure));
  TenonCall(SolverDestroy(&x->coarse));
  TenonCall(SolverDestroy(&x->truth));
  TenonCall(TenonPartitionDestroy(&x->processes));
  return TENON_SUCCESS;
}

static TenonErrorCode Distance(TenonDTensor a, TenonDTensor b, TenonDTensor work,
                               double* distance) {
  TenonCall(TenonDTensorCopy(a, work));
  TenonCall(TenonDTensorAXPBY(-1, b, 1, work));
  TenonCall(TenonDTensorNorm(work, distance));
  return TENON_SUCCESS;
}

/* The wave for half a turn of the globe, with steps that are halved, without damping. */
static TenonErrorCode CheckWave(Experiment* x) {
  double error, before = 0;
  int n, step, steps = 5;

  for (n = 0; n < kHalvings; ++n, steps *= 2) {
    Solver s;
    TenonDTensor z, exact;

    TenonCall(SolverCreate(x->processes, x->degrees, kWaveTime / steps, 0, &s));
    TenonCall(SolverCreateField(&s, &z));
    TenonCall(SolverCreateField(&s, &exact));
    TenonCall(FlowWave(&s, 0, z));
    for (step = 0; step < steps; ++step)
      TenonCall(SolverStep(&s, z, s.stage));
    TenonCall(FlowWave(&s, kWaveTime, exact));
    TenonCall(Distance(z, exact, s.work, &error));
    if (x->rank == 0 && n == 0)
      printf("Rossby-Haurwitz wave, %3d steps: error %.4e\n", steps, error);
    if (x->rank == 0 && n > 0)
      printf("Rossby-Haurwitz wave, %3d steps: error %.4e, order %.2f\n", steps, error,
             log2(before / error));
    before = error;
    TenonCall(TenonDTensorDestroy(&exact));
    TenonCall(TenonDTensorDestroy(&z));
    TenonCall(SolverDestroy(&s));
  }
  return TENON_SUCCESS;
}

/* samples <- the truth now and after each of kWindow steps, with the model's degrees. */
static TenonErrorCode RunTruth(Experiment* x) {
  int n;

  TenonCall(TenonLayerApply(x->truncation, x->flow, x->samples[0]));
  for (n = 1; n <= kWindow; ++n) {
    TenonCall(SolverStep(&x->truth, x->flow, x->truth.stage));
    TenonCall(TenonLayerApply(x->truncation, x->flow, x->samples[n]));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode Check(Experiment* x) {
  TenonCall(FlowStart(&x->truth, 0, x->flow));
  TenonCall(FlowStart(&x->coarse, 1, x->closed)); /* a direction */
  TenonCall(RunTruth(x));
  return WindowCheck(&x->window, &x->closure, x->samples, x->closed);
}

static TenonErrorCode Train(Experiment* x) {
  double loss, sum = 0;
  TenonInt step;

  for (step = 0; step < x->train; ++step) {
    if (step % kWindows == 0)
      TenonCall(FlowStart(&x->truth, (int)(step / kWindows), x->flow));
    TenonCall(RunTruth(x));
    TenonCall(WindowForward(&x->window, &x->closure, x->samples, &loss));
    TenonCall(WindowBackward(&x->window, &x->closure));
    TenonCall(TenonOptimizerSetLearningRate(x->closure.optimizer,
                                            kRate * (1 - 0.9 * (double)step / (double)x->train)));
    TenonCall(TenonOptimizerStep(x->closure.optimizer));
    sum += loss;
    if ((step + 1) * kReports / x->train == step * kReports / x->train)
      continue;
    if (x->rank == 0)
      printf("training step %4ld: loss %.4f\n", (long)step + 1, sum * kReports / (double)x->train);
    sum = 0;
  }
  return TENON_SUCCESS;
}

static TenonErrorCode PrintEnergies(Experiment* x) {
  double* const truth = (double*)malloc((size_t)(3 * x->degrees) * sizeof *truth);
  double *const bare = truth + x->degrees, *const closed = bare + x->degrees;
  TenonInt l;

  TenonCall(FlowEnergy(&x->coarse, x->samples[0], truth));
  TenonCall(FlowEnergy(&x->coarse, x->bare, bare));
  TenonCall(FlowEnergy(&x->coarse, x->closed, closed));
  if (x->rank == 0)
    printf("degree    energy      bare    closed\n");
  for (l = 2; l < x->degrees && x->rank == 0; l += 3)
    printf("%6ld  %.2e  %.2e  %.2e\n", (long)l, truth[l], bare[l], closed[l]);
  free(truth);
  return TENON_SUCCESS;
}

/* The model with and without the closure, from a start that was not trained on; the last truth is
 * in samples[0]. */
static TenonErrorCode Use(Experiment* x) {
  double bare, closed;
  TenonInt step;

  TenonCall(FlowStart(&x->truth, kUnseen, x->flow));
  TenonCall(FlowStart(&x->coarse, kUnseen, x->bare));
  TenonCall(FlowStart(&x->coarse, kUnseen, x->closed));
  if (x->rank == 0)
    printf("error          bare    closed  closed / bare\n");
  for (step = 1; step <= x->use; ++step) {
    TenonCall(SolverStep(&x->truth, x->flow, x->truth.stage));
    TenonCall(SolverStep(&x->coarse, x->bare, x->coarse.stage));
    TenonCall(SolverStep(&x->coarse, x->closed, x->coarse.stage));
    TenonCall(ClosureApply(&x->closure, TENON_FALSE, x->coarse.stage[0], x->closed));
    if (step * kReports / x->use == (step - 1) * kReports / x->use)
      continue;
    TenonCall(TenonLayerApply(x->truncation, x->flow, x->samples[0]));
    TenonCall(Distance(x->bare, x->samples[0], x->work, &bare));
    TenonCall(Distance(x->closed, x->samples[0], x->work, &closed));
    if (x->rank == 0)
      printf("step %4ld  %.2e  %.2e           %.2f\n", (long)step, bare, closed, closed / bare);
  }
  TenonCall(PrintEnergies(x));
  if (x->picture[0])
    TenonCall(PictureWrite(&x->coarse, x->samples[0], x->bare, x->closed, x->picture));
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Experiment x;

  TenonCall(Create(comm, &x));
  TenonCall(CheckWave(&x));
  TenonCall(Check(&x));
  if (!x.model[0])
    TenonCall(Train(&x));
  TenonCall(Use(&x));
  TenonCall(Destroy(&x));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "11 Sphere: a spectral model with a closure\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
