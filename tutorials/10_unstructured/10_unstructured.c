/* SPDX-License-Identifier: BSD-2-Clause */
/* 10 Unstructured: a closure by message passing in a finite-volume solver on a triangulated sphere.
 *
 * What you learn: how to give Tenon the lists that such a code has (mesh.c); how to use its ghost
 * exchange and the adjoint of this in the solver's own arrays (solver.c); how to create message
 * passing on the cells (closure.c), and to train it while the solver runs, through four of its
 * steps (window.c).
 *
 * The same solver runs on a fine and on a coarse mesh. The closure adds fluxes to the coarse one,
 * and learns from the average of the fine flow (truth.c). It is then used from a start that it has
 * never seen, beside the bare coarse mesh, of whose error a tenth remains: mostly the closure takes
 * back the diffusion of a scheme of first order. The mesh is divided by METIS or by recursive
 * coordinate bisection, and the results do not depend on the number of processes.
 *
 *   mpiexec -n 4 10_unstructured
 *   mpiexec -n 4 10_unstructured -level 4 -refinement 2 -tenon_log_view
 *   mpiexec -n 4 10_unstructured -fields sphere          writes sphere.xmf for ParaView
 */
#include "truth.h"
#include "window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kReports = 4, kWindows = 10, kUnseen = 1000, kText = 256 };

static const double kStepOverSide = 0.15, kRate = 1e-2;

typedef struct Experiment {
  MPI_Comm comm;
  int rank;
  TenonInt level, refinement, train, use;
  int* owner;
  Mesh mesh;
  Solver solver;
  Truth truth;
  Window window;
  Closure closure;
  double *samples, *bare, *closed; /* kWindow + 1 fields, and one each */
  char fields[kText];              /* "" for none */
  TenonFieldSeries series;
  TenonDTensor shown[3]; /* placed on the truth's samples, bare and closed */
} Experiment;

static TenonErrorCode DeclareOptions(void) {
  const char* me = "10_unstructured";

  TenonCall(TenonOptionsDeclare(me, "level", TENON_OPTION_INT, "3",
                                "divisions of the icosahedron for the coarse mesh", NULL));
  TenonCall(TenonOptionsDeclare(me, "refinement", TENON_OPTION_INT, "1",
                                "further divisions for the fine mesh", NULL));
  TenonCall(TenonOptionsDeclare(me, "train", TENON_OPTION_INT, "300", "training steps", NULL));
  TenonCall(
      TenonOptionsDeclare(me, "use", TENON_OPTION_INT, "80", "time steps of the comparison", NULL));
  TenonCall(TenonOptionsDeclare(me, "fields", TENON_OPTION_STRING, "",
                                "name of files for ParaView with the flows of the comparison",
                                NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode Create(MPI_Comm comm, Experiment* x) {
  double dt;

  x->comm = comm;
  MPI_Comm_rank(comm, &x->rank);
  TenonCall(TenonOptionsGetInt("-", "level", &x->level));
  TenonCall(TenonOptionsGetInt("-", "refinement", &x->refinement));
  TenonCall(TenonOptionsGetInt("-", "train", &x->train));
  TenonCall(TenonOptionsGetInt("-", "use", &x->use));
  TenonCall(TenonOptionsGetString("-", "fields", x->fields, kText, NULL));
  x->owner = (int*)malloc((size_t)MeshCells((int)x->level) * sizeof *x->owner);
  MeshPartition(comm, (int)x->level, x->owner);
  dt = kStepOverSide / (double)((TenonInt)1 << x->level); /* sides of level 0 are about 1 long */
  TenonCall(MeshCreate(comm, (int)x->level, (int)x->level, x->owner, &x->mesh));
  SolverCreate(&x->mesh, dt, &x->solver);
  TenonCall(TruthCreate(&x->mesh, x->owner, (int)x->refinement, dt, &x->truth));
  TenonCall(ClosureCreate(&x->solver, kWindow, &x->closure));
  WindowCreate(&x->solver, &x->window);
  x->samples = MeshCreateFields(&x->mesh, kWindow + 1);
  x->bare = MeshCreateFields(&x->mesh, 1);
  x->closed = MeshCreateFields(&x->mesh, 1);
  if (x->rank == 0)
    printf("coarse mesh %ld cells, truth %ld cells, time step %.5f and %.5f\n", (long)x->mesh.cells,
           (long)x->truth.mesh.cells, dt, x->truth.solver.dt);
  return TENON_SUCCESS;
}

static TenonErrorCode Destroy(Experiment* x) {
  free(x->closed);
  free(x->bare);
  free(x->samples);
  WindowDestroy(&x->window);
  TenonCall(ClosureDestroy(&x->closure));
  TenonCall(TruthDestroy(&x->truth));
  SolverDestroy(&x->solver);
  TenonCall(MeshDestroy(&x->mesh));
  free(x->owner);
  return TENON_SUCCESS;
}

/* samples <- the truth now and after each of kWindow steps. */
static TenonErrorCode RunTruth(Experiment* x) {
  int n;

  TruthSample(&x->truth, x->samples);
  for (n = 1; n <= kWindow; ++n) {
    TenonCall(TruthStep(&x->truth));
    TruthSample(&x->truth, x->samples + n * MeshSize(&x->mesh));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode Check(Experiment* x) {
  TruthStart(&x->truth, 0);
  TenonCall(RunTruth(x));
  TenonCall(WindowCheck(&x->window, &x->closure, x->samples, x->samples + MeshSize(&x->mesh)));
  return TENON_SUCCESS;
}

/* While the truth runs, the closure learns the steps that it has made, and forgets them. */
static TenonErrorCode Train(Experiment* x) {
  double loss, sum = 0;
  TenonInt step;

  for (step = 0; step < x->train; ++step) {
    if (step % kWindows == 0)
      TruthStart(&x->truth, (int)(step / kWindows));
    TenonCall(RunTruth(x));
    TenonCall(
        WindowForward(&x->window, &x->closure, x->samples, x->samples + MeshSize(&x->mesh), &loss));
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

/* The root mean square of the difference, all fields together; q stays. */
static double Distance(const Experiment* x, const double* q, double* truth) {
  double square;

  MeshAdd(&x->mesh, -1, q, 1, truth);
  square = MeshDot(&x->mesh, truth, truth);
  MeshAdd(&x->mesh, 1, q, 1, truth);
  return sqrt(square / (kFields * (double)x->mesh.cells));
}

/* Each cell is a triangle of its own, since the solver does not number the corners. */
static TenonErrorCode OpenFields(Experiment* x) {
  const Mesh* m = &x->mesh;
  double* const flows[3] = {x->samples, x->bare, x->closed};
  const char* const names[3] = {"truth", "bare", "closed"};
  int n;

  if (!x->fields[0])
    return TENON_SUCCESS;
  TenonCall(TenonFieldSeriesCreate(x->comm, x->fields, 3, &x->series));
  TenonCall(TenonFieldSeriesSetMesh(x->series, m->map, "triangle", NULL, 0, NULL,
                                    m->owned * kSides * 3, m->corners));
  for (n = 0; n < 3; ++n) {
    char components[kText];

    snprintf(components, sizeof components, "%s_h,%s_mx,%s_my,%s_mz", names[n], names[n], names[n],
             names[n]);
    TenonCall(TenonDTensorCreate(m->plain, TENON_FLOAT64, &x->shown[n]));
    TenonCall(MeshPlace(m, x->shown[n], flows[n]));
    TenonCall(TenonFieldSeriesAddTensor(x->series, x->shown[n], names[n], components));
  }
  return TENON_SUCCESS;
}

static TenonErrorCode CloseFields(Experiment* x) {
  int n;

  if (!x->fields[0])
    return TENON_SUCCESS;
  TenonCall(TenonFieldSeriesDestroy(&x->series));
  for (n = 0; n < 3; ++n)
    TenonCall(TenonDTensorDestroy(&x->shown[n]));
  return TENON_SUCCESS;
}

/* The coarse mesh with and without the closure, from a start that was not trained on. */
static TenonErrorCode Use(Experiment* x) {
  const Mesh* m = &x->mesh;
  double mass, bare, closed;
  TenonInt step;

  TruthStart(&x->truth, kUnseen);
  TruthSample(&x->truth, x->bare);
  MeshAdd(m, 1, x->bare, 0, x->closed);
  mass = MeshMass(m, x->closed);
  TenonCall(OpenFields(x));
  if (x->rank == 0)
    printf("error          bare    closed  closed / bare\n");
  for (step = 1; step <= x->use; ++step) {
    TenonCall(TruthStep(&x->truth));
    TenonCall(SolverStep(&x->solver, x->bare, NULL));
    TenonCall(SolverStep(&x->solver, x->closed, NULL));
    TenonCall(ClosureApply(&x->closure, TENON_FALSE, x->solver.stages, x->closed));
    if (step * kReports / x->use == (step - 1) * kReports / x->use)
      continue;
    TruthSample(&x->truth, x->samples);
    bare = Distance(x, x->bare, x->samples);
    closed = Distance(x, x->closed, x->samples);
    if (x->rank == 0)
      printf("step %4ld  %.2e  %.2e           %.2f\n", (long)step, bare, closed, closed / bare);
    if (x->fields[0])
      TenonCall(TenonFieldSeriesWrite(x->series, step, (double)step * x->solver.dt));
  }
  TenonCall(CloseFields(x));
  mass = fabs(MeshMass(m, x->closed) / mass - 1);
  if (x->rank == 0)
    printf("mass with the closure: relative change %s 1e-13\n", mass < 1e-13 ? "below" : "above");
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Experiment x;

  TenonCall(Create(comm, &x));
  TenonCall(Check(&x));
  TenonCall(Train(&x));
  TenonCall(Use(&x));
  TenonCall(Destroy(&x));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "10 Unstructured: message passing in a solver\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
