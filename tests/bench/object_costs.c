/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures the cost of each kind of object of the library: to create it, and to call it.
 *
 * The program creates several objects of each kind on all ranks, and prints for one of them, on
 * rank 0: bytes of the heap (mallinfo2 of glibc), of resident shared memory, open files
 * (/proc/self), and calls of MPI functions that communicate. These calls are counted by functions
 * of the same names in this file, which call the real ones by their profiling names (PMPI_*). The
 * field is [1, 3, 64, 64] on each rank in float64, 98,304 bytes.
 *
 *   mpiexec -n 4 object_costs */
#include <tenon.h>

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

enum { kCount = 8, kCells = 64, kIn = 3, kOut = 12, kDepth = 8 };

typedef struct Cost {
  double heap, shared, files, calls;
} Cost;

typedef struct Objects {
  TenonLayout layout;
  TenonDTensor tensor, output, cotangent;
  TenonLinearOp halo;
  TenonLayer layer;
  TenonOptimizer optimizer;
  TenonCheckpoint checkpoint;
} Objects;

typedef TenonErrorCode (*Maker)(Objects* o);

/* What the objects are made of and the calls are made on; created once, before all measurements. */
static MPI_Comm comm = MPI_COMM_NULL;
static TenonLayout plain, wide;
static TenonDTensor field, ghosted, result, resultCotangent;
static TenonLinearOp exchange;
static TenonLayer trained;
static TenonOptimizer stepper;
static double array[(kCells + 2) * (kCells + 2) * kIn];
static int calls;

/* Defines an MPI function that counts its calls and then calls the real one: the program's function
 * takes precedence over that of the MPI library, which also exists under the name PMPI_... */
#define COUNTED(name, parameters, arguments)                                                       \
  int name parameters {                                                                            \
    ++calls;                                                                                       \
    return P##name arguments;                                                                      \
  }
COUNTED(MPI_Allreduce, (const void* x, void* y, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (x, y, n, t, o, c))
COUNTED(MPI_Iallreduce,
        (const void* x, void* y, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
        (x, y, n, t, o, c, r))
COUNTED(MPI_Allgather,
        (const void* x, int n, MPI_Datatype t, void* y, int m, MPI_Datatype u, MPI_Comm c),
        (x, n, t, y, m, u, c))
COUNTED(MPI_Iallgather,
        (const void* x, int n, MPI_Datatype t, void* y, int m, MPI_Datatype u, MPI_Comm c,
         MPI_Request* r),
        (x, n, t, y, m, u, c, r))
COUNTED(MPI_Bcast, (void* x, int n, MPI_Datatype t, int root, MPI_Comm c), (x, n, t, root, c))
COUNTED(MPI_Barrier, (MPI_Comm c), (c))
COUNTED(MPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COUNTED(MPI_Send, (const void* x, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
        (x, n, t, to, tag, c))
COUNTED(MPI_Isend,
        (const void* x, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
        (x, n, t, to, tag, c, r))
COUNTED(MPI_Comm_dup, (MPI_Comm c, MPI_Comm* d), (c, d))
COUNTED(MPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm* d), (c, color, key, d))
COUNTED(MPI_Comm_split_type, (MPI_Comm c, int kind, int key, MPI_Info info, MPI_Comm* d),
        (c, kind, key, info, d))

static int OpenFiles(void) {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;

  while (folder && readdir(folder))
    ++count;
  closedir(folder);
  return count;
}

static double SharedBytes(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  long total, resident, shared = 0;

  if (fscanf(file, "%ld %ld %ld", &total, &resident, &shared) != 3)
    shared = 0;
  fclose(file);
  return (double)(shared * sysconf(_SC_PAGESIZE));
}

static Cost Now(void) {
  const struct mallinfo2 heap = mallinfo2();
  Cost c;

  c.heap = (double)(heap.uordblks + heap.hblkhd);
  c.shared = SharedBytes();
  c.files = OpenFiles();
  c.calls = calls;
  return c;
}

/* One row of the table in doc/costs.md: the mean over `count` objects or calls. */
static void Print(const char* what, Cost from, Cost to, int count) {
  int rank;

  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    printf("| %-42s | %9.0f | %9.0f | %5.1f | %9.1f |\n", what, (to.heap - from.heap) / count,
           (to.shared - from.shared) / count, (to.files - from.files) / count,
           (to.calls - from.calls) / count);
}

static TenonErrorCode MakeLayout(Objects* o) {
  TenonCall(TenonLayoutCreateLike(plain, &o->layout));
  TenonCall(
      TenonLayoutSetHalo(o->layout, 2, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(o->layout));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeTensor(Objects* o) {
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, &o->tensor));
  TenonCall(TenonDTensorFillConstant(o->tensor, 1)); /* memory is allocated at the first use */
  return TENON_SUCCESS;
}

static TenonErrorCode MakePlaced(Objects* o) {
  const TenonInt ghosts[4] = {0, 0, 1, 1};

  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, &o->tensor));
  TenonCall(TenonDTensorPlaceArray(o->tensor, array + kCells + 3, NULL, ghosts, ghosts,
                                   sizeof array / sizeof *array));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeHalo(Objects* o) {
  TenonCall(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &o->halo));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeAppliedHalo(Objects* o) {
  TenonCall(MakeHalo(o));
  TenonCall(TenonLinearOpApply(o->halo, field, ghosted));
  return TENON_SUCCESS;
}

static TenonErrorCode CreateConv(int depth, TenonLayer* layer) {
  const TenonInt kernel[2] = {3, 3}, padding[2] = {1, 1};
  const TenonBoundary ring[2] = {TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC};

  TenonCall(TenonLayerCreateConv(comm, 2, kIn, kOut, kernel, layer));
  TenonCall(TenonLayerSetPadding(*layer, padding, NULL));
  TenonCall(TenonLayerSetBoundary(*layer, ring, NULL));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetStackDepth(*layer, depth));
  TenonCall(TenonLayerSetUp(*layer, plain));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeLayer(Objects* o) {
  TenonCall(CreateConv(1, &o->layer));
  return TENON_SUCCESS;
}

/* A layer in training, with `depth` evaluations before the first of their adjoints. */
static TenonErrorCode MakeEvaluated(Objects* o, int depth) {
  int n;

  TenonCall(CreateConv(depth, &o->layer));
  TenonCall(TenonDTensorFillConstant(result, 0));
  for (n = 0; n < depth; ++n)
    TenonCall(TenonLayerApply(o->layer, field, result));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeUsedLayer(Objects* o) {
  TenonCall(MakeEvaluated(o, 1));
  TenonCall(TenonLayerApplyAdjoint(o->layer, resultCotangent, NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode MakePending(Objects* o) {
  TenonCall(MakeEvaluated(o, kDepth));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeOptimizer(Objects* o) {
  TenonCall(TenonOptimizerCreate(trained, "adam", &o->optimizer));
  TenonCall(TenonOptimizerStep(o->optimizer));
  return TENON_SUCCESS;
}

static TenonErrorCode MakeCheckpoint(Objects* o) {
  TenonCall(TenonCheckpointCreate(comm, &o->checkpoint));
  TenonCall(TenonCheckpointAddLayer(o->checkpoint, trained, "layer"));
  return TENON_SUCCESS;
}

static TenonErrorCode Drop(Objects* o) {
  TenonCall(TenonCheckpointDestroy(&o->checkpoint));
  TenonCall(TenonOptimizerDestroy(&o->optimizer));
  TenonCall(TenonLayerDestroy(&o->layer));
  TenonCall(TenonLinearOpDestroy(&o->halo));
  TenonCall(TenonDTensorDestroy(&o->tensor));
  TenonCall(TenonLayoutDestroy(&o->layout));
  return TENON_SUCCESS;
}

/* One object is created before the measurement, so memory that all objects share is not counted. */
static TenonErrorCode MeasureMaking(const char* what, Maker make) {
  Objects first = {0}, objects[kCount] = {{0}};
  Cost from, to;
  int n;

  TenonCall(make(&first));
  from = Now();
  for (n = 0; n < kCount; ++n)
    TenonCall(make(&objects[n]));
  to = Now();
  Print(what, from, to, kCount);
  for (n = 0; n < kCount; ++n)
    TenonCall(Drop(&objects[n]));
  TenonCall(Drop(&first));
  return TENON_SUCCESS;
}

static TenonErrorCode CallHalo(Objects* o) {
  (void)o;
  TenonCall(TenonLinearOpApply(exchange, field, ghosted));
  return TENON_SUCCESS;
}

static TenonErrorCode CallLayer(Objects* o) {
  (void)o;
  TenonCall(TenonLayerApply(trained, field, result));
  TenonCall(TenonLayerApplyAdjoint(trained, resultCotangent, NULL));
  return TENON_SUCCESS;
}

static TenonErrorCode CallStep(Objects* o) {
  (void)o;
  TenonCall(TenonOptimizerStep(stepper));
  return TENON_SUCCESS;
}

static TenonErrorCode MeasureCalling(const char* what, Maker call) {
  Cost from;
  int n;

  for (n = 0; n < kCount; ++n)
    TenonCall(call(NULL));
  from = Now();
  for (n = 0; n < 10 * kCount; ++n)
    TenonCall(call(NULL));
  Print(what, from, Now(), 10 * kCount);
  return TENON_SUCCESS;
}

/* Each rank has kCells rows of the mesh. */
static TenonErrorCode CreateCommon(void) {
  TenonInt shape[4] = {1, kIn, 0, kCells}, low[4] = {0, 0, 0, 0}, high[4] = {1, kIn, 0, kCells};
  int rank, size;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  shape[2] = (TenonInt)kCells * size;
  low[2] = (TenonInt)kCells * rank;
  high[2] = low[2] + kCells;
  TenonCall(TenonLayoutCreateFromBoxes(comm, 4, shape, low, high, &plain));
  TenonCall(TenonLayoutCreateLike(plain, &wide));
  TenonCall(TenonLayoutSetHalo(wide, 2, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC));
  TenonCall(TenonLayoutSetUp(wide));
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, &field));
  TenonCall(TenonDTensorFillConstant(field, 1));
  TenonCall(TenonDTensorCreate(wide, TENON_FLOAT64, &ghosted));
  TenonCall(TenonLinearOpCreateHalo(plain, wide, TENON_FLOAT64, &exchange));
  TenonCall(CreateConv(1, &trained));
  TenonCall(TenonLayerCreateOutput(trained, 0, &result));
  TenonCall(TenonLayerCreateOutputCotangent(trained, 0, &resultCotangent));
  TenonCall(TenonDTensorFillConstant(resultCotangent, 0));
  TenonCall(TenonOptimizerCreate(trained, "adam", &stepper));
  return TENON_SUCCESS;
}

static TenonErrorCode DestroyCommon(void) {
  TenonCall(TenonOptimizerDestroy(&stepper));
  TenonCall(TenonDTensorDestroy(&resultCotangent));
  TenonCall(TenonDTensorDestroy(&result));
  TenonCall(TenonLayerDestroy(&trained));
  TenonCall(TenonLinearOpDestroy(&exchange));
  TenonCall(TenonDTensorDestroy(&ghosted));
  TenonCall(TenonDTensorDestroy(&field));
  TenonCall(TenonLayoutDestroy(&wide));
  TenonCall(TenonLayoutDestroy(&plain));
  return TENON_SUCCESS;
}

static TenonErrorCode Run(void) {
  Cost before;
  int rank;

  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0)
    printf("| object or call                             |   heap, B | shared, B | files | MPI "
           "calls |\n"
           "| --- | --- | --- | --- | --- |\n");
  before = Now();
  TenonCall(CreateCommon());
  Print("the first objects on a communicator, once", before, Now(), 1);
  TenonCall(MeasureMaking("layout", MakeLayout));
  TenonCall(MeasureMaking("tensor", MakeTensor));
  TenonCall(MeasureMaking("tensor on a user array", MakePlaced));
  TenonCall(MeasureMaking("halo exchange", MakeHalo));
  TenonCall(MeasureMaking("halo exchange, applied", MakeAppliedHalo));
  TenonCall(MeasureMaking("convolution, set up", MakeLayer));
  TenonCall(MeasureMaking("convolution, applied, and its adjoint", MakeUsedLayer));
  TenonCall(MeasureMaking("convolution with 8 evaluations pending", MakePending));
  TenonCall(MeasureMaking("optimizer adam, one step", MakeOptimizer));
  TenonCall(MeasureMaking("checkpoint", MakeCheckpoint));
  TenonCall(MeasureCalling("call: halo exchange", CallHalo));
  TenonCall(MeasureCalling("call: convolution and its adjoint", CallLayer));
  TenonCall(MeasureCalling("call: optimizer step", CallStep));
  TenonCall(DestroyCommon());
  MPI_Comm_free(&comm);
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, NULL));
  TenonCallAbort(Run());
  TenonCallAbort(TenonFinalize());
  return 0;
}
