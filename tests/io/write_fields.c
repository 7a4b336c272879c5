/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: write_fields FOLDER STEP...
 *
 * Writes four series of fields at the given steps, at time step / 4. check_fields.py then reads the
 * files as ParaView would and computes the same values; with -tenon_field_format netcdf check_cf.py
 * reads them by netCDF4. The series are:
 *
 *   plane    u and v, in a column-major array with ghost cells; p and kind (int32), which rank 0
 *            has alone
 *   volume   T at the points of a grid of 4 x 5 x 7
 *   mesh     a flux in the cells and T at the nodes of a mesh, which consists of the plane's cells
 *            with owners and ids in a scattered order
 *   loose    the same cells, each with its own corner points, without nodes */
#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>

enum { kNy = 5, kNx = 7, kNz = 4, kGhosts = 2 };

/* The value of a component at a grid point. */
static double Value(TenonInt step, TenonInt component, TenonInt z, TenonInt y, TenonInt x) {
  return (double)(1000 * component + step + 100 * z + 10 * y) + 0.5 * (double)x;
}

static TenonErrorCode WritePlane(const char* folder, int count, char** steps) {
  const TenonInt shape[4] = {1, 2, kNy, kNx}, ghosts[4] = {0, 0, kGhosts, kGhosts};
  const double origin[2] = {-1, 2.5}, spacing[2] = {0.5, 0.25};
  TenonInt low[4], high[4], strides[4], c, y, x;
  TenonPartition line;
  TenonLayout layout, flat;
  TenonDTensor velocity, pressure, kind;
  TenonFieldSeries series;
  double* u;
  char path[512];
  int ranks, i;

  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &line));
  TenonCall(TenonLayoutCreateSharded(line, 4, shape, "S3", &layout));
  TenonCall(TenonLayoutCreateSharded(line, 2, shape + 2, "R", &flat));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT64, &velocity));
  TenonCall(TenonDTensorCreate(flat, TENON_FLOAT32, &pressure));
  TenonCall(TenonDTensorCreate(flat, TENON_INT32, &kind));
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  /* Column-major, as the Fortran array u(-1:ny+2, -1:nx+2, 2). */
  strides[2] = 1;
  strides[3] = kNy + 2 * kGhosts;
  strides[1] = strides[0] = strides[3] * (high[3] - low[3] + 2 * kGhosts);
  u = malloc(sizeof(double) * (size_t)(2 * strides[1]));
  TenonCall(TenonDTensorPlaceArray(velocity, u + kGhosts * (strides[2] + strides[3]), strides,
                                   ghosts, ghosts, 2 * strides[1]));
  snprintf(path, sizeof path, "%s/plane", folder);
  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 2, &series));
  TenonCall(TenonObjectSetFromOptions((TenonObject)series));
  TenonCall(TenonFieldSeriesSetGrid(series, 2, origin, spacing));
  TenonCall(TenonFieldSeriesAddTensor(series, velocity, "velocity", "u,v"));
  TenonCall(TenonFieldSeriesAddTensor(series, pressure, "p", NULL));
  TenonCall(TenonFieldSeriesAddTensor(series, kind, "kind", NULL));
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);

    for (c = 0; c < 2 * strides[1]; ++c)
      u[c] = -1; /* remains in the ghost cells, which are not written to the file */
    for (c = 0; c < 2; ++c)
      for (y = 0; y < kNy; ++y)
        for (x = low[3]; x < high[3]; ++x)
          u[c * strides[1] + y + kGhosts + (x - low[3] + kGhosts) * strides[3]] =
              Value(step, c, 0, y, x);
    TenonCall(TenonDTensorFillConstant(pressure, (double)step));
    TenonCall(TenonDTensorFillConstant(kind, -(double)step));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonObjectView((TenonObject)series));
  TenonCall(TenonFieldSeriesDestroy(&series));
  TenonCall(TenonDTensorDestroy(&kind));
  TenonCall(TenonDTensorDestroy(&pressure));
  TenonCall(TenonDTensorDestroy(&velocity));
  TenonCall(TenonLayoutDestroy(&flat));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonPartitionDestroy(&line));
  free(u);
  return TENON_SUCCESS;
}

static TenonErrorCode WriteVolume(const char* folder, int count, char** steps) {
  const TenonInt shape[3] = {kNz, kNy, kNx};
  TenonInt low[3], high[3], z, y, x;
  TenonPartition line;
  TenonLayout layout;
  TenonDTensor temperature;
  TenonFieldSeries series;
  void* values;
  char path[512];
  int ranks, i;

  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  TenonCall(TenonPartitionCreate(MPI_COMM_WORLD, 1, &ranks, &line));
  TenonCall(TenonLayoutCreateSharded(line, 3, shape, "S1", &layout));
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  TenonCall(TenonDTensorCreate(layout, TENON_FLOAT32, &temperature));
  snprintf(path, sizeof path, "%s/volume", folder);
  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 3, &series));
  TenonCall(TenonObjectSetOptionsPrefix((TenonObject)series, "volume"));
  TenonCall(TenonObjectSetFromOptions((TenonObject)series));
  TenonCall(TenonFieldSeriesAddTensor(series, temperature, "T", NULL));
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);
    float* t;

    TenonCall(TenonDTensorGetArray(temperature, TENON_FLOAT32, &values));
    t = values;
    for (z = 0; z < kNz; ++z)
      for (y = low[1]; y < high[1]; ++y)
        for (x = 0; x < kNx; ++x)
          *t++ = (float)Value(step, 0, z, y, x);
    TenonCall(TenonDTensorRestoreArray(temperature, &values));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonFieldSeriesDestroy(&series));
  TenonCall(TenonDTensorDestroy(&temperature));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonPartitionDestroy(&line));
  return TENON_SUCCESS;
}

enum { kCells = kNy * kNx, kNodes = (kNy + 1) * (kNx + 1), kCorners = 4 };

/* The node at corner k of a cell: 0 lower left, then counterclockwise. Cells and nodes are numbered
 * by rows. */
static TenonInt NodeOf(TenonInt cell, int k) {
  const int right = k == 1 || k == 2, up = k >= 2;

  return (cell / kNx + up) * (kNx + 1) + cell % kNx + right;
}

/* The mesh on one rank: `cells` cells, and `nodes` nodes, of which the first `owned` belong to this
 * rank and the others are corners of its cells on other ranks. For each there is the number by rows
 * (cell, node) and the id that the library gets. `corner` has the positions of the cells' corners
 * in `node`. */
typedef struct Mesh {
  TenonInt cells, owned, nodes;
  TenonInt cell[kCells], cellIds[kCells], node[kNodes], nodeIds[kNodes], corner[kCells * kCorners];
  TenonIndexMap ofCells, ofNodes;
} Mesh;

/* The position of a node in m->node; a node that is not in the list is appended. */
static TenonInt PositionOf(Mesh* m, TenonInt node) {
  TenonInt position = 0;

  while (position < m->nodes && m->node[position] != node)
    ++position;
  if (position == m->nodes) {
    m->node[position] = node;
    m->nodeIds[m->nodes++] = 5 * node - 40;
  }
  return position;
}

/* Assigns nodes and cells to ranks in a scattered order, which a formula gives. */
static TenonErrorCode CreateMesh(Mesh* m) {
  TenonInt n;
  int rank, ranks, k;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  m->cells = m->nodes = 0;
  for (n = 0; n < kNodes; ++n)
    if ((2 * n + 1) % ranks == rank)
      PositionOf(m, n);
  m->owned = m->nodes;
  for (n = 0; n < kCells; ++n)
    if (n * n % ranks == rank) {
      for (k = 0; k < kCorners; ++k)
        m->corner[m->cells * kCorners + k] = PositionOf(m, NodeOf(n, k));
      m->cell[m->cells] = n;
      m->cellIds[m->cells++] = 100 - 7 * n; /* the last cell first */
    }
  TenonCall(
      TenonIndexMapCreateFromIds(MPI_COMM_WORLD, m->cells, m->cells, m->cellIds, &m->ofCells));
  TenonCall(
      TenonIndexMapCreateFromIds(MPI_COMM_WORLD, m->owned, m->nodes, m->nodeIds, &m->ofNodes));
  return TENON_SUCCESS;
}

/* The coordinates of the node in row y and column x are (x, 2 y). */
static void PutCoordinates(TenonInt node, double* coordinates) {
  coordinates[0] = (double)(node % (kNx + 1));
  coordinates[1] = 2 * (double)(node / (kNx + 1));
}

/* Without m->ofNodes each cell has its own four corner points. */
static TenonErrorCode CreateMeshSeries(const char* path, Mesh* m, TenonFieldSeries* series) {
  double coordinates[kCells * kCorners * 2];
  TenonInt n;

  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 2, series));
  TenonCall(TenonObjectSetFromOptions((TenonObject)*series));
  if (m->ofNodes) {
    for (n = 0; n < m->owned; ++n)
      PutCoordinates(m->node[n], coordinates + 2 * n);
    TenonCall(TenonFieldSeriesSetMesh(*series, m->ofCells, "quadrilateral", m->ofNodes,
                                      m->cells * kCorners, m->corner, 2 * m->owned, coordinates));
    return TENON_SUCCESS;
  }
  for (n = 0; n < m->cells * kCorners; ++n)
    PutCoordinates(m->node[m->corner[n]], coordinates + 2 * n);
  TenonCall(TenonFieldSeriesSetMesh(*series, m->ofCells, "quadrilateral", NULL, 0, NULL,
                                    2 * m->cells * kCorners, coordinates));
  return TENON_SUCCESS;
}

/* A tensor with one row per cell or node of this rank, in the array of the program. */
static TenonErrorCode CreateRows(TenonIndexMap map, int ndim, double* array, TenonInt length,
                                 TenonDTensor* rows) {
  const TenonInt shape[2] = {0, 2};
  TenonLayout plain, ghosted;

  TenonCall(TenonIndexMapGetLayouts(map, ndim, shape, &plain, &ghosted));
  TenonCall(TenonDTensorCreate(plain, TENON_FLOAT64, rows));
  TenonCall(TenonDTensorPlaceArray(*rows, array, NULL, NULL, NULL, length));
  TenonCall(TenonLayoutDestroy(&ghosted));
  TenonCall(TenonLayoutDestroy(&plain));
  return TENON_SUCCESS;
}

/* Writes the flux, two components in the cells, and T at the nodes if hasNodes. */
static TenonErrorCode WriteMesh(const char* folder, const char* name, TenonBool hasNodes, int count,
                                char** steps) {
  double onCells[2 * kCells], onNodes[kNodes];
  TenonDTensor cells, nodes = NULL;
  TenonFieldSeries series;
  TenonIndexMap ofNodes;
  TenonInt n;
  Mesh m;
  char path[512];
  int i;

  TenonCall(CreateMesh(&m));
  ofNodes = m.ofNodes;
  if (!hasNodes)
    m.ofNodes = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  TenonCall(CreateMeshSeries(path, &m, &series));
  TenonCall(CreateRows(m.ofCells, 2, onCells, 2 * m.cells, &cells));
  TenonCall(TenonFieldSeriesAddTensor(series, cells, "flux", "east,north"));
  if (hasNodes) {
    TenonCall(CreateRows(ofNodes, 1, onNodes, m.owned, &nodes));
    TenonCall(TenonFieldSeriesAddTensor(series, nodes, "T", NULL));
  }
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);

    for (n = 0; n < 2 * m.cells; ++n)
      onCells[n] = Value(step, n % 2, 0, m.cell[n / 2] / kNx, m.cell[n / 2] % kNx);
    for (n = 0; n < m.owned; ++n)
      onNodes[n] = Value(step, 0, 0, m.node[n] / (kNx + 1), m.node[n] % (kNx + 1));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonObjectView((TenonObject)series));
  TenonCall(TenonFieldSeriesDestroy(&series));
  TenonCall(TenonDTensorDestroy(&nodes));
  TenonCall(TenonDTensorDestroy(&cells));
  TenonCall(TenonIndexMapDestroy(&ofNodes));
  TenonCall(TenonIndexMapDestroy(&m.ofCells));
  return TENON_SUCCESS;
}

int main(int argc, char** argv) {
  TenonCallAbort(TenonInitialize(NULL, NULL, NULL));
  TenonCallAbort(TenonOptionsSet("-tenon_volume_field_center", "node"));
  if (argc > 2) {
    TenonCallAbort(WritePlane(argv[1], argc - 2, argv + 2));
    TenonCallAbort(WriteVolume(argv[1], argc - 2, argv + 2));
    TenonCallAbort(WriteMesh(argv[1], "mesh", TENON_TRUE, argc - 2, argv + 2));
    TenonCallAbort(WriteMesh(argv[1], "loose", TENON_FALSE, argc - 2, argv + 2));
  }
  TenonCallAbort(TenonFinalize());
  return 0;
}
