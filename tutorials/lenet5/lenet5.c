/* SPDX-License-Identifier: BSD-2-Clause */
/* LeNet-5 trained on digits, on any process grid.
 *
 * What you learn: how to distribute a whole network. The images are split over a 2 x 2 process grid
 * by rows and columns, and the affine weights over the same grid; training gives the same result as
 * on one process, and the program is the same for both. The distribution is specified in network.c,
 * with one label per layer and grid axis; halo exchanges, redistributions, reductions and their
 * adjoints follow from it.
 *
 *   lenet5                                 one process
 *   mpiexec -n 4 lenet5 -grid 2x2          four processes
 *   lenet5 -network linear                 a linear classifier, for comparison
 *   lenet5 -data FOLDER                    MNIST's four files, or others in the same format
 *   lenet5 -tenon_stop_patience 3          ends when three epochs in a row were no better
 *   lenet5 -checkpoint run1 -every 100     a checkpoint every 100 steps, in the folder run1; the
 *                                          same command goes on from the last one, on any number
 *                                          of processes
 *
 * Without -data the program draws its own digits into the folder "digits". It prints the mean
 * training loss and the test accuracy of each epoch, and with -out writes them as CSV. The training
 * follows Hewett and Grady 2020, Appendix C.2: Adam, learning rate 0.001, cross-entropy, batches of
 * 256.
 */
#include "digits.h"
#include "images.h"
#include "network.h"
#include "report.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kClasses = 10, kText = 512, kTrainImages = 12000, kTestImages = 2000, kCompareStep = 20 };

typedef struct Settings {
  TenonInt epochs, batch, testBatch, seed, every;
  int grid[2];
  char data[kText], network[kText], out[kText], parameters[kText], checkpoint[kText];
} Settings;

typedef struct Training {
  TenonLayer network, loss;
  TenonOptimizer optimizer;
  TenonDTensor logits, dlogits, value, dvalue;
  TenonCheckpoint checkpoint; /* NULL without -checkpoint */
  TenonInt step;              /* steps done */
  double sum;                 /* of the losses of this epoch's steps */
  int signal;                 /* that told the program to end */
} Training;

static TenonErrorCode DeclareOptions(void) {
  const char* me = "lenet5";

  TenonCall(TenonOptionsDeclare(me, "data", TENON_OPTION_STRING, "",
                                "folder of MNIST's four IDX files; empty: draw digits", NULL));
  TenonCall(TenonOptionsDeclare(me, "network", TENON_OPTION_CHOICE, "lenet5", "network to train",
                                "lenet5|linear"));
  TenonCall(TenonOptionsDeclare(me, "grid", TENON_OPTION_STRING, "",
                                "process grid, rows x columns, such as 2x2; empty: chosen", NULL));
  TenonCall(TenonOptionsDeclare(me, "epochs", TENON_OPTION_INT, "8",
                                "passes over the training images", NULL));
  TenonCall(TenonOptionsDeclare(me, "batch", TENON_OPTION_INT, "256",
                                "number of images per training step", NULL));
  TenonCall(TenonOptionsDeclare(me, "test_batch", TENON_OPTION_INT, "250",
                                "number of images per test batch", NULL));
  TenonCall(TenonOptionsDeclare(me, "seed", TENON_OPTION_INT, "1",
                                "random seed of the initial weights and the order of images",
                                NULL));
  TenonCall(TenonOptionsDeclare(me, "out", TENON_OPTION_STRING, "",
                                "CSV file to write losses and accuracies to", NULL));
  TenonCall(TenonOptionsDeclare(me, "parameters", TENON_OPTION_STRING, "",
                                "file to write the parameters after 20 steps to", NULL));
  TenonCall(TenonOptionsDeclare(me, "checkpoint", TENON_OPTION_STRING, "",
                                "folder of checkpoints, from the last of which training continues; "
                                "empty: none",
                                NULL));
  TenonCall(TenonOptionsDeclare(me, "every", TENON_OPTION_INT, "100",
                                "number of steps from one checkpoint to the next", NULL));
  return TENON_SUCCESS;
}

/* Reads "2x2", whose product must be the number of processes; "" chooses a nearly square grid. */
static int ParseGrid(const char* text, int size, int grid[2]) {
  char rest;

  if (!text[0]) {
    for (grid[0] = (int)sqrt((double)size); size % grid[0] != 0; --grid[0]) {
    }
    grid[1] = size / grid[0];
  } else if (sscanf(text, "%dx%d%c", &grid[0], &grid[1], &rest) != 2)
    return 0;
  return grid[0] > 0 && grid[1] > 0 && grid[0] * grid[1] == size;
}

static TenonErrorCode ReadSettings(MPI_Comm comm, Settings* s) {
  char grid[kText];
  int size, rank;

  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonOptionsGetInt("-", "epochs", &s->epochs));
  TenonCall(TenonOptionsGetInt("-", "batch", &s->batch));
  TenonCall(TenonOptionsGetInt("-", "test_batch", &s->testBatch));
  TenonCall(TenonOptionsGetInt("-", "seed", &s->seed));
  TenonCall(TenonOptionsGetString("-", "data", s->data, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "network", s->network, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "out", s->out, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "parameters", s->parameters, kText, NULL));
  TenonCall(TenonOptionsGetString("-", "checkpoint", s->checkpoint, kText, NULL));
  TenonCall(TenonOptionsGetInt("-", "every", &s->every));
  TenonCall(TenonOptionsGetString("-", "grid", grid, kText, NULL));
  if (s->every < 1) {
    if (rank == 0)
      fprintf(stderr, "lenet5: -every %lld must be at least 1\n", (long long)s->every);
    return TENON_ERR_OPTION;
  }
  if (!ParseGrid(grid, size, s->grid)) {
    if (rank == 0)
      fprintf(stderr,
              "lenet5: -grid %s must be ROWSxCOLUMNS with a product of %d, the number of "
              "processes\n",
              grid, size);
    return TENON_ERR_OPTION;
  }
  return TENON_SUCCESS;
}

/* Rank 0 draws the digits unless the files exist. */
static TenonErrorCode PrepareData(MPI_Comm comm, Settings* s) {
  char file[kText + 32];
  int rank, failed = 0;
  FILE* known;

  if (s->data[0])
    return TENON_SUCCESS;
  snprintf(s->data, kText, "digits");
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    /* This file is written last: if it exists, so do the other three. */
    snprintf(file, sizeof file, "%s/t10k-labels-idx1-ubyte", s->data);
    known = fopen(file, "rb");
    if (known)
      fclose(known);
    else {
      printf("drawing %d + %d digits into %s\n", kTrainImages, kTestImages, s->data);
      failed = DigitsWrite(s->data, kTrainImages, kTestImages, 1);
      if (failed)
        fprintf(stderr, "lenet5: %s\n", DigitsMessage());
    }
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, comm);
  return failed ? TENON_ERR_FILE : TENON_SUCCESS;
}

static TenonErrorCode OpenTraining(MPI_Comm comm, const Settings* s, TenonLayout x, Training* t) {
  TenonLayout logits;

  if (strcmp(s->network, "linear") == 0)
    TenonCall(NetworkLinear(comm, &t->network));
  else
    TenonCall(NetworkLeNet5(comm, &t->network));
  TenonCall(TenonObjectSetFromOptions((TenonObject)t->network));
  TenonCall(TenonLayerSetUp(t->network, x));
  TenonCall(TenonLayerInitialize(t->network, s->seed));
  TenonCall(TenonLayerGetOutputLayout(t->network, 0, &logits));
  TenonCall(TenonLayerCreateType(comm, "crossentropy", &t->loss));
  TenonCall(TenonLayerSetUp(t->loss, logits));
  TenonCall(TenonLayoutDestroy(&logits));
  TenonCall(TenonLayerCreateOutput(t->network, 0, &t->logits));
  TenonCall(TenonLayerCreateOutputCotangent(t->network, 0, &t->dlogits));
  TenonCall(TenonLayerCreateOutput(t->loss, 0, &t->value));
  TenonCall(TenonLayerCreateOutputCotangent(t->loss, 0, &t->dvalue));
  TenonCall(TenonDTensorFillConstant(t->dvalue, 1.0));
  TenonCall(TenonOptimizerCreate(t->network, "adam", &t->optimizer));
  TenonCall(TenonObjectSetFromOptions((TenonObject)t->optimizer));
  return TENON_SUCCESS;
}

/* Continues from the last checkpoint, if there is one. */
static TenonErrorCode OpenCheckpoint(MPI_Comm comm, const Settings* s, Training* t) {
  TenonInt step;
  int rank;

  t->checkpoint = NULL;
  t->step = 0;
  t->sum = 0;
  t->signal = 0;
  if (!s->checkpoint[0])
    return TENON_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonCheckpointCreate(comm, &t->checkpoint));
  TenonCall(TenonObjectSetFromOptions((TenonObject)t->checkpoint));
  TenonCall(TenonCheckpointAddLayer(t->checkpoint, t->network, "network"));
  TenonCall(TenonCheckpointAddOptimizer(t->checkpoint, t->optimizer, "optimizer"));
  TenonCall(TenonCheckpointOnSignal(t->checkpoint, SIGTERM));
  TenonCall(TenonCheckpointReadLatest(t->checkpoint, s->checkpoint, &step));
  if (step >= 0) {
    t->step = step;
    TenonCall(TenonObjectGetReal((TenonObject)t->checkpoint, "epoch_loss_sum", &t->sum));
  }
  if (rank == 0 && step >= 0)
    printf("restart from %s: step %lld\n", s->checkpoint, (long long)step);
  return TENON_SUCCESS;
}

/* Writes a checkpoint every s->every steps, after the last step, and if the program is to end. */
static TenonErrorCode Save(MPI_Comm comm, const Settings* s, Training* t, TenonInt lastStep) {
  int rank;

  if (!t->checkpoint)
    return TENON_SUCCESS;
  TenonCall(TenonCheckpointGetSignal(t->checkpoint, &t->signal));
  if (!t->signal && t->step % s->every != 0 && t->step != lastStep)
    return TENON_SUCCESS;
  TenonCall(TenonObjectSetReal((TenonObject)t->checkpoint, "epoch_loss_sum", t->sum));
  TenonCall(TenonCheckpointWriteStep(t->checkpoint, s->checkpoint, t->step));
  MPI_Comm_rank(comm, &rank);
  if (t->signal && rank == 0)
    printf("signal %d: stopped after step %lld; the same command continues there\n", t->signal,
           (long long)t->step);
  return TENON_SUCCESS;
}

static TenonErrorCode CloseTraining(Training* t) {
  TenonCall(TenonCheckpointDestroy(&t->checkpoint));
  TenonCall(TenonOptimizerDestroy(&t->optimizer));
  TenonCall(TenonDTensorDestroy(&t->dvalue));
  TenonCall(TenonDTensorDestroy(&t->value));
  TenonCall(TenonDTensorDestroy(&t->dlogits));
  TenonCall(TenonDTensorDestroy(&t->logits));
  TenonCall(TenonLayerDestroy(&t->loss));
  TenonCall(TenonLayerDestroy(&t->network));
  return TENON_SUCCESS;
}

/* One step on one batch: forward, backward, update. */
static TenonErrorCode Step(Training* t, Images* data, TenonInt epoch, TenonInt batch,
                           double* loss) {
  const void* value;

  TenonCall(ImagesGetBatch(data, epoch, batch));
  TenonCall(TenonLayerApply(t->network, data->x, t->logits));
  TenonCall(TenonLayerSetTarget(t->loss, data->classes));
  TenonCall(TenonLayerApply(t->loss, t->logits, t->value));
  TenonCall(TenonLayerApplyAdjoint(t->loss, t->dvalue, t->dlogits));
  TenonCall(TenonLayerApplyAdjoint(t->network, t->dlogits, NULL));
  TenonCall(TenonOptimizerStep(t->optimizer));
  TenonCall(TenonDTensorGetArrayRead(t->value, TENON_FLOAT32, &value));
  *loss = ((const float*)value)[0];
  TenonCall(TenonDTensorRestoreArrayRead(t->value, &value));
  return TENON_SUCCESS;
}

static int CountCorrect(const float* logits, const int64_t* labels, TenonInt samples) {
  int correct = 0;
  TenonInt n;

  for (n = 0; n < samples; ++n) {
    const float* row = logits + n * kClasses;
    int c, best = 0;

    for (c = 1; c < kClasses; ++c)
      if (row[c] > row[best])
        best = c;
    correct += best == labels[n];
  }
  return correct;
}

/* Percentage of the test images whose largest logit is that of their class; evaluated on rank 0. */
static TenonErrorCode TestAccuracy(MPI_Comm comm, Training* t, Images* test, double* accuracy) {
  int correct = 0;
  TenonInt batch, samples = 0, count;
  const void *logitValues, *labelValues;
  TenonDTensor logits;
  TenonLayout layout, labelLayout;
  Collector collector, labelCollector;

  TenonCall(TenonLayerSetUp(t->network, test->layout));
  TenonCall(TenonLayerSetTraining(t->network, TENON_FALSE));
  TenonCall(TenonLayerCreateOutput(t->network, 0, &logits));
  TenonCall(TenonDTensorGetLayout(logits, &layout));
  TenonCall(CollectorCreate(comm, layout, TENON_FLOAT32, &collector));
  TenonCall(TenonDTensorGetLayout(test->classes, &labelLayout));
  TenonCall(CollectorCreate(comm, labelLayout, TENON_INT64, &labelCollector));
  for (batch = 0; batch < ImagesBatches(test); ++batch) {
    TenonCall(ImagesGetBatch(test, 0, batch));
    TenonCall(TenonLayerApply(t->network, test->x, logits));
    TenonCall(CollectorGet(&collector, logits, &logitValues, &count));
    TenonCall(CollectorGet(&labelCollector, test->classes, &labelValues, &count));
    correct += CountCorrect(logitValues, labelValues, count);
    samples += count;
  }
  *accuracy = samples > 0 ? 100.0 * correct / (double)samples : 0;
  MPI_Bcast(accuracy, 1, MPI_DOUBLE, 0, comm);
  TenonCall(CollectorDestroy(&labelCollector));
  TenonCall(CollectorDestroy(&collector));
  TenonCall(TenonLayoutDestroy(&labelLayout));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorDestroy(&logits));
  TenonCall(TenonLayerSetTraining(t->network, TENON_TRUE));
  return TENON_SUCCESS;
}

/* What remains of an epoch of training. The first step of the run includes one-time set-up and is
 * not timed. */
static TenonErrorCode TrainEpoch(MPI_Comm comm, const Settings* s, Training* t, Images* train,
                                 TenonInt epoch, TenonInt batches, double* stepMs) {
  double seconds = 0, loss, start;
  TenonInt batch = t->step - epoch * batches, timed = 0;

  if (batch == 0)
    t->sum = 0;
  for (; batch < batches && !t->signal; ++batch) {
    start = MPI_Wtime();
    TenonCall(Step(t, train, epoch, batch, &loss));
    t->sum += loss;
    ++t->step;
    TenonCall(TenonProgressShow("train", t->step, s->epochs * batches, "loss", loss));
    if (t->step > 1) {
      seconds += MPI_Wtime() - start;
      ++timed;
    }
    if (s->parameters[0] && t->step == kCompareStep)
      TenonCall(ReportWriteParameters(comm, t->network, s->parameters));
    TenonCall(Save(comm, s, t, s->epochs * batches));
  }
  *stepMs = timed > 0 ? 1000 * seconds / (double)timed : 0;
  return TENON_SUCCESS;
}

static TenonErrorCode Run(MPI_Comm comm) {
  Settings s;
  Images train, test;
  Training t;
  Text csv = {NULL, 0, 0};
  double loss, ms, accuracy;
  TenonBool stop = TENON_FALSE;
  TenonInt epoch, batches;
  int rank, size;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  TenonCall(ReadSettings(comm, &s));
  TenonCall(PrepareData(comm, &s));
  TenonCall(ImagesOpen(comm, s.data, "train", s.batch, s.grid, 1 + s.seed, &train));
  TenonCall(ImagesOpen(comm, s.data, "t10k", s.testBatch, s.grid, 0, &test));
  TenonCall(OpenTraining(comm, &s, train.layout, &t));
  TextAdd(&csv, "epoch,loss,accuracy,step_ms\n");
  if (rank == 0)
    printf("%s on %d process%s, grid %d x %d\n", s.network, size, size > 1 ? "es" : "", s.grid[0],
           s.grid[1]);
  TenonCall(ReportParameters(comm, t.network));
  TenonCall(OpenCheckpoint(comm, &s, &t));
  batches = ImagesBatches(&train);
  for (epoch = batches > 0 ? t.step / batches : 0; epoch < s.epochs && !stop; ++epoch) {
    TenonCall(TrainEpoch(comm, &s, &t, &train, epoch, batches, &ms));
    if (t.signal)
      break;
    loss = batches > 0 ? t.sum / (double)batches : 0;
    TenonCall(TestAccuracy(comm, &t, &test, &accuracy));
    /* The schedule of the learning rate follows the loss, and ends training that gets no better. */
    TenonCall(TenonOptimizerReport(t.optimizer, loss, &stop));
    if (rank != 0)
      continue;
    printf("epoch %2lld of %lld: loss %.6f, test accuracy %.2f %%, %.2f ms per step\n",
           (long long)epoch + 1, (long long)s.epochs, loss, accuracy, ms);
    fflush(stdout);
    TextAdd(&csv, "%lld,%.9g,%.4f,%.4f\n", (long long)epoch + 1, loss, accuracy, ms);
    if (s.out[0])
      TenonCall(TenonWriteFile(s.out, csv.chars, csv.length));
  }
  free(csv.chars);
  TenonCall(CloseTraining(&t));
  TenonCall(ImagesClose(&test));
  TenonCall(ImagesClose(&train));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(DeclareOptions());
  TenonCallAbort(TenonOptionsOwnCommandLine());
  TenonCallAbort(TenonInitialize(&argc, &argv, "lenet5: LeNet-5 on any process grid\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
