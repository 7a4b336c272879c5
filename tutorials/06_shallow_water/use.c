/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the models from the unseen start (use.h): runs each, and prints errors against the
 * truth, stability, spectrum and time of a step. */
#include "use.h"

#include "fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { kReports = 4, kBands = 4, kTimed = 50 };

/* A flow has blown up if its velocity is this large, in units of the wave speed. */
static const double kBlowUp = 2.5;

TenonErrorCode UseTruth(Experiment* x) {
  TenonInt step;

  TenonCall(TruthStart(&x->truth, (int)x->settings.start, (int)x->settings.spinup));
  TruthSample(&x->truth, x->unseen);
  for (step = 1; step <= x->settings.use; ++step) {
    TenonCall(TruthStep(&x->truth));
    TruthSample(&x->truth, x->unseen + step * x->grid.size);
  }
  return TENON_SUCCESS;
}

/* q <- S(q) + the model's change. */
static TenonErrorCode StepModel(Experiment* x, Model model, double* q, double* change) {
  if (model == kOffline)
    TenonCall(RegressionApply(&x->regression, q, change));
  if (model == kOneStep)
    TenonCall(ClosureApply(&x->oneStep, TENON_FALSE, q, change));
  if (model == kInLoop)
    TenonCall(ClosureApply(&x->inLoop, TENON_FALSE, q, change));
  TenonCall(SolverStep(&x->solver, q, NULL));
  if (model != kBare)
    GridAdd(&x->grid, 1, change, 1, q);
  return TENON_SUCCESS;
}

/* errors[n] is that of the velocity after n steps; q ends as the flow after the last. */
static TenonErrorCode RunModel(Experiment* x, Model model, double* q, double* errors) {
  const Grid* g = &x->grid;
  double* work = GridCreateFields(g, 1);
  TenonInt step;

  GridAdd(g, 1, x->unseen, 0, q);
  errors[0] = 0;
  for (step = 1; step <= x->settings.use; ++step) {
    TenonCall(StepModel(x, model, q, work));
    GridAdd(g, 1, q, 0, work);
    GridAdd(g, -1, x->unseen + step * g->size, 1, work);
    errors[step] = GridVelocity(g, work);
  }
  free(work);
  return TENON_SUCCESS;
}

static void PrintErrors(const Experiment* x, double* const errors[kModels]) {
  TenonInt report;
  int model;

  printf("velocity error     bare   offline  one step   in loop   in loop / bare\n");
  for (report = 1; report <= kReports; ++report) {
    const TenonInt step = report * x->settings.use / kReports;

    printf("step %4ld     ", (long)step);
    for (model = 0; model < kModels; ++model)
      printf("%10.2e", fabs(errors[model][step])); /* nan, not -nan */
    printf("%10.2f\n", errors[kInLoop][step] / errors[kBare][step]);
  }
}

/* The step after which the flow has blown up, or -1. */
static TenonErrorCode FindBlowUp(Experiment* x, Model model, TenonInt* blown, double* velocity) {
  const Grid* g = &x->grid;
  double *q = GridCreateFields(g, 2), *change = q + g->size;
  TenonInt step;

  *blown = -1;
  GridAdd(g, 1, x->unseen, 0, q);
  for (step = 1; step <= x->settings.stable && *blown < 0; ++step) {
    TenonCall(StepModel(x, model, q, change));
    *velocity = GridVelocity(g, q);
    if (!(*velocity < kBlowUp))
      *blown = step;
  }
  free(q);
  return TENON_SUCCESS;
}

static TenonErrorCode PrintStability(Experiment* x) {
  static const char* const names[kModels] = {"bare", "offline", "one step", "in loop"};
  TenonInt blown;
  double velocity = 0;
  int model;

  for (model = 0; model < kModels; ++model) {
    TenonCall(FindBlowUp(x, (Model)model, &blown, &velocity));
    if (x->rank == 0 && blown < 0)
      printf("%-8s no blow-up in %ld steps, velocity then %.3f\n", names[model],
             (long)x->settings.stable, velocity);
    if (x->rank == 0 && blown >= 0)
      printf("%-8s blows up at step %ld\n", names[model], (long)blown);
  }
  return TENON_SUCCESS;
}

/* Kinetic energy in bands of wave numbers 1-2, 3-4, 5-8, 9-16. */
static void PrintSpectrum(int cells, double* const flows[3]) {
  double energy[3][kBands];
  int flow, band, low = 1, high = 2;

  for (flow = 0; flow < 3; ++flow)
    FieldsSpectrum(cells, flows[flow], kBands, energy[flow]);
  printf("kinetic energy    truth      bare   in loop\n");
  for (band = 0; band < kBands; ++band, low = high + 1, high *= 2)
    printf("waves %2d to %2d%10.2e%10.2e%10.2e\n", low, high, energy[0][band], energy[1][band],
           energy[2][band]);
}

/* Milliseconds of the fastest of kTimed coarse steps of a model, of the truth if the model is
 * kModels. */
static TenonErrorCode Measure(Experiment* x, Model model, const char* stage, double* ms) {
  double *q = GridCreateFields(&x->grid, 2), *change = q + x->grid.size, start;
  int n;

  *ms = HUGE_VAL;
  GridAdd(&x->grid, 1, x->unseen, 0, q);
  TenonCall(TenonLogStagePush(stage));
  for (n = 0; n < kTimed; ++n) {
    start = MPI_Wtime();
    if (model == kModels)
      TenonCall(TruthStep(&x->truth));
    else
      TenonCall(StepModel(x, model, q, change));
    *ms = fmin(*ms, 1000 * (MPI_Wtime() - start));
  }
  TenonCall(TenonLogStagePop());
  free(q);
  return TENON_SUCCESS;
}

static TenonErrorCode PrintCost(Experiment* x) {
  double bare, closed, fine;

  TenonCall(Measure(x, kBare, "50 bare steps", &bare));
  TenonCall(Measure(x, kInLoop, "50 closed steps", &closed));
  TenonCall(Measure(x, kModels, "50 steps of the truth", &fine));
  if (x->rank == 0)
    printf(
        "time of a coarse step: bare %.2f ms, closed %.2f ms, truth %.2f ms; truth / closed %.1f\n",
        bare, closed, fine, fine / closed);
  return TENON_SUCCESS;
}

TenonErrorCode Use(Experiment* x) {
  const Grid* g = &x->grid;
  double *flows[kModels], *errors[kModels], *whole[3];
  int model;

  for (model = 0; model < kModels; ++model) {
    flows[model] = GridCreateFields(g, 1);
    errors[model] = (double*)calloc((size_t)x->settings.use + 1, sizeof(double));
    TenonCall(RunModel(x, (Model)model, flows[model], errors[model]));
  }
  TenonCall(FieldsGather(g, x->unseen + x->settings.use * g->size, &whole[0]));
  TenonCall(FieldsGather(g, flows[kBare], &whole[1]));
  TenonCall(FieldsGather(g, flows[kInLoop], &whole[2]));
  if (x->rank == 0)
    PrintErrors(x, errors);
  TenonCall(PrintStability(x));
  if (x->rank == 0) {
    PrintSpectrum(g->cells, whole);
    if (x->settings.fields[0])
      TenonCall(FieldsWrite(x->settings.fields, g, whole, (int)x->settings.use, errors));
  }
  if (x->settings.measure)
    TenonCall(PrintCost(x));
  for (model = 0; model < 3; ++model)
    free(whole[model]);
  for (model = 0; model < kModels; ++model) {
    free(errors[model]);
    free(flows[model]);
  }
  return TENON_SUCCESS;
}
