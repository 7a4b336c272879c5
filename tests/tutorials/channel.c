/* SPDX-License-Identifier: BSD-2-Clause */
/* A plane channel as solvers have it: a period in x, walls in z, u and w on faces, a scalar in
 * cells, each in an array with extents and ghost cells of its own, blocks on a grid of processes.
 * The solver exchanges and fills ghost cells itself; a closure 3-16-16-6 reads them. Output, value
 * and derivatives are those of one process, and of a closure that fills walls itself, by the modes
 * of its channels. */
#include <tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 20, NZ = 11, FIELDS = 3, OUTPUTS = 6, HIDDEN = 16 };
static const double kPi = 3.14159265358979323846;

static void expect(int isSo, const char* what) {
  if (isSo)
    return;
  fprintf(stderr, "not so: %s\n", what);
  TenonAbort(TENON_ERR_INTERNAL);
}

/* ---- The solver ---- */

/* One component: rows of `width` elements, of which `first` is the first that the rank owns. */
typedef struct Component {
  double *memory, *first;
  TenonInt width, length, before[2], after[2]; /* ghost cells in z and x */
} Component;

typedef struct Channel {
  MPI_Comm comm;
  TenonInt low[2], high[2];      /* of this rank's block in z and x */
  int below, above, left, right; /* neighbours; MPI_PROC_NULL behind walls */
  Component fields[FIELDS];      /* u, w, s */
} Channel;

static void createComponent(Component* c, const Channel* ch, TenonInt below, TenonInt above,
                            TenonInt beside) {
  const TenonInt rows = ch->high[0] - ch->low[0] + below + above;
  TenonInt i;
  c->width = ch->high[1] - ch->low[1] + 2 * beside;
  c->length = rows * c->width;
  c->memory = (double*)malloc((size_t)c->length * sizeof *c->memory);
  for (i = 0; i < c->length; ++i)
    c->memory[i] = NAN; /* what the solver does not fill */
  c->first = c->memory + below * c->width + beside;
  c->before[0] = below;
  c->after[0] = above;
  c->before[1] = c->after[1] = beside;
}

static void createChannel(MPI_Comm comm, Channel* ch) {
  const TenonInt extent[2] = {NZ, NX};
  int size, dims[2] = {0, 0}, periods[2] = {0, 1}, place[2], rank, d;
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(comm, 2, dims, periods, 0, &ch->comm);
  MPI_Comm_rank(ch->comm, &rank);
  MPI_Cart_coords(ch->comm, rank, 2, place);
  for (d = 0; d < 2; ++d) {
    ch->low[d] = extent[d] * place[d] / dims[d];
    ch->high[d] = extent[d] * (place[d] + 1) / dims[d];
  }
  MPI_Cart_shift(ch->comm, 0, 1, &ch->below, &ch->above);
  MPI_Cart_shift(ch->comm, 1, 1, &ch->left, &ch->right);
  /* The numbers of ghost cells differ on purpose: the library reads each array by its own. */
  createComponent(&ch->fields[0], ch, 1, 1, 1);
  createComponent(&ch->fields[1], ch, 1, 2, 1); /* one face more than cells, and its ghosts */
  createComponent(&ch->fields[2], ch, 2, 1, 3);
}

static void destroyChannel(Channel* ch) {
  int f;
  for (f = 0; f < FIELDS; ++f)
    free(ch->fields[f].memory);
  MPI_Comm_free(&ch->comm);
}

/* Element (k, i) of the block, ghost cells at -1 and behind the end. */
static double* at(const Component* c, TenonInt k, TenonInt i) {
  return c->first + k * c->width + i;
}

/* Values that depend on the place alone. w lies on upper faces: the last one is on the wall, where
 * it is 0. */
static void setFields(Channel* ch, int which) {
  const TenonInt rows = ch->high[0] - ch->low[0], columns = ch->high[1] - ch->low[1];
  TenonInt k, i;
  int f;
  for (f = 0; f < FIELDS; ++f)
    for (k = 0; k < rows; ++k)
      for (i = 0; i < columns; ++i) {
        const double x = 2 * kPi * (double)(ch->low[1] + i) / NX,
                     z = (double)(ch->low[0] + k + 1) / NZ;
        const int onWall = f == 1 && ch->low[0] + k == NZ - 1;
        *at(&ch->fields[f], k, i) =
            onWall ? 0 : sin((which + 1) * x + f) * cos(3 * z + which) + 0.3 * z;
      }
}

/* Rows of the block that is `from` to those of `to`, ghost columns included. */
static void sendRow(const Channel* ch, const Component* c, TenonInt from, TenonInt to, int target,
                    int source) {
  const int count = (int)(ch->high[1] - ch->low[1]) + 2;
  MPI_Sendrecv(at(c, from, -1), count, MPI_DOUBLE, target, 0, at(c, to, -1), count, MPI_DOUBLE,
               source, 0, ch->comm, MPI_STATUS_IGNORE);
}

static void fillGhosts(Channel* ch) {
  const TenonInt rows = ch->high[0] - ch->low[0], columns = ch->high[1] - ch->low[1];
  TenonInt i;
  int f;
  for (f = 0; f < FIELDS; ++f) {
    const Component* c = &ch->fields[f];
    MPI_Datatype column;
    MPI_Type_vector((int)rows, 1, (int)c->width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(at(c, 0, 0), 1, column, ch->left, 0, at(c, 0, columns), 1, column, ch->right, 0,
                 ch->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(at(c, 0, columns - 1), 1, column, ch->right, 0, at(c, 0, -1), 1, column, ch->left,
                 0, ch->comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    sendRow(ch, c, 0, rows, ch->below, ch->above);
    sendRow(ch, c, rows - 1, -1, ch->above, ch->below);
    for (i = -1; i <= columns; ++i) {
      const double sign = f == 2 ? 1 : -1;
      if (ch->below ==
          MPI_PROC_NULL) /* w is 0 on the lower wall, which is the face below the first cell */
        *at(c, -1, i) = f == 1 ? 0 : sign * *at(c, 0, i);
      /* w(rows - 1) is on the upper wall, about which w is odd: its mirror image is w(rows - 2). */
      if (ch->above == MPI_PROC_NULL)
        *at(c, rows, i) = sign * *at(c, f == 1 ? rows - 2 : rows - 1, i);
    }
  }
}

/* ---- Its closure ---- */

typedef struct Closure {
  TenonLayer network, first;
  TenonDTensor x, y, dx, dy;
  TenonInt messages; /* of a whole Apply; only the first layer, with windows of 3, can need any */
} Closure;

static TenonErrorCode addConv(TenonLayer network, MPI_Comm comm, TenonInt in, TenonInt out,
                              TenonInt window, TenonLayer* layer) {
  const TenonInt kernel[2] = {window, window}, padding[2] = {window / 2, window / 2};
  TenonCall(TenonLayerCreateConv(comm, 2, in, out, kernel, layer));
  TenonCall(TenonLayerSetPadding(*layer, padding, NULL));
  TenonCall(TenonLayerSequentialAdd(network, *layer));
  return TENON_SUCCESS;
}

static TenonErrorCode addFunction(TenonLayer network, MPI_Comm comm) {
  TenonLayer function = NULL;
  TenonCall(TenonLayerCreateType(comm, "tanh", &function));
  TenonCall(TenonLayerSequentialAdd(network, function));
  TenonCall(TenonLayerDestroy(&function));
  return TENON_SUCCESS;
}

/* Tensor dimensions are batch, field, z, x. */
static TenonErrorCode createLayout(const Channel* ch, int withGhosts, TenonLayout* layout) {
  const TenonInt shape[4] = {1, FIELDS, NZ, NX};
  const TenonInt low[4] = {0, 0, ch->low[0], ch->low[1]},
                 high[4] = {1, FIELDS, ch->high[0], ch->high[1]};
  TenonLayout plain = NULL;
  int d;
  TenonCall(TenonLayoutCreateFromBoxes(ch->comm, 4, shape, low, high, &plain));
  TenonCall(TenonLayoutCreateLike(plain, layout));
  for (d = 2; withGhosts && d < 4; ++d)
    TenonCall(TenonLayoutSetHalo(*layout, d, 1, 1, TENON_BOUNDARY_VALUES, TENON_BOUNDARY_VALUES));
  TenonCall(TenonLayoutSetUp(*layout));
  TenonCall(TenonLayoutDestroy(&plain));
  return TENON_SUCCESS;
}

static TenonErrorCode createClosure(const Channel* ch, int filled, Closure* c) {
  TenonLayer second = NULL, third = NULL;
  TenonLayout layout = NULL;
  TenonCall(TenonLayerCreateSequential(ch->comm, &c->network));
  TenonCall(addConv(c->network, ch->comm, FIELDS, HIDDEN, 3, &c->first));
  /* One mode for z and one for x, for each of u, w and s. u is odd about both walls; w is 0 at the
   * lower wall, and odd about the upper one, on which its last face is; s is even about both. All
   * are periodic in x. */
  TenonCall(TenonObjectSetText((TenonObject)c->first, "boundary",
                               "odd,periodic; zero/odd_point,periodic; symmetric,periodic"));
  TenonCall(TenonObjectSetBool((TenonObject)c->first, "filled", filled ? TENON_TRUE : TENON_FALSE));
  TenonCall(addFunction(c->network, ch->comm));
  TenonCall(addConv(c->network, ch->comm, HIDDEN, HIDDEN, 1, &second));
  TenonCall(addFunction(c->network, ch->comm));
  TenonCall(addConv(c->network, ch->comm, HIDDEN, OUTPUTS, 1, &third));
  TenonCall(TenonLayerSetDataType(c->network, TENON_FLOAT64));
  TenonCall(TenonObjectSetBool((TenonObject)c->network, "check_ghosts", TENON_TRUE));
  TenonCall(createLayout(ch, filled, &layout));
  TenonCall(TenonLayerSetUp(c->network, layout));
  TenonCall(TenonLayerInitialize(c->network, 7));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &c->x));
  TenonCall(TenonLayerCreateOutput(c->network, 0, &c->y));
  TenonCall(TenonLayerCreateOutputCotangent(c->network, 0, &c->dy));
  TenonCall(TenonLayerCreateInputCotangent(c->network, 0, &c->dx));
  TenonCall(TenonDTensorFillConstant(c->dy, 1));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonLayerDestroy(&second));
  TenonCall(TenonLayerDestroy(&third));
  return TENON_SUCCESS;
}

static TenonErrorCode destroyClosure(Closure* c) {
  TenonCall(TenonDTensorDestroy(&c->x));
  TenonCall(TenonDTensorDestroy(&c->y));
  TenonCall(TenonDTensorDestroy(&c->dx));
  TenonCall(TenonDTensorDestroy(&c->dy));
  TenonCall(TenonLayerDestroy(&c->first));
  TenonCall(TenonLayerDestroy(&c->network));
  return TENON_SUCCESS;
}

/* The solver's arrays become the tensor's value. Three arrays cannot be one tensor in place, so
 * they are named first and then copied. */
static TenonErrorCode take(const Channel* ch, TenonDTensor x) {
  void* first[FIELDS];
  TenonInt strides[FIELDS * 4], before[FIELDS * 4] = {0}, after[FIELDS * 4] = {0}, lengths[FIELDS];
  int f, d;
  for (f = 0; f < FIELDS; ++f) {
    const Component* c = &ch->fields[f];
    first[f] = c->first;
    lengths[f] = c->length;
    strides[4 * f] = strides[4 * f + 1] = 0;
    strides[4 * f + 2] = c->width;
    strides[4 * f + 3] = 1;
    for (d = 0; d < 2; ++d) {
      before[4 * f + 2 + d] = c->before[d];
      after[4 * f + 2 + d] = c->after[d];
    }
  }
  TenonCall(TenonDTensorPlaceArrays(x, 1, FIELDS, first, FIELDS, strides, before, after, lengths));
  TenonCall(TenonDTensorGatherArrays(x));
  return TENON_SUCCESS;
}

/* The sum of the outputs, and how many messages that took. */
static TenonErrorCode evaluate(const Channel* ch, Closure* c, int event, double* sum) {
  TenonCall(take(ch, c->x));
  TenonCall(TenonLogEventBegin(event));
  TenonCall(TenonLayerApply(c->network, c->x, c->y));
  TenonCall(TenonLogGetWork(NULL, NULL, &c->messages, NULL));
  TenonCall(TenonLogEventEnd(event));
  TenonCall(TenonDTensorPairing(c->y, c->dy, sum));
  return TENON_SUCCESS;
}

/* x + h direction in every element, ghost cells included. */
static void move(Channel* ch, const Channel* direction, double h) {
  TenonInt i;
  int f;
  for (f = 0; f < FIELDS; ++f)
    for (i = 0; i < ch->fields[f].length; ++i)
      ch->fields[f].memory[i] += h * direction->fields[f].memory[i];
}

typedef struct Result {
  double sum, slope, order;
} Result;

/* Value, slope along the direction, and log2 |remainder(h)| / |remainder(h / 2)|. */
static TenonErrorCode differentiate(Channel* ch, Channel* direction, Closure* c, int event,
                                    Result* r) {
  const double h = 0.02;
  double far = 0, near = 0;
  TenonDTensor d = NULL;
  TenonLayout layout = NULL;
  TenonCall(evaluate(ch, c, event, &r->sum));
  TenonCall(TenonLayerApplyAdjoint(c->network, c->dy, c->dx));
  TenonCall(TenonDTensorGetLayout(c->x, &layout));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &d));
  TenonCall(take(direction, d));
  TenonCall(TenonDTensorPairing(d, c->dx, &r->slope));
  TenonCall(TenonLayerSetTraining(c->network, TENON_FALSE));
  move(ch, direction, h);
  TenonCall(evaluate(ch, c, event, &far));
  move(ch, direction, -h / 2);
  TenonCall(evaluate(ch, c, event, &near));
  move(ch, direction, -h / 2);
  r->order = log2(fabs((far - r->sum - h * r->slope) / (near - r->sum - h / 2 * r->slope)));
  TenonCall(TenonDTensorDestroy(&d));
  TenonCall(TenonLayoutDestroy(&layout));
  return TENON_SUCCESS;
}

static TenonErrorCode run(MPI_Comm comm, int filled, int event, Result* r, double* output,
                          TenonInt* messages) {
  Channel ch, direction;
  Closure closure = {NULL, NULL, NULL, NULL, NULL, NULL, 0};
  TenonInt low[4], high[4], o, k, i;
  const void* array = NULL;
  const double* value;
  createChannel(comm, &ch);
  createChannel(comm, &direction);
  setFields(&ch, 0);
  setFields(&direction, 1);
  fillGhosts(&ch);
  fillGhosts(&direction);
  TenonCall(createClosure(&ch, filled, &closure));
  TenonCall(differentiate(&ch, &direction, &closure, event, r));
  *messages = closure.messages;
  TenonCall(evaluate(&ch, &closure, event, &r->sum)); /* y is still that at x + h / 2 direction */
  TenonCall(TenonDTensorGetBox(closure.y, low, high));
  TenonCall(TenonDTensorGetArrayRead(closure.y, TENON_FLOAT64, &array));
  value = (const double*)array;
  for (o = 0; o < OUTPUTS; ++o)
    for (k = low[2]; k < high[2]; ++k)
      for (i = low[3]; i < high[3]; ++i)
        output[(o * NZ + k) * NX + i] = *value++;
  TenonCall(TenonDTensorRestoreArrayRead(closure.y, &array));
  TenonCall(destroyClosure(&closure));
  destroyChannel(&direction);
  destroyChannel(&ch);
  return TENON_SUCCESS;
}

static TenonErrorCode compare(int* rank) {
  static double alone[OUTPUTS * NZ * NX], ours[2][OUTPUTS * NZ * NX];
  Result one, r[2];
  TenonInt messages[2], none;
  int event, size, filled, i;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  TenonCall(TenonLogEnable(TENON_TRUE));
  TenonCall(TenonLogEventRegister("Closure", &event));
  TenonCall(run(MPI_COMM_SELF, 0, event, &one, alone, &none));
  for (filled = 0; filled < 2; ++filled) {
    for (i = 0; i < OUTPUTS * NZ * NX; ++i)
      ours[filled][i] = NAN;
    TenonCall(run(MPI_COMM_WORLD, filled, event, &r[filled], ours[filled], &messages[filled]));
    for (i = 0; i < OUTPUTS * NZ * NX; ++i)
      /* NaN: the element is on another rank. A NaN that was computed fails in the sum below. */
      expect(isnan(ours[filled][i]) || fabs(ours[filled][i] - alone[i]) < 1e-13,
             "outputs are those of one process");
    expect(fabs(r[filled].sum - one.sum) < 1e-10 * fabs(one.sum),
           "their sum is that of one process");
    expect(fabs(r[filled].slope - one.slope) < 1e-10 * fabs(one.slope), "so is its derivative");
    expect(fabs(r[filled].order - 2) < 0.05, "the remainder falls as h^2");
  }
  expect(messages[1] == 0, "filled ghost cells need no message");
  expect(size == 1 || messages[0] > 0, "without them there are some");
  if (*rank == 0)
    printf("sum %.12e, slope %.12e, order %.3f, messages %d and %d\n", r[1].sum, r[1].slope,
           r[1].order, (int)messages[0], (int)messages[1]);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(compare(&rank));
  TenonCallAbort(TenonFinalize());
  MPI_Finalize();
  return 0;
}
