/* SPDX-License-Identifier: BSD-2-Clause */
/* A doubly periodic square grid, distributed over the processes, and its fields.
 *
 * A field has three components u, v, h, each an array of the cells of this process with kGhost
 * ghost cells around them: double q[3][ny + 2 kGhost][nx + 2 kGhost], in Fortran q(nx + 2 ghost, ny
 * + 2 ghost, 3). On the staggered grid (Arakawa C) cell (j, i) holds h at its centre, u on its left
 * side, v on its lower side. */
#ifndef TUTORIAL_GRID_H
#define TUTORIAL_GRID_H

#include <stddef.h>
#include <tenon.h>

enum { kGhost = 2, kFields = 3 };

typedef struct Grid {
  MPI_Comm comm;
  int cells;         /* in each direction */
  double spacing;    /* length of a cell's side */
  int low[2];        /* first row and column of this process */
  int ny, nx;        /* its numbers of rows and columns */
  ptrdiff_t width;   /* length of a row of an array, ghost cells included */
  ptrdiff_t plane;   /* length of a component */
  ptrdiff_t size;    /* length of a field */
  TenonLayout plain; /* [1, 3, cells, cells], this decomposition */
  TenonLinearOp halo;
  TenonDTensor owned, ghosted; /* placed on the field of the call */
} Grid;

/* Creates a grid of cells * refinement cells in each direction. On each process it covers the same
 * part of the domain, of the given length, for every refinement. Collective. */
TenonErrorCode GridCreate(MPI_Comm comm, int cells, int refinement, double length, Grid* grid);
TenonErrorCode GridDestroy(Grid* grid);

/* Creates arrays for `count` fields, of zeros, one after another; release them with free(). */
double* GridCreateFields(const Grid* grid, int count);
/* Index in a component of cell (j, i) of this process; -1, ny and nx are ghost cells. */
static inline ptrdiff_t GridIndex(const Grid* grid, int j, int i) {
  return (j + kGhost) * grid->width + i + kGhost;
}

/* Places a tensor of shape [1, components, cells, cells] on an array, without a copy. */
TenonErrorCode GridPlace(const Grid* grid, TenonDTensor tensor, double* q);
/* Creates a halo exchange of `width` layers, and the tensor with them. Collective. */
TenonErrorCode GridCreateHalo(const Grid* grid, int width, TenonLinearOp* halo,
                              TenonDTensor* ghosted);
/* Fills the ghost cells of q by such an exchange. Collective. */
TenonErrorCode GridFill(const Grid* grid, TenonLinearOp halo, TenonDTensor ghosted, double* q);
/* Fills one layer of ghost cells of q, as the solver needs them. Collective. */
TenonErrorCode GridExchange(const Grid* grid, double* q);

/* y <- a x + b y, for all elements of a field; if b is 0, y is not read. */
void GridAdd(const Grid* grid, double a, const double* x, double b, double* y);
/* Sum over the domain of the products of two fields, cell by cell. Collective. */
double GridDot(const Grid* grid, const double* x, const double* y);
/* Root mean square over the domain of the velocity (u, v) of a field, or of an error. Collective.
 */
double GridVelocity(const Grid* grid, const double* q);
/* Mean of component h. Collective. */
double GridMass(const Grid* grid, const double* q);

#endif
