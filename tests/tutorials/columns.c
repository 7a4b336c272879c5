/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of an atmosphere in any order, and layers of the sphere on them. Each rank has columns
 * from all over the globe, as physics packages deal them out, with ids of its own choice; the
 * layers need blocks of rows and columns of a Gauss grid. Two sparse matrices lead there and back:
 * here their entries are 1, since the columns are the grid's points, and those of a coupler's map
 * file (ESMF, TempestRemap) take their place if they are others. Between them the Laplacian is
 * computed, of a harmonic of degree 3, which it multiplies by -12. */
#include <tenon.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 12, COLUMNS = 24, POINTS = ROWS * COLUMNS, DEGREES = 8 };

static const double kPi = 3.14159265358979323846;

typedef struct Model {
  MPI_Comm comm;
  int rank, size;
  TenonInt count, ids[POINTS]; /* this rank's columns */
  TenonLayout field;           /* [1, 1, ROWS, COLUMNS] in blocks */
  TenonIndexMap columns, points;
  TenonEdges there, back;
  TenonLayer network;
} Model;

/* The points of this rank's block, in the order of the layer `rows`. */
static TenonErrorCode ListPoints(const Model* m, TenonInt* count, TenonInt ids[]) {
  TenonDTensor tensor = NULL;
  TenonInt low[4], high[4], y, x;

  TenonCall(TenonDTensorCreate(m->field, TENON_FLOAT64, &tensor));
  TenonCall(TenonDTensorGetBox(tensor, low, high));
  TenonCall(TenonDTensorDestroy(&tensor));
  *count = 0;
  for (y = low[2]; y < high[2]; ++y)
    for (x = low[3]; x < high[3]; ++x)
      ids[(*count)++] = y * COLUMNS + x;
  return TENON_SUCCESS;
}

/* A matrix from the nodes `from` to those of `own`, with an entry 1 for each; the nodes that its
 * columns name are listed behind the rank's own as ghosts. */
static TenonErrorCode CreateMatrix(MPI_Comm comm, TenonInt count, const TenonInt own[],
                                   TenonInt fromCount, const TenonInt from[],
                                   TenonIndexMap* targets, TenonIndexMap* sources,
                                   TenonEdges* matrix) {
  TenonInt all[2 * POINTS], target[POINTS], source[POINTS], listed = fromCount, i, k;

  for (k = 0; k < fromCount; ++k)
    all[k] = from[k];
  for (i = 0; i < count; ++i) {
    for (k = 0; k < listed && all[k] != own[i]; ++k)
      ;
    if (k == listed)
      all[listed++] = own[i];
    target[i] = i;
    source[i] = k;
  }
  TenonCall(TenonIndexMapCreateFromIds(comm, count, count, own, targets));
  TenonCall(TenonIndexMapCreateFromIds(comm, fromCount, listed, all, sources));
  TenonCall(TenonEdgesCreate(*targets, *sources, count, target, source, own, NULL, matrix));
  return TENON_SUCCESS;
}

static TenonErrorCode Add(Model* m, const char* type, const char* setting, const char* value,
                          TenonLayout output) {
  const TenonInt degrees = DEGREES, size[2] = {ROWS, COLUMNS};
  TenonLayer layer = NULL;
  TenonObject settings;

  TenonCall(TenonLayerCreateType(m->comm, type, &layer));
  settings = (TenonObject)layer;
  if (setting)
    TenonCall(TenonObjectSetText(settings, setting, value));
  if (output)
    TenonCall(TenonLayerSetOutputLayout(layer, output));
  if (type[0] == 'i') /* inversesht */
    TenonCall(TenonObjectSetIntegers(settings, "size", 2, size));
  if (type[0] == 'i' || type[1] == 'h') /* and sht */
    TenonCall(TenonObjectSetIntegers(settings, "degrees", 1, &degrees));
  TenonCall(TenonLayerSequentialAdd(m->network, layer));
  return TenonLayerDestroy(&layer);
}

/* columns -> points -> field -> coefficients -> field -> points -> columns. The transforms leave
 * the field in blocks of their own, so it is brought into those of the points. */
static TenonErrorCode CreateNetwork(Model* m, TenonLayout onColumns) {
  TenonCall(TenonLayerCreateSequential(m->comm, &m->network));
  TenonCall(Add(m, "sparsematrix", "edges", "there", NULL));
  TenonCall(Add(m, "rows", NULL, NULL, m->field));
  TenonCall(Add(m, "sht", NULL, NULL, NULL));
  TenonCall(Add(m, "degreeproduct", "filter", "laplacian", NULL));
  TenonCall(Add(m, "inversesht", NULL, NULL, NULL));
  TenonCall(Add(m, "repartition", NULL, NULL, m->field)); /* the blocks that `points` lists */
  TenonCall(Add(m, "rows", NULL, NULL, NULL));
  TenonCall(Add(m, "sparsematrix", "edges", "back", NULL));
  TenonCall(TenonLayerSetEdges(m->network, "there", m->there));
  TenonCall(TenonLayerSetEdges(m->network, "back", m->back));
  TenonCall(TenonLayerSetDataType(m->network, TENON_FLOAT64));
  return TenonLayerSetUp(m->network, onColumns);
}

static TenonErrorCode Create(MPI_Comm comm, Model* m, TenonLayout* onColumns) {
  const TenonInt shape[4] = {1, 1, ROWS, COLUMNS}, fieldShape[2] = {0, 1};
  TenonInt points[POINTS], count, id;
  TenonPartition partition = NULL;
  TenonIndexMap seen = NULL, from = NULL;
  TenonLayout ghosted = NULL;
  int grid[2] = {0, 0};

  m->comm = comm;
  MPI_Comm_rank(comm, &m->rank);
  MPI_Comm_size(comm, &m->size);
  MPI_Dims_create(m->size, 2, grid);
  TenonCall(TenonPartitionCreate(comm, 2, grid, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 4, shape, "S2,S3", &m->field));
  for (id = POINTS - 1, m->count = 0; id >= 0; --id) /* dealt out, from the south-east */
    if (7 * id % m->size == m->rank)
      m->ids[m->count++] = id;
  TenonCall(ListPoints(m, &count, points));
  TenonCall(CreateMatrix(comm, count, points, m->count, m->ids, &m->points, &seen, &m->there));
  TenonCall(CreateMatrix(comm, m->count, m->ids, count, points, &m->columns, &from, &m->back));
  TenonCall(TenonIndexMapGetLayouts(m->columns, 2, fieldShape, onColumns, &ghosted));
  TenonCall(TenonLayoutDestroy(&ghosted));
  TenonCall(TenonIndexMapDestroy(&from));
  TenonCall(TenonIndexMapDestroy(&seen));
  return TenonPartitionDestroy(&partition);
}

static TenonErrorCode Destroy(Model* m) {
  TenonCall(TenonLayerDestroy(&m->network));
  TenonCall(TenonEdgesDestroy(&m->back));
  TenonCall(TenonEdgesDestroy(&m->there));
  TenonCall(TenonIndexMapDestroy(&m->columns));
  TenonCall(TenonIndexMapDestroy(&m->points));
  return TenonLayoutDestroy(&m->field);
}

/* sin^2 t cos t cos 2p, of degree 3, in this rank's columns, times a factor. */
static TenonErrorCode Harmonic(const Model* m, double factor, double values[]) {
  double colatitude[ROWS], weight[ROWS];
  TenonInt i;

  TenonCall(TenonSphereGetRows("gauss", ROWS, colatitude, weight));
  for (i = 0; i < m->count; ++i) {
    const double t = colatitude[m->ids[i] / COLUMNS];
    const double p = 2 * kPi * (double)(m->ids[i] % COLUMNS) / COLUMNS;

    values[i] = factor * sin(t) * sin(t) * cos(t) * cos(2 * p);
  }
  return TENON_SUCCESS;
}

/* The largest error of the Laplacian, on all ranks. */
static TenonErrorCode Laplacian(Model* m, TenonLayout onColumns, double* error) {
  double field[POINTS], wanted[POINTS], largest = 0;
  TenonDTensor x = NULL, y = NULL;
  const void* array;
  TenonInt i;

  TenonCall(Harmonic(m, 1, field));
  TenonCall(Harmonic(m, -12, wanted));
  TenonCall(TenonDTensorCreate(onColumns, TENON_FLOAT64, &x));
  TenonCall(TenonDTensorPlaceArray(x, field, NULL, NULL, NULL, m->count)); /* the model's own */
  TenonCall(TenonLayerCreateOutput(m->network, 0, &y));
  TenonCall(TenonLayerApply(m->network, x, y));
  TenonCall(TenonDTensorGetArrayRead(y, TENON_FLOAT64, &array));
  for (i = 0; i < m->count; ++i)
    largest = fmax(largest, fabs(((const double*)array)[i] - wanted[i]));
  TenonCall(TenonDTensorRestoreArrayRead(y, &array));
  MPI_Allreduce(&largest, error, 1, MPI_DOUBLE, MPI_MAX, m->comm);
  TenonCall(TenonDTensorDestroy(&y));
  return TenonDTensorDestroy(&x);
}

static TenonErrorCode Run(MPI_Comm comm) {
  Model model;
  TenonLayout onColumns = NULL;
  double error;

  TenonCall(Create(comm, &model, &onColumns));
  TenonCall(CreateNetwork(&model, onColumns));
  TenonCall(Laplacian(&model, onColumns, &error));
  if (model.rank == 0)
    printf("error of the Laplacian on columns %.1e\n", error);
  if (!(error < 1e-11)) {
    fprintf(stderr, "not so: the Laplacian of a harmonic of degree 3 is -12 times it\n");
    TenonAbort(TENON_ERR_INTERNAL);
  }
  TenonCall(TenonLayoutDestroy(&onColumns));
  return Destroy(&model);
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(&argc, &argv, "Columns in any order, and layers of the sphere\n"));
  TenonCallAbort(Run(MPI_COMM_WORLD));
  TenonCallAbort(TenonFinalize());
  return 0;
}
