/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: write_fields FOLDER STEP... Writes four series of fields at these steps, time being a
 * quarter of the step, with values that check_fields.py computes: "plane", u and v in an array with
 * ghost cells and p, and "volume", T at grid points; and the mesh of the plane's cells, whose
 * owners and ids are in disorder, with nodes ("mesh") and without ("loose"). */
#include <tenon.h>

#include <stdio.h>
#include <stdlib.h>

enum { kNy = 5, kNx = 7, kNz = 4, kGhosts = 2 };

static double Value(TenonInt step, TenonInt component, TenonInt z, TenonInt y, TenonInt x) {
  return (double)(1000 * component + step + 100 * z + 10 * y) + 0.5 * (double)x;
}

static TenonErrorCode WritePlane(const char* folder, int count, char** steps) {
  const TenonInt shape[4] = {1, 2, kNy, kNx}, ghosts[4] = {0, 0, kGhosts, kGhosts};
  const double origin[2] = {-1, 2.5}, spacing[2] = {0.5, 0.25};
  TenonInt low[4], high[4], strides[4], c, y, x;
  TenonPartition line;
  TenonLayout layout, flat;
  TenonDTensor velocity, pressure;
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
  TenonCall(TenonLayoutGetOwnedBox(layout, low, high));
  /* Columns one after the other, as Fortran has u(-1:ny+2, -1:nx+2, 2). */
  strides[2] = 1;
  strides[3] = kNy + 2 * kGhosts;
  strides[1] = strides[0] = strides[3] * (high[3] - low[3] + 2 * kGhosts);
  u = malloc(sizeof(double) * (size_t)(2 * strides[1]));
  TenonCall(TenonDTensorPlaceArray(velocity, u + kGhosts * (strides[2] + strides[3]), strides,
                                   ghosts, ghosts, 2 * strides[1]));
  snprintf(path, sizeof path, "%s/plane", folder);
  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 2, &series));
  TenonCall(TenonFieldSeriesSetGrid(series, 2, origin, spacing));
  TenonCall(TenonFieldSeriesAddTensor(series, velocity, "velocity", "u,v"));
  TenonCall(TenonFieldSeriesAddTensor(series, pressure, "p", NULL));
  for (i = 0; i < count; ++i) {
    const TenonInt step = atoll(steps[i]);

    for (c = 0; c < 2 * strides[1]; ++c)
      u[c] = -1; /* the ghost cells, which are not written */
    for (c = 0; c < 2; ++c)
      for (y = 0; y < kNy; ++y)
        for (x = low[3]; x < high[3]; ++x)
          u[c * strides[1] + y + kGhosts + (x - low[3] + kGhosts) * strides[3]] =
              Value(step, c, 0, y, x);
    TenonCall(TenonDTensorFillConstant(pressure, (double)step));
    TenonCall(TenonFieldSeriesWrite(series, step, 0.25 * (double)step));
  }
  TenonCall(TenonObjectView((TenonObject)series));
  TenonCall(TenonFieldSeriesDestroy(&series));
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

/* Corner k of a cell, counterclockwise. */
static TenonInt NodeOf(TenonInt cell, int k) {
  const int right = k == 1 || k == 2, up = k >= 2;

  return (cell / kNx + up) * (kNx + 1) + cell % kNx + right;
}

/* What a rank has of the mesh: its cells, and its nodes with those of others that its cells have.
 */
typedef struct Mesh {
  TenonInt cells, owned, nodes;
  TenonInt cell[kCells], cellIds[kCells], node[kNodes], nodeIds[kNodes], corner[kCells * kCorners];
  TenonIndexMap ofCells, ofNodes;
} Mesh;

static TenonInt PlaceOf(Mesh* m, TenonInt node) {
  TenonInt at = 0;

  while (at < m->nodes && m->node[at] != node)
    ++at;
  if (at == m->nodes) {
    m->node[at] = node;
    m->nodeIds[m->nodes++] = 5 * node - 40;
  }
  return at;
}

static TenonErrorCode CreateMesh(Mesh* m) {
  TenonInt n;
  int rank, ranks, k;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  m->cells = m->nodes = 0;
  for (n = 0; n < kNodes; ++n)
    if ((2 * n + 1) % ranks == rank)
      PlaceOf(m, n);
  m->owned = m->nodes;
  for (n = 0; n < kCells; ++n)
    if (n * n % ranks == rank) {
      for (k = 0; k < kCorners; ++k)
        m->corner[m->cells * kCorners + k] = PlaceOf(m, NodeOf(n, k));
      m->cell[m->cells] = n;
      m->cellIds[m->cells++] = 100 - 7 * n; /* the last cell first */
    }
  TenonCall(
      TenonIndexMapCreateFromIds(MPI_COMM_WORLD, m->cells, m->cells, m->cellIds, &m->ofCells));
  TenonCall(
      TenonIndexMapCreateFromIds(MPI_COMM_WORLD, m->owned, m->nodes, m->nodeIds, &m->ofNodes));
  return TENON_SUCCESS;
}

/* Node (y, x) lies at (x, 2 y). */
static void PutPlace(TenonInt node, double* place) {
  place[0] = (double)(node % (kNx + 1));
  place[1] = 2 * (double)(node / (kNx + 1));
}

static TenonErrorCode CreateMeshSeries(const char* path, Mesh* m, TenonFieldSeries* series) {
  double places[kCells * kCorners * 2];
  TenonInt n;

  TenonCall(TenonFieldSeriesCreate(MPI_COMM_WORLD, path, 2, series));
  if (m->ofNodes) {
    for (n = 0; n < m->owned; ++n)
      PutPlace(m->node[n], places + 2 * n);
    TenonCall(TenonFieldSeriesSetMesh(*series, m->ofCells, "quadrilateral", m->ofNodes,
                                      m->cells * kCorners, m->corner, 2 * m->owned, places));
    return TENON_SUCCESS;
  }
  for (n = 0; n < m->cells * kCorners; ++n)
    PutPlace(m->node[m->corner[n]], places + 2 * n);
  TenonCall(TenonFieldSeriesSetMesh(*series, m->ofCells, "quadrilateral", NULL, 0, NULL,
                                    2 * m->cells * kCorners, places));
  return TENON_SUCCESS;
}

/* A tensor [rows, ...] on the array. */
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

/* Both components on the cells, and one number on the nodes if the series knows them. */
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
