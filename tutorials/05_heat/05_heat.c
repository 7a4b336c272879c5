/* SPDX-License-Identifier: BSD-2-Clause */
/* 05 Heat: a network beside a solver.
 *
 * What you learn: how to wrap a solver's ghosted arrays in place; how to train a small
 * convolutional closure while the solver runs, and use it in the time step. The result does not
 * depend on the number of processes.
 *
 * The plate conducts heat and radiates it (heat.h). The program first runs the full model, and
 * trains the closure to reproduce the radiation (closure.h). Then, from a cold plate and with the
 * hot spot in another place, it runs the full model, conduction alone, and conduction with the
 * closure, and prints the error of the last two.
 *
 *   mpiexec -n 4 05_heat
 *   mpiexec -n 4 05_heat -train 8000 -tenon_learning_rate 0.01
 */
#include "closure.h"
#include "heat.h"
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

static const double kStep = 0.2, kLater = 40;

enum { kReports = 4, kText = 256 };

typedef struct Fields {
  double *truth, *bare, *closed, *tendency, *radiation, *answer;
} Fields;

static void FieldsCreate(const Heat* heat, Fields* f) {
  double** all[] = {&f->truth, &f->bare, &f->closed, &f->tendency, &f->radiation, &f->answer};
  int i;

  for (i = 0; i < 6; ++i)
    *all[i] = HeatCreateField(heat);
}

static void FieldsDestroy(Fields* f) {
  double* all[] = {f->truth, f->bare, f->closed, f->tendency, f->radiation, f->answer};
  int i;

  for (i = 0; i < 6; ++i)
    free(all[i]);
}

/* One step of the full model. f->radiation then holds the radiation before the step. */
static void StepTruth(const Heat* heat, Fields* f, double time) {
  HeatExchange(heat, f->truth);
  HeatConduction(heat, f->truth, time, f->tendency);
  HeatRadiation(heat, f->truth, f->radiation);
  HeatAdd(heat, f->truth, kStep, f->tendency);
  HeatAdd(heat, f->truth, kStep, f->radiation);
}

static TenonErrorCode Train(const Heat* heat, Closure* closure, Fields* f, TenonInt steps) {
  double error, sum = 0;
  TenonInt step;
  int rank;

  MPI_Comm_rank(heat->comm, &rank);
  for (step = 1; step <= steps; ++step) {
    HeatExchange(heat, f->truth);
    HeatRadiation(heat, f->truth, f->radiation);
    TenonCall(ClosureTrain(closure, f->truth, f->radiation, f->answer, &error));
    StepTruth(heat, f, kStep * (double)step);
    sum += error;
    if (step * kReports % steps < kReports) {
      if (rank == 0)
        printf("training, step %4ld: error of the closure %.2e\n", (long)step,
               sum * kReports / (double)steps);
      sum = 0;
    }
  }
  return TENON_SUCCESS;
}

/* All three models from a cold plate. */
static TenonErrorCode Use(const Heat* heat, Closure* closure, Fields* f, TenonInt steps) {
  double time, bare, closed;
  TenonInt step;
  int rank;

  MPI_Comm_rank(heat->comm, &rank);
  HeatAdd(heat, f->truth, -1, f->truth);
  for (step = 1; step <= steps; ++step) {
    time = kLater + kStep * (double)step;
    StepTruth(heat, f, time);
    HeatExchange(heat, f->bare);
    HeatConduction(heat, f->bare, time, f->tendency);
    HeatAdd(heat, f->bare, kStep, f->tendency);

    HeatExchange(heat, f->closed);
    HeatConduction(heat, f->closed, time, f->tendency);
    TenonCall(ClosureApply(closure, f->closed, f->answer));
    HeatAdd(heat, f->closed, kStep, f->tendency);
    HeatAdd(heat, f->closed, kStep, f->answer);

    if (step * kReports % steps < kReports) {
      bare = HeatDistance(heat, f->truth, f->bare);
      closed = HeatDistance(heat, f->truth, f->closed);
      if (rank == 0)
        printf("use, step %4ld: error without closure %.2e, with closure %.2e\n", (long)step, bare,
               closed);
    }
  }
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Heat heat;
  Closure closure;
  Fields fields;
  TenonInt trainSteps, useSteps;
  char picture[kText];

  TenonCall(TenonOptionsGetInt("-", "train", &trainSteps));
  TenonCall(TenonOptionsGetInt("-", "use", &useSteps));
  TenonCall(TenonOptionsGetString("-", "picture", picture, kText, NULL));
  HeatCreate(comm, &heat);
  FieldsCreate(&heat, &fields);
  TenonCall(ClosureCreate(&heat, &closure));
  TenonCall(Train(&heat, &closure, &fields, trainSteps));
  TenonCall(Use(&heat, &closure, &fields, useSteps));
  if (picture[0])
    TenonCall(PictureWrite(&closure, picture, kLater + (double)useSteps * kStep, fields.truth,
                           fields.closed, fields.answer));
  TenonCall(ClosureDestroy(&closure));
  FieldsDestroy(&fields);
  HeatDestroy(&heat);
  return TENON_SUCCESS;
}

static TenonErrorCode DeclareOptions(void) {
  const char* me = "05_heat";

  TenonCall(TenonOptionsDeclare(me, "train", TENON_OPTION_INT, "4000",
                                "time steps of the full model with one training step each", NULL));
  TenonCall(TenonOptionsDeclare(me, "use", TENON_OPTION_INT, "400",
                                "time steps of the three models", NULL));
  TenonCall(TenonOptionsDeclare(me, "picture", TENON_OPTION_STRING, "heat",
                                "base name of the picture's files; empty: no picture", NULL));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "05 Heat: a network beside a solver\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
