/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the triangulated sphere of mesh.h, keeps the cells of this process with their ghosts, and
 * creates the map of the ghosts and the edges between neighbours, by which Tenon communicates. */
#include "mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TUTORIAL_METIS
#include <metis.h>
#endif

enum { kVertices = 12, kFaces = 20 };

/* A triangle of the whole mesh, its corners counterclockwise from outside. Side k is opposite
 * corner k. */
typedef struct Triangle {
  double corner[kSides][3];
  TenonInt neighbour[kSides];
} Triangle;

double Dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void Cross3(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void Normalise(double a[3]) {
  const double length = sqrt(Dot3(a, a));
  int d;

  for (d = 0; d < 3; ++d)
    a[d] /= length;
}

static int AreEqual(const double a[3], const double b[3]) {
  return memcmp(a, b, 3 * sizeof(double)) == 0;
}

/* The middle of two corners, the same bits from both sides. */
static void Middle(const double a[3], const double b[3], double middle[3]) {
  int d;

  for (d = 0; d < 3; ++d)
    middle[d] = a[d] + b[d];
  Normalise(middle);
}

TenonInt MeshCells(int level) {
  return (TenonInt)kFaces << (2 * level);
}

/* The corner of a triangle at this place, or -1. */
static int CornerAt(const Triangle* t, const double place[3]) {
  int k;

  for (k = 0; k < kSides; ++k)
    if (AreEqual(t->corner[k], place))
      return k;
  return -1;
}

/* The side of a triangle between these places, or -1. */
static int SideBetween(const Triangle* t, const double a[3], const double b[3]) {
  const int first = CornerAt(t, a), second = CornerAt(t, b);

  return first < 0 || second < 0 ? -1 : kSides - first - second;
}

/* Three of the twelve vertices are a face if each two are as close as vertices are. */
static void MakeIcosahedron(Triangle* faces) {
  const double golden = (1 + sqrt(5)) / 2;
  double vertex[kVertices][3] = {{0}}, normal[3];
  int count = 0, v, w, x, f, g, k;

  for (v = 0; v < kVertices; ++v) {
    vertex[v][v / 4] = v % 2 ? 1 : -1;
    vertex[v][(v / 4 + 1) % 3] = v / 2 % 2 ? golden : -golden;
    Normalise(vertex[v]);
  }
  for (v = 0; v < kVertices; ++v)
    for (w = v + 1; w < kVertices; ++w)
      for (x = w + 1; x < kVertices; ++x) {
        if (Dot3(vertex[v], vertex[w]) < 0.4 || Dot3(vertex[w], vertex[x]) < 0.4 ||
            Dot3(vertex[x], vertex[v]) < 0.4)
          continue;
        Cross3(vertex[v], vertex[w], normal);
        k = Dot3(normal, vertex[x]) > 0;
        memcpy(faces[count].corner[0], vertex[v], sizeof vertex[v]);
        memcpy(faces[count].corner[k ? 1 : 2], vertex[w], sizeof vertex[w]);
        memcpy(faces[count++].corner[k ? 2 : 1], vertex[x], sizeof vertex[x]);
      }
  for (f = 0; f < kFaces; ++f)
    for (k = 0; k < kSides; ++k)
      for (g = 0; g < kFaces; ++g)
        if (g != f && SideBetween(&faces[g], faces[f].corner[(k + 1) % kSides],
                                  faces[f].corner[(k + 2) % kSides]) >= 0)
          faces[f].neighbour[k] = g;
}

/* Triangle t becomes 4t to 4t + 3: child k has corner k of it, child 3 the middles of its sides. */
static void Divide(const Triangle* from, TenonInt t, Triangle* to) {
  const Triangle* parent = &from[t];
  Triangle *child = to + 4 * t, *centre = child + kSides;
  int k, j;

  for (k = 0; k < kSides; ++k) {
    Middle(parent->corner[(k + 1) % kSides], parent->corner[(k + 2) % kSides], centre->corner[k]);
    centre->neighbour[k] = 4 * t + k;
  }
  for (k = 0; k < kSides; ++k)
    for (j = 0; j < kSides; ++j) {
      const Triangle* behind = &from[parent->neighbour[j]];

      if (j == k) {
        memcpy(child[k].corner[k], parent->corner[k], sizeof parent->corner[k]);
        child[k].neighbour[k] = 4 * t + kSides;
        continue;
      }
      /* The corner between k and j, which is opposite the third one; and the neighbour's child that
       * has the same corner k. */
      memcpy(child[k].corner[j], centre->corner[kSides - k - j], sizeof centre->corner[0]);
      child[k].neighbour[j] = 4 * parent->neighbour[j] + CornerAt(behind, parent->corner[k]);
    }
}

static Triangle* MakeTriangles(int level) {
  Triangle *coarse = (Triangle*)malloc((size_t)MeshCells(0) * sizeof *coarse), *fine;
  TenonInt t;
  int l;

  MakeIcosahedron(coarse);
  for (l = 0; l < level; ++l) {
    fine = (Triangle*)malloc((size_t)MeshCells(l + 1) * sizeof *fine);
    for (t = 0; t < MeshCells(l); ++t)
      Divide(coarse, t, fine);
    free(coarse);
    coarse = fine;
  }
  return coarse;
}

/* --- partition: METIS where it is installed, which cuts fewer sides, or recursive coordinate
 * bisection */

#ifdef TUTORIAL_METIS

/* The cells are the vertices of a graph, joined where they share a side. Each process finds the
 * same parts. */
static void Partition(const Triangle* triangles, TenonInt count, int ranks, int owner[]) {
  idx_t cells = (idx_t)count, constraints = 1, parts = ranks, cut = 0, c;
  idx_t *first = (idx_t*)malloc((size_t)(cells + 1) * sizeof *first),
        *joined = (idx_t*)malloc((size_t)(cells * kSides) * sizeof *joined),
        *part = (idx_t*)calloc((size_t)cells, sizeof *part);
  int k, code = METIS_OK;

  for (c = 0; c < cells; ++c) {
    first[c] = c * kSides;
    for (k = 0; k < kSides; ++k)
      joined[c * kSides + k] = (idx_t)triangles[c].neighbour[k];
  }
  first[cells] = cells * kSides;
  if (ranks > 1)
    code = METIS_PartGraphKway(&cells, &constraints, first, joined, NULL, NULL, NULL, &parts, NULL,
                               NULL, NULL, &cut, part);
  if (code != METIS_OK) {
    fprintf(stderr, "METIS cannot divide %ld cells among %d processes\n", (long)count, ranks);
    abort();
  }
  for (c = 0; c < cells; ++c)
    owner[c] = (int)part[c];
  free(first);
  free(joined);
  free(part);
}

#else

typedef struct Point {
  double x[3], key;
  TenonInt cell;
} Point;

static int Compare(const void* a, const void* b) {
  const Point *p = (const Point*)a, *q = (const Point*)b;

  if (p->key != q->key)
    return p->key < q->key ? -1 : 1;
  return p->cell < q->cell ? -1 : 1;
}

/* The points go to the ranks from `first` on; each half gets points in proportion to its ranks. */
static void Bisect(Point* points, TenonInt count, int first, int ranks, int owner[]) {
  const int half = ranks / 2;
  const TenonInt left = count * half / ranks;
  double widest = -1, low, high;
  int longest = 0, d;
  TenonInt i;

  if (ranks == 1) {
    for (i = 0; i < count; ++i)
      owner[points[i].cell] = first;
    return;
  }
  for (d = 0; d < 3; ++d) {
    low = 2, high = -2;
    for (i = 0; i < count; ++i) {
      low = fmin(low, points[i].x[d]);
      high = fmax(high, points[i].x[d]);
    }
    if (high - low > widest) {
      widest = high - low;
      longest = d;
    }
  }
  for (i = 0; i < count; ++i)
    points[i].key = points[i].x[longest];
  qsort(points, (size_t)count, sizeof *points, Compare);
  Bisect(points, left, first, half, owner);
  Bisect(points + left, count - left, first + half, ranks - half, owner);
}

static void Partition(const Triangle* triangles, TenonInt cells, int ranks, int owner[]) {
  Point* points = (Point*)malloc((size_t)cells * sizeof *points);
  TenonInt t;
  int d;

  for (t = 0; t < cells; ++t) {
    points[t].cell = t;
    for (d = 0; d < 3; ++d)
      points[t].x[d] =
          triangles[t].corner[0][d] + triangles[t].corner[1][d] + triangles[t].corner[2][d];
  }
  Bisect(points, cells, 0, ranks, owner);
  free(points);
}

#endif

void MeshPartition(MPI_Comm comm, int level, int owner[]) {
  Triangle* triangles = MakeTriangles(level);
  int ranks;

  MPI_Comm_size(comm, &ranks);
  Partition(triangles, MeshCells(level), ranks, owner);
  free(triangles);
}

/* --- this process's part */

/* Own cells, then the neighbours that others own; neighbours by their places in this list. */
static void ListCells(Mesh* m, const Triangle* all, int ownerLevel, const int owner[]) {
  const int levels = 2 * (m->level - ownerLevel);
  TenonInt* place = (TenonInt*)malloc((size_t)m->cells * sizeof *place);
  TenonInt c, i;
  int rank, k;

  MPI_Comm_rank(m->comm, &rank);
  m->ids = (TenonInt*)malloc((size_t)m->cells * sizeof *m->ids);
  m->owned = 0;
  for (c = 0; c < m->cells; ++c) {
    place[c] = -1;
    if (owner[c >> levels] == rank) {
      place[c] = m->owned;
      m->ids[m->owned++] = c;
    }
  }
  m->count = m->owned;
  m->neighbours = (TenonInt*)malloc((size_t)(m->owned * kSides + 1) * sizeof *m->neighbours);
  for (i = 0; i < m->owned; ++i)
    for (k = 0; k < kSides; ++k) {
      const TenonInt behind = all[m->ids[i]].neighbour[k];

      if (place[behind] < 0) {
        place[behind] = m->count;
        m->ids[m->count++] = behind;
      }
      m->neighbours[i * kSides + k] = place[behind];
    }
  free(place);
}

/* A side goes from a to b, and b x a points outward and is as long as the side. The three add up to
 * minus twice the area times the cell's normal: nothing along the cell, so that a fluid at rest
 * stays so. */
static void Measure(Mesh* m, const Triangle* all) {
  TenonInt i;
  int k, d;

  m->corners = (double*)calloc((size_t)(m->owned * kSides * 3 + 1), sizeof(double));
  m->normals = (double*)calloc((size_t)(m->owned * kSides * 3 + 1), sizeof(double));
  m->up = (double*)calloc((size_t)(m->owned * 3 + 1), sizeof(double));
  m->areas = (double*)calloc((size_t)(m->owned + 1), sizeof(double));
  for (i = 0; i < m->owned; ++i) {
    const Triangle* t = &all[m->ids[i]];
    double *normal = m->normals + i * kSides * 3, *up = m->up + i * 3;

    memcpy(m->corners + i * kSides * 3, t->corner, sizeof t->corner);
    for (k = 0; k < kSides; ++k) {
      Cross3(t->corner[(k + 2) % kSides], t->corner[(k + 1) % kSides], normal + k * 3);
      for (d = 0; d < 3; ++d)
        up[d] -= normal[k * 3 + d];
    }
    m->areas[i] = sqrt(Dot3(up, up)) / 2;
    Normalise(up);
  }
}

/* The lists as they are: cells become an index map, sides become edges. */
static TenonErrorCode CreateMap(Mesh* m) {
  const TenonInt shape[2] = {0, kFields}, sides = m->owned * kSides;
  TenonInt *target, *key, s;
  TenonLayout ghosted, dual;

  target = (TenonInt*)malloc((size_t)(2 * sides + 1) * sizeof *target);
  key = target + sides;
  for (s = 0; s < sides; ++s) {
    target[s] = s / kSides;
    key[s] = m->ids[s / kSides] * kSides + s % kSides; /* the same on any number of processes */
  }
  TenonCall(TenonIndexMapCreateFromIds(m->comm, m->owned, m->count, m->ids, &m->map));
  TenonCall(TenonEdgesCreate(m->map, m->map, sides, target, m->neighbours, key, NULL, &m->edges));
  free(target);
  TenonCall(TenonIndexMapGetLayouts(m->map, 2, shape, &m->plain, &ghosted));
  TenonCall(TenonLayoutGetDual(ghosted, &dual));
  TenonCall(TenonLinearOpCreateIndexMap(m->map, m->plain, TENON_FLOAT64, &m->fill));
  TenonCall(TenonDTensorCreate(m->plain, TENON_FLOAT64, &m->inner));
  TenonCall(TenonDTensorCreate(ghosted, TENON_FLOAT64, &m->ghosted));
  TenonCall(TenonDTensorCreate(dual, TENON_FLOAT64, &m->contributions));
  TenonCall(TenonLayoutDestroy(&dual));
  TenonCall(TenonLayoutDestroy(&ghosted));
  return TENON_SUCCESS;
}

TenonErrorCode MeshCreate(MPI_Comm comm, int level, int ownerLevel, const int owner[], Mesh* m) {
  Triangle* all = MakeTriangles(level);

  m->comm = comm;
  m->level = level;
  m->cells = MeshCells(level);
  ListCells(m, all, ownerLevel, owner);
  Measure(m, all);
  free(all);
  TenonCall(CreateMap(m));
  return TENON_SUCCESS;
}

TenonErrorCode MeshDestroy(Mesh* m) {
  TenonCall(TenonDTensorDestroy(&m->contributions));
  TenonCall(TenonDTensorDestroy(&m->ghosted));
  TenonCall(TenonDTensorDestroy(&m->inner));
  TenonCall(TenonLinearOpDestroy(&m->fill));
  TenonCall(TenonLayoutDestroy(&m->plain));
  TenonCall(TenonEdgesDestroy(&m->edges));
  TenonCall(TenonIndexMapDestroy(&m->map));
  free(m->areas);
  free(m->up);
  free(m->normals);
  free(m->corners);
  free(m->neighbours);
  free(m->ids);
  return TENON_SUCCESS;
}

/* --- fields */

ptrdiff_t MeshSize(const Mesh* m) {
  return (ptrdiff_t)(m->count * kFields);
}

double* MeshCreateFields(const Mesh* m, int count) {
  return (double*)calloc((size_t)(MeshSize(m) * count + 1), sizeof(double));
}

TenonErrorCode MeshPlace(const Mesh* m, TenonDTensor tensor, double* q) {
  TenonCall(TenonDTensorPlaceArray(tensor, q, NULL, NULL, NULL, MeshSize(m)));
  return TENON_SUCCESS;
}

/* A tensor with ghosts on the array q, in which they lie behind the own cells. */
static TenonErrorCode PlaceGhosted(const Mesh* m, TenonDTensor tensor, double* q) {
  const TenonInt behind[2] = {m->count - m->owned, 0};

  TenonCall(TenonDTensorPlaceArray(tensor, q, NULL, NULL, behind, MeshSize(m)));
  return TENON_SUCCESS;
}

TenonErrorCode MeshExchange(const Mesh* m, double* q) {
  TenonCall(MeshPlace(m, m->inner, q));
  TenonCall(PlaceGhosted(m, m->ghosted, q));
  TenonCall(TenonLinearOpApply(m->fill, m->inner, m->ghosted));
  return TENON_SUCCESS;
}

TenonErrorCode MeshExchangeAdjoint(const Mesh* m, double* w) {
  TenonCall(MeshPlace(m, m->inner, w));
  TenonCall(PlaceGhosted(m, m->contributions, w));
  TenonCall(TenonLinearOpApplyAdjoint(m->fill, m->contributions, m->inner));
  return TENON_SUCCESS;
}

void MeshAdd(const Mesh* m, double a, const double* from, double b, double* to) {
  TenonInt n;

  for (n = 0; n < m->owned * kFields; ++n)
    to[n] = a * from[n] + b * to[n];
}

double MeshDot(const Mesh* m, const double* p, const double* q) {
  double mine = 0, sum;
  TenonInt n;

  for (n = 0; n < m->owned * kFields; ++n)
    mine += p[n] * q[n];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, m->comm);
  return sum;
}

double MeshMass(const Mesh* m, const double* q) {
  double mine = 0, sum;
  TenonInt i;

  for (i = 0; i < m->owned; ++i)
    mine += m->areas[i] * q[i * kFields];
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, m->comm);
  return sum;
}
