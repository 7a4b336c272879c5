/* SPDX-License-Identifier: BSD-2-Clause */
/* A solver that has never heard of Tenon: heat in a plate of kRows x kColumns cells, cold outside,
 *
 *   du/dt = k Laplacian(u) + f(t) - c s^4,
 *
 * with f a hot spot that moves on an ellipse, and c s^4 what the rough surface radiates, s being the
 * mean of u over the 3 x 3 cells around; explicit Euler, five points, cells of size 1. Fields are
 * split over a grid of processes and carry one ghost cell on each side. */
#ifndef TUTORIAL_HEAT_H
#define TUTORIAL_HEAT_H

#include <mpi.h>

enum { kRows = 32, kColumns = 48, kGhost = 1 };

typedef struct Heat {
  MPI_Comm comm; /* Cartesian */
  int below, above, left, right;
  int low[2], high[2]; /* the box of this process */
  int width;           /* of a row of an array, ghosts included */
  MPI_Datatype column;
} Heat;

/* Collective. */
void HeatCreate(MPI_Comm comm, Heat* heat);
void HeatDestroy(Heat* heat);

/* A field of zeros; HeatAt() is the address of a cell by its global indices, ghosts included. */
double* HeatCreateField(const Heat* heat);
double* HeatAt(const Heat* heat, double* field, int i, int j);

/* Fills the ghosts of u from the neighbours. Collective. */
void HeatExchange(const Heat* heat, double* u);
/* r <- k Laplacian(u) + f(time): the conduction that every solver knows. The ghosts of u are up to
 * date. */
void HeatConduction(const Heat* heat, double* u, double time, double* r);
/* r <- - c s^4: the radiation that the small model misses. */
void HeatRadiation(const Heat* heat, double* u, double* r);
/* u <- u + step r */
void HeatAdd(const Heat* heat, double* u, double step, double* r);
/* The root mean square of u - v over the plate. Collective. */
double HeatDistance(const Heat* heat, double* u, double* v);

#endif
