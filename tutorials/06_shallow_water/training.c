/* SPDX-License-Identifier: BSD-2-Clause */
/* Trains the two closures of training.h from the samples of the truth: one first on single steps,
 * then the other, from these weights on, through several steps. Counts the steps and writes the
 * checkpoints. */
#include "training.h"

#include <math.h>
#include <stdio.h>

enum { kReports = 4, kBatch = 2 };

static const double kOneStepRate = 1e-2, kInLoopRate = 5e-3; /* learning rates at the start */

typedef struct Training {
  Experiment* x;
  TenonCheckpoint checkpoint; /* NULL without -checkpoint */
  TenonDTensor flow, samples;
  TenonInt done; /* training steps of both kinds */
  double sum;    /* of the errors since the last report */
} Training;

/* A tensor [count, 3, cells, cells] on fields one after another. */
static TenonErrorCode PlaceFields(const Grid* g, TenonInt count, double* fields, TenonDTensor* t) {
  const TenonInt shape[4] = {count, kFields, g->cells, g->cells};
  const TenonInt low[4] = {0, 0, g->low[0], g->low[1]};
  const TenonInt high[4] = {count, kFields, g->low[0] + g->ny, g->low[1] + g->nx};
  TenonLayout layout;

  TenonCall(TenonLayoutCreateFromBoxes(g->comm, 4, shape, low, high, &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, t));
  TenonCall(GridPlace(g, *t, fields));
  TenonCall(TenonLayoutDestroy(&layout));
  return TENON_SUCCESS;
}

/* The state of the training: networks, optimizers, the flow of the truth and its samples, each
 * rank's part from where it is. Continues from the last checkpoint, if there is one. */
static TenonErrorCode Open(Experiment* x, Training* t) {
  const char* folder = x->settings.checkpoint;
  TenonInt step;

  t->x = x;
  t->checkpoint = NULL;
  t->flow = t->samples = NULL;
  t->done = 0;
  t->sum = 0;
  if (!folder[0])
    return TENON_SUCCESS;
  TenonCall(PlaceFields(&x->truth.grid, 1, x->truth.q, &t->flow));
  TenonCall(PlaceFields(&x->grid, x->settings.online + 1, x->samples, &t->samples));
  TenonCall(TenonCheckpointCreate(x->comm, &t->checkpoint));
  TenonCall(TenonObjectSetFromOptions((TenonObject)t->checkpoint));
  TenonCall(TenonCheckpointAddLayer(t->checkpoint, x->oneStep.network, "one_step"));
  TenonCall(TenonCheckpointAddLayer(t->checkpoint, x->inLoop.network, "in_loop"));
  TenonCall(TenonCheckpointAddOptimizer(t->checkpoint, x->oneStep.optimizer, "one_step"));
  TenonCall(TenonCheckpointAddOptimizer(t->checkpoint, x->inLoop.optimizer, "in_loop"));
  TenonCall(TenonCheckpointAddTensor(t->checkpoint, t->flow, "flow"));
  TenonCall(TenonCheckpointAddTensor(t->checkpoint, t->samples, "samples"));
  TenonCall(TenonCheckpointReadLatest(t->checkpoint, folder, &step));
  if (step < 0)
    return TENON_SUCCESS;
  t->done = step;
  TenonCall(TenonObjectGetReal((TenonObject)t->checkpoint, "error_sum", &t->sum));
  if (x->rank == 0)
    fprintf(stderr, "continues from %s after %ld training steps\n", folder, (long)step);
  return TENON_SUCCESS;
}

static TenonErrorCode Close(Training* t) {
  TenonCall(TenonCheckpointDestroy(&t->checkpoint));
  TenonCall(TenonDTensorDestroy(&t->samples));
  TenonCall(TenonDTensorDestroy(&t->flow));
  return TENON_SUCCESS;
}

/* Counts a training step, and writes a checkpoint every -every steps, after the last and at -stop.
 */
static TenonErrorCode Count(Training* t) {
  const Settings* s = &t->x->settings;

  ++t->done;
  if (!t->checkpoint)
    return TENON_SUCCESS;
  if (t->done % s->every && t->done != s->online + s->inLoop && t->done != s->stop)
    return TENON_SUCCESS;
  TenonCall(TenonObjectSetReal((TenonObject)t->checkpoint, "error_sum", t->sum));
  TenonCall(TenonCheckpointWriteStep(t->checkpoint, s->checkpoint, t->done));
  return TENON_SUCCESS;
}

/* Forward and backward through `steps` steps from the sample number `first`. */
static TenonErrorCode Learn(Training* t, Closure* closure, int steps, TenonInt first) {
  const ptrdiff_t size = t->x->grid.size;
  const double* start = t->x->samples + first * size;
  double loss;

  TenonCall(WindowForward(&t->x->window, closure, steps, start, start + size, &loss));
  TenonCall(WindowBackward(&t->x->window, closure, steps, 0));
  t->sum += WindowError(&t->x->window, steps) / kBatch;
  return TENON_SUCCESS;
}

/* An optimizer step with a learning rate that falls from `rate` to 0 like a cosine. */
static TenonErrorCode Update(Closure* closure, double rate, TenonInt step, TenonInt steps) {
  const double falling =
      rate * (1 + cos(3.14159265358979323846 * (double)step / (double)steps)) / 2;

  TenonCall(TenonOptimizerSetLearningRate(closure->optimizer, falling));
  TenonCall(TenonOptimizerStep(closure->optimizer));
  return TENON_SUCCESS;
}

/* Prints the mean error since the last report, kReports times in `steps` steps. */
static void Report(Training* t, const char* what, int window, TenonInt step, TenonInt steps) {
  const TenonInt from = (step * kReports / steps) * steps;

  if ((step + 1) * kReports / steps * steps == from)
    return;
  if (t->x->rank == 0)
    printf("%s, training step %4ld: velocity error after %d step%s %.3e\n", what, (long)step + 1,
           window, window > 1 ? "s" : "", t->sum * kReports / (double)steps);
  t->sum = 0;
}

/* Sample number `draw` of the range [0, count): multiples of the golden ratio fill it evenly. */
static TenonInt Pick(TenonInt draw, TenonInt count) {
  return (TenonInt)(fmod(0.6180339887498949 * (double)draw, 1) * (double)count);
}

/* The truth takes a step; the closure learns this step and an earlier one. */
static TenonErrorCode OnlineStep(Training* t, TenonInt step) {
  Experiment* x = t->x;

  if (step == 0) {
    TenonCall(TruthStart(&x->truth, kTrainingSeed, (int)x->settings.spinup));
    TruthSample(&x->truth, x->samples);
  }
  TenonCall(TruthStep(&x->truth));
  TruthSample(&x->truth, x->samples + (step + 1) * x->grid.size);
  TenonCall(Learn(t, &x->oneStep, 1, step));
  TenonCall(Learn(t, &x->oneStep, 1, Pick(step, step + 1)));
  TenonCall(Update(&x->oneStep, kOneStepRate, step, x->settings.online));
  Report(t, "while the truth runs", 1, step, x->settings.online);
  return TENON_SUCCESS;
}

/* The closure learns kWindow steps of the coarse solver from two of the samples. */
static TenonErrorCode InLoopStep(Training* t, TenonInt step) {
  Experiment* x = t->x;
  const TenonInt starts = x->settings.online - kWindow + 1;

  if (step == 0)
    TenonCall(ClosureCopy(&x->oneStep, &x->inLoop));
  TenonCall(Learn(t, &x->inLoop, kWindow, Pick(2 * step, starts)));
  TenonCall(Learn(t, &x->inLoop, kWindow, Pick(2 * step + 1, starts)));
  TenonCall(Update(&x->inLoop, kInLoopRate, step, x->settings.inLoop));
  Report(t, "through the solver", kWindow, step, x->settings.inLoop);
  return TENON_SUCCESS;
}

TenonErrorCode Train(Experiment* x, TenonBool* ended) {
  const Settings* s = &x->settings;
  Training t;

  TenonCall(Open(x, &t));
  *ended = TENON_FALSE;
  while (t.done < s->online + s->inLoop && !*ended) {
    if (t.done < s->online)
      TenonCall(OnlineStep(&t, t.done));
    else
      TenonCall(InLoopStep(&t, t.done - s->online));
    TenonCall(Count(&t));
    *ended = t.done == s->stop;
  }
  TenonCall(Close(&t));
  return TENON_SUCCESS;
}
