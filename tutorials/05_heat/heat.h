/* SPDX-License-Identifier: BSD-2-Clause */
/* A solver that does not use Tenon: heat in a plate of kRows x kColumns cells, cold outside,
 *
 *   du/dt = k Laplacian(u) + f(t) - c s^4,
 *
 * with f a hot spot that moves on an ellipse, and c s^4 the radiation of the rough surface, where s
 * is the mean of u over 3 x 3 cells. Explicit Euler, five-point stencil, cells of size 1. Fields
 * are distributed over a process grid, with one ghost cell on each side. */
#ifndef TUTORIAL_HEAT_H
#define TUTORIAL_HEAT_H

#include <mpi.h>

enum { kRows = 32, kColumns = 48, kGhost = 1 };

typedef struct Heat {
  MPI_Comm comm;                 /* Cartesian */
  int below, above, left, right; /* ranks of the neighbours */
  int low[2], high[2];           /* the box of this process */
  int width;                     /* length of a row of an array, ghost cells included */
  MPI_Datatype column;           /* a column of this process */
} Heat;

/* Collective. */
void HeatCreate(MPI_Comm comm, Heat* heat);
void HeatDestroy(Heat* heat);

/* Creates a field of zeros. HeatAt() returns the address of a cell, also of a ghost cell, given by
 * its global indices. */
double* HeatCreateField(const Heat* heat);
double* HeatAt(const Heat* heat, double* field, int i, int j);

/* Fills the ghost cells of u from the neighbours. Collective. */
void HeatExchange(const Heat* heat, double* u);
/* r <- k Laplacian(u) + f(time): the reduced model. The ghost cells of u must be up to date. */
void HeatConduction(const Heat* heat, double* u, double time, double* r);
/* r <- - c s^4: the radiation, which the reduced model lacks. Ghost cells as before. */
void HeatRadiation(const Heat* heat, double* u, double* r);
/* u <- u + step r */
void HeatAdd(const Heat* heat, double* u, double step, double* r);
/* Returns the root mean square of u - v over the plate. Collective. */
double HeatDistance(const Heat* heat, double* u, double* v);

#endif
