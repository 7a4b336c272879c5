/* SPDX-License-Identifier: BSD-2-Clause */
/* 06 Shallow water: a closure for a coarse grid, trained inside the solver.
 *
 * What you learn: how to couple a network with an existing explicit solver on a staggered grid; how
 * to train it while the solver runs, and then through several steps of the solver, whose
 * derivatives come from its equations as a network (equations.h); how to continue from a checkpoint
 * on any number of processes; and how to find out whether it was worth it. README.md has the
 * results with pictures.
 *
 * The same solver (solver.h) runs on a fine and on a coarse grid. What the fine one knows and the
 * coarse one lacks is learnt by a small convolutional network (closure.h), first from single steps
 * while the fine solver runs, then through 8 steps of the coarse solver (window.h, adjoint.c). It
 * is then used from a start that it has never seen, beside the bare coarse grid and a regression
 * that was fitted offline (regression.h).
 *
 *   mpiexec -n 4 06_shallow_water
 *   mpiexec -n 4 06_shallow_water -fields water && python3 picture.py water
 *   mpiexec -n 4 06_shallow_water -checkpoint run1 -stop 300     then, on other processes,
 *   mpiexec -n 2 06_shallow_water -checkpoint run1
 *   mpiexec -n 4 06_shallow_water -measure -tenon_log_view
 */
#include "check.h"
#include "experiment.h"
#include "training.h"
#include "use.h"

#include <stdio.h>
#include <stdlib.h>

static TenonErrorCode DeclareInt(const char* name, const char* value, const char* help) {
  TenonCall(TenonOptionsDeclare("06_shallow_water", name, TENON_OPTION_INT, value, help, NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode DeclareOptions(void) {
  const char* me = "06_shallow_water";

  TenonCall(DeclareInt("cells", "32", "cells of the coarse grid in each direction"));
  TenonCall(DeclareInt("refinement", "4", "cells of the fine grid for each of these"));
  TenonCall(DeclareInt("spinup", "110", "coarse steps before samples are taken"));
  TenonCall(DeclareInt("online", "600", "training steps while the truth runs; at least 8"));
  TenonCall(DeclareInt("in_loop", "200", "training steps through 8 steps of the solver"));
  TenonCall(DeclareInt("start", "2", "number of the unseen start; that of the training is 1"));
  TenonCall(DeclareInt("use", "96", "coarse steps from the unseen start"));
  TenonCall(DeclareInt("stable", "1000", "steps in which a blow-up is looked for"));
  TenonCall(DeclareInt("every", "200", "training steps from one checkpoint to the next"));
  TenonCall(DeclareInt("stop", "0", "training step after which the program ends; 0: none"));
  TenonCall(TenonOptionsDeclare(me, "measure", TENON_OPTION_FLAG, "false",
                                "print the time of a step of each model", NULL));
  TenonCall(TenonOptionsDeclare(me, "checkpoint", TENON_OPTION_STRING, "",
                                "folder of checkpoints, from the last of which training continues; "
                                "empty: none",
                                NULL));
  TenonCall(TenonOptionsDeclare(me, "fields", TENON_OPTION_STRING, "",
                                "base name of the files for picture.py; empty: none", NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode ReadSettings(int rank, Settings* s) {
  TenonCall(TenonOptionsGetInt("-", "cells", &s->cells));
  TenonCall(TenonOptionsGetInt("-", "refinement", &s->refinement));
  TenonCall(TenonOptionsGetInt("-", "spinup", &s->spinup));
  TenonCall(TenonOptionsGetInt("-", "online", &s->online));
  TenonCall(TenonOptionsGetInt("-", "in_loop", &s->inLoop));
  TenonCall(TenonOptionsGetInt("-", "start", &s->start));
  TenonCall(TenonOptionsGetInt("-", "use", &s->use));
  TenonCall(TenonOptionsGetInt("-", "stable", &s->stable));
  TenonCall(TenonOptionsGetInt("-", "every", &s->every));
  TenonCall(TenonOptionsGetInt("-", "stop", &s->stop));
  TenonCall(TenonOptionsGetFlag("-", "measure", &s->measure));
  TenonCall(TenonOptionsGetString("-", "checkpoint", s->checkpoint, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "fields", s->fields, kText, NULL));
  if (s->cells > 0 && s->refinement > 0 && s->online >= kWindow && s->every > 0 &&
      s->use >= kWindow)
    return TENON_SUCCESS;
  if (rank == 0)
    fprintf(stderr,
            "06_shallow_water: -cells, -refinement and -every must be positive, -online and "
            "-use at least 8\n");
  return TENON_ERR_OPTION;
}

static TenonErrorCode Create(MPI_Comm comm, Experiment* x) {
  Settings* s = &x->settings;

  x->comm = comm;
  MPI_Comm_rank(comm, &x->rank);
  TenonCall(ReadSettings(x->rank, s));
  TenonCall(GridCreate(comm, (int)s->cells, 1, kLength, &x->grid));
  TenonCall(SolverCreate(&x->grid, TruthTimeStep(&x->grid), &x->solver));
  TenonCall(TruthCreate(&x->grid, (int)s->refinement, &x->truth));
  TenonCall(WindowCreate(&x->solver, &x->window));
  TenonCall(RegressionCreate(&x->solver, &x->regression));
  TenonCall(ClosureCreate(&x->grid, x->solver.dt, kWindow, &x->oneStep));
  TenonCall(ClosureCreate(&x->grid, x->solver.dt, kWindow, &x->inLoop));
  x->samples = GridCreateFields(&x->grid, (int)s->online + 1);
  x->unseen = GridCreateFields(&x->grid, (int)s->use + 1);
  return TENON_SUCCESS;
}

static TenonErrorCode Destroy(Experiment* x) {
  free(x->unseen);
  free(x->samples);
  TenonCall(ClosureDestroy(&x->inLoop));
  TenonCall(ClosureDestroy(&x->oneStep));
  TenonCall(RegressionDestroy(&x->regression));
  WindowDestroy(&x->window);
  TenonCall(TruthDestroy(&x->truth));
  TenonCall(SolverDestroy(&x->solver));
  TenonCall(GridDestroy(&x->grid));
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Experiment x;
  TenonBool ended;

  TenonCall(Create(comm, &x));
  if (x.rank == 0)
    printf("coarse grid %d x %d, truth %d x %d, time step %.4f and %.4f\n", x.grid.cells,
           x.grid.cells, x.truth.grid.cells, x.truth.grid.cells, x.solver.dt, x.truth.solver.dt);
  TenonCall(UseTruth(&x));
  TenonCall(CheckSolver(&x.solver, x.unseen));
  TenonCall(CheckWindow(&x.window, &x.oneStep, x.unseen, x.unseen + x.grid.size));
  TenonCall(Train(&x, &ended));
  if (!ended) {
    TenonCall(RegressionFit(&x.regression, x.samples, (int)x.settings.online, 4));
    if (x.rank == 0)
      printf("offline: the regression explains %.2f of the missing tendencies' variance\n",
             x.regression.explained);
    TenonCall(Use(&x));
  }
  TenonCall(Destroy(&x));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "06 Shallow water: a closure for a coarse grid\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
