/* SPDX-License-Identifier: BSD-2-Clause */
/* Boxes as a batch: a solver holds its field in boxes of one size, several on a rank, and fills
 * their ghost cells itself. The boxes are samples of a network without padding; the adjoint of the
 * network leaves sums in ghost cells, which the adjoint of the filling takes to their owners.
 * Output and gradients are those of the whole field. */
#include <tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 16, NY = 12, SIDE = 4, GHOSTS = 2, WIDE = SIDE + 2 * GHOSTS, HIDDEN = 3 };
enum { COLUMNS = NX / SIDE, BOXES = COLUMNS * (NY / SIDE) };

static void expect(int isSo, const char* what) {
  if (isSo)
    return;
  fprintf(stderr, "not so: %s\n", what);
  TenonAbort(TENON_ERR_INTERNAL);
}

/* ---- The solver: boxes first ... first + count - 1 are this rank's ---- */

typedef struct Boxes {
  MPI_Comm comm;
  int first, count;
  double *values, *output; /* [count][WIDE][WIDE] and [count][SIDE][SIDE] */
} Boxes;

static int wrapped(int i, int n) {
  return (i + n) % n;
}

/* The place in the domain of element (j, i) of a box with ghost cells. */
static int placeOf(int box, int j, int i) {
  const int y = box / COLUMNS * SIDE + j - GHOSTS, x = box % COLUMNS * SIDE + i - GHOSTS;
  return wrapped(y, NY) * NX + wrapped(x, NX);
}

static int isGhost(int j, int i) {
  return j < GHOSTS || j >= GHOSTS + SIDE || i < GHOSTS || i >= GHOSTS + SIDE;
}

/* A real solver sends messages between boxes. Here all ranks have the whole domain for a moment. */
static void fillBoundary(Boxes* b) {
  double domain[NY * NX] = {0};
  int n, j, i;
  for (n = 0; n < b->count; ++n)
    for (j = GHOSTS; j < GHOSTS + SIDE; ++j)
      for (i = GHOSTS; i < GHOSTS + SIDE; ++i)
        domain[placeOf(b->first + n, j, i)] = b->values[(n * WIDE + j) * WIDE + i];
  MPI_Allreduce(MPI_IN_PLACE, domain, NY * NX, MPI_DOUBLE, MPI_SUM, b->comm);
  for (n = 0; n < b->count; ++n)
    for (j = 0; j < WIDE; ++j)
      for (i = 0; i < WIDE; ++i)
        b->values[(n * WIDE + j) * WIDE + i] = domain[placeOf(b->first + n, j, i)];
}

/* The adjoint: each ghost cell is added to the cell of which it is a copy, and is 0 then. */
static void sumBoundary(Boxes* b) {
  double domain[NY * NX] = {0};
  int n, j, i;
  for (n = 0; n < b->count; ++n)
    for (j = 0; j < WIDE; ++j)
      for (i = 0; i < WIDE; ++i)
        domain[placeOf(b->first + n, j, i)] += b->values[(n * WIDE + j) * WIDE + i];
  MPI_Allreduce(MPI_IN_PLACE, domain, NY * NX, MPI_DOUBLE, MPI_SUM, b->comm);
  for (n = 0; n < b->count; ++n)
    for (j = 0; j < WIDE; ++j)
      for (i = 0; i < WIDE; ++i)
        b->values[(n * WIDE + j) * WIDE + i] =
            isGhost(j, i) ? 0 : domain[placeOf(b->first + n, j, i)];
}

static void createBoxes(MPI_Comm comm, Boxes* b) {
  int rank, ranks, n;
  b->comm = comm;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  b->first = BOXES * rank / ranks;
  b->count = BOXES * (rank + 1) / ranks - b->first;
  b->values = (double*)malloc((size_t)(b->count * WIDE * WIDE) * sizeof(double));
  b->output = (double*)malloc((size_t)(b->count * SIDE * SIDE) * sizeof(double));
  for (n = 0; n < b->count * WIDE * WIDE; ++n)
    b->values[n] = NAN; /* what the solver does not fill */
}

static double fieldAt(int place) {
  return sin(0.7 * place) + 0.1 * (place % 5);
}

/* ---- The network ---- */

static TenonErrorCode addConv(TenonLayer network, MPI_Comm comm, TenonInt in, TenonInt out,
                              int isPeriodic) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  const TenonBoundary ring[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};
  TenonLayer layer = NULL;
  TenonCall(TenonLayerCreateConv(comm, 2, in, out, kernel, &layer));
  if (isPeriodic) { /* the whole field; boxes bring their ghost cells along */
    TenonCall(TenonLayerSetPadding(layer, padding, NULL));
    TenonCall(TenonLayerSetBoundary(layer, ring, NULL));
  }
  TenonCall(TenonLayerSequentialAdd(network, layer));
  TenonCall(TenonLayerDestroy(&layer));
  return TENON_SUCCESS;
}

static TenonErrorCode createNetwork(MPI_Comm comm, int isPeriodic, TenonLayout input,
                                    TenonLayer* network) {
  TenonLayer function = NULL;
  TenonCall(TenonLayerCreateSequential(comm, network));
  TenonCall(addConv(*network, comm, 1, HIDDEN, isPeriodic));
  TenonCall(TenonLayerCreateType(comm, "tanh", &function));
  TenonCall(TenonLayerSequentialAdd(*network, function));
  TenonCall(TenonLayerDestroy(&function));
  TenonCall(addConv(*network, comm, HIDDEN, 1, isPeriodic));
  TenonCall(TenonLayerSetDataType(*network, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(*network, input));
  TenonCall(TenonLayerInitialize(*network, 3));
  return TENON_SUCCESS;
}

/* Places a tensor on [count][rows][columns], one channel. */
static TenonErrorCode place(TenonDTensor x, double* values, TenonInt rows, TenonInt columns) {
  const TenonInt strides[4] = {rows * columns, rows * columns, columns, 1};
  TenonCall(TenonDTensorPlaceArray(x, values, strides, NULL, NULL, 0));
  return TENON_SUCCESS;
}

/* Of the first weight, summed over all boxes and ranks. */
static TenonErrorCode normOfGradient(TenonLayer network, double* norm) {
  TenonDTensor gradient = NULL;
  TenonCall(TenonLayerGetReducedGradient(network, 0, &gradient));
  TenonCall(TenonDTensorNorm(gradient, norm));
  TenonCall(TenonDTensorDestroy(&gradient));
  return TENON_SUCCESS;
}

/* The recipe. Before the call b->values has the field, after it dL/dfield; b->output gets the
 * network's output y. The loss is L = sum of y^2 / 2, whose derivative dL/dy is y itself: y and dy
 * are placed on the same array. */
static TenonErrorCode evaluate(Boxes* b, double* weightGradient) {
  const TenonInt shape[4] = {BOXES, 1, WIDE, WIDE};
  const TenonInt low[4] = {b->first, 0, 0, 0}, high[4] = {b->first + b->count, 1, WIDE, WIDE};
  TenonLayout layout = NULL;
  TenonLayer network = NULL;
  TenonDTensor x = NULL, y = NULL, dy = NULL, dx = NULL;
  /* [begin of doc/boxes.md] */
  TenonCall(TenonLayoutCreateFromBoxes(b->comm, 4, shape, low, high, &layout));
  TenonCall(createNetwork(b->comm, 0, layout, &network)); /* 3 x 3 twice, without padding */
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(TenonLayerCreateOutput(network, 0, &y)); /* [BOXES, 1, SIDE, SIDE] */

  fillBoundary(b);
  TenonCall(place(x, b->values, WIDE, WIDE));
  TenonCall(place(y, b->output, SIDE, SIDE));
  TenonCall(TenonLayerApply(network, x, y));

  TenonCall(TenonLayerCreateOutputCotangent(network, 0, &dy));
  TenonCall(TenonLayerCreateInputCotangent(network, 0, &dx));
  TenonCall(place(dy, b->output, SIDE, SIDE));
  TenonCall(place(dx, b->values, WIDE, WIDE)); /* the network has a copy of what was there */
  TenonCall(TenonLayerApplyAdjoint(network, dy, dx));
  sumBoundary(b);
  /* [end] */
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonDTensorDestroy(&dx));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(normOfGradient(network, weightGradient));
  TenonCall(TenonLayerDestroy(&network));
  TenonCall(TenonLayoutDestroy(&layout));
  return TENON_SUCCESS;
}

/* The same on the whole periodic field, on one rank. */
static TenonErrorCode evaluateWhole(double* output, double* gradient, double* weightGradient) {
  const TenonInt shape[4] = {1, 1, NY, NX}, low[4] = {0, 0, 0, 0};
  TenonLayout layout = NULL;
  TenonLayer network = NULL;
  TenonDTensor x = NULL, y = NULL, dy = NULL, dx = NULL;
  double field[NY * NX];
  int n;
  for (n = 0; n < NY * NX; ++n)
    field[n] = fieldAt(n);
  TenonCall(TenonLayoutCreateFromBoxes(MPI_COMM_SELF, 4, shape, low, shape, &layout));
  TenonCall(createNetwork(MPI_COMM_SELF, 1, layout, &network));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &x));
  TenonCall(TenonLayerCreateOutput(network, 0, &y));
  TenonCall(TenonLayerCreateOutputCotangent(network, 0, &dy));
  TenonCall(TenonLayerCreateInputCotangent(network, 0, &dx));
  TenonCall(place(x, field, NY, NX));
  TenonCall(place(y, output, NY, NX));
  TenonCall(place(dx, gradient, NY, NX));
  TenonCall(TenonLayerApply(network, x, y));
  TenonCall(TenonDTensorCopy(y, dy));
  TenonCall(TenonLayerApplyAdjoint(network, dy, dx));
  TenonCall(normOfGradient(network, weightGradient));
  TenonCall(TenonDTensorDestroy(&dx));
  TenonCall(TenonDTensorDestroy(&dy));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&x));
  TenonCall(TenonLayerDestroy(&network));
  TenonCall(TenonLayoutDestroy(&layout));
  return TENON_SUCCESS;
}

static TenonErrorCode compare(MPI_Comm comm) {
  double output[NY * NX], gradient[NY * NX], weights[2];
  Boxes b;
  int n, j, i;
  TenonCall(evaluateWhole(output, gradient, &weights[0]));
  createBoxes(comm, &b);
  for (n = 0; n < b.count; ++n)
    for (j = GHOSTS; j < GHOSTS + SIDE; ++j)
      for (i = GHOSTS; i < GHOSTS + SIDE; ++i)
        b.values[(n * WIDE + j) * WIDE + i] = fieldAt(placeOf(b.first + n, j, i));
  TenonCall(evaluate(&b, &weights[1]));
  for (n = 0; n < b.count; ++n)
    for (j = 0; j < SIDE; ++j)
      for (i = 0; i < SIDE; ++i) {
        const int at = placeOf(b.first + n, j + GHOSTS, i + GHOSTS);
        expect(fabs(b.output[(n * SIDE + j) * SIDE + i] - output[at]) < 1e-13,
               "outputs are those of the whole field");
        expect(fabs(b.values[(n * WIDE + j + GHOSTS) * WIDE + i + GHOSTS] - gradient[at]) < 1e-12,
               "gradients are those of the whole field");
      }
  expect(fabs(weights[0] - weights[1]) < 1e-12 * weights[0], "so are those of the weights");
  free(b.output);
  free(b.values);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(compare(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  MPI_Finalize();
  return 0;
}
