/* SPDX-License-Identifier: BSD-2-Clause */
/* A triangulated sphere, of which each process has some triangles, the cells.
 *
 * An icosahedron, each of whose triangles is divided into four again and again; corners are moved
 * to the sphere of radius 1. Cell c of one level has the cells 4c to 4c + 3 of the next. For
 * simplicity each process makes the whole mesh and then keeps its part; a code reads its part from
 * a file.
 *
 * A process has these lists, as many finite-volume codes do: the ids of its own cells, followed by
 * the ids of its ghosts (neighbours that other processes own); and for each side of an own cell,
 * the position of the cell behind the side in this list. Tenon needs no more. A field is an array
 * [count][kFields], own cells first. */
#ifndef TUTORIAL_MESH_H
#define TUTORIAL_MESH_H

#include <tenon.h>

enum { kFields = 4, kSides = 3 };

typedef struct Mesh {
  MPI_Comm comm;
  int level;
  TenonInt cells;        /* of all processes */
  TenonInt owned, count; /* of this process: own cells, and with ghosts */
  TenonInt* ids;         /* [count] */
  TenonInt* neighbours;  /* [owned][kSides] positions in the list */
  double* corners;       /* [owned][kSides][3] */
  double* normals;       /* [owned][kSides][3] outward normals, as long as the sides */
  double* up;            /* [owned][3] normals of the cells */
  double* areas;         /* [owned] */
  TenonLayout plain;     /* [cells, kFields] */
  TenonIndexMap map;
  TenonEdges edges; /* one for each side of an own cell: from the cell behind it to this cell */
  /* For MeshPlace() and the exchange. */
  TenonLinearOp fill;
  TenonDTensor inner, ghosted, contributions;
} Mesh;

/* owner[c] <- the process that shall own cell c, for each cell of the level: as many parts as
 * there are processes, by METIS where it is installed and else by recursive coordinate bisection.
 */
void MeshPartition(MPI_Comm comm, int level, int owner[]);
TenonInt MeshCells(int level);

/* The mesh of this level, whose cells go with those of the level `ownerLevel` that they are in.
 * Collective. */
TenonErrorCode MeshCreate(MPI_Comm comm, int level, int ownerLevel, const int owner[], Mesh* mesh);
TenonErrorCode MeshDestroy(Mesh* mesh);

/* `count` fields of zeros, one after another; MeshSize() is the distance between them. */
double* MeshCreateFields(const Mesh* mesh, int count);
ptrdiff_t MeshSize(const Mesh* mesh);

/* Makes q the array of the tensor. */
TenonErrorCode MeshPlace(const Mesh* mesh, TenonDTensor tensor, double* q);
/* Fills the ghosts. Collective. */
TenonErrorCode MeshExchange(const Mesh* mesh, double* q);
/* The adjoint: adds the values of ghosts to the cells at their owners. Collective. */
TenonErrorCode MeshExchangeAdjoint(const Mesh* mesh, double* w);

/* to <- a from + b to, in own cells. */
void MeshAdd(const Mesh* mesh, double a, const double* from, double b, double* to);
/* The sums over all cells of p q, and of area times the depth q[0]. Collective. */
double MeshDot(const Mesh* mesh, const double* p, const double* q);
double MeshMass(const Mesh* mesh, const double* q);

/* a . b and a x b */
double Dot3(const double a[3], const double b[3]);
void Cross3(const double a[3], const double b[3], double c[3]);

#endif
