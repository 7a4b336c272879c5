/* SPDX-License-Identifier: BSD-2-Clause */
/* The barotropic vorticity equation on a rotating sphere of radius 1, for the vorticity z of a wind
 * v without divergence,
 *
 *   dz/dt = -div ((z + f) v),     f = 2 kRotation cos(colatitude),
 *
 * by spectral transforms: z is stored as coefficients of spherical harmonics, its wind and z itself
 * are computed on Gauss points, and the divergence of the flux there is transformed back. The
 * points are so many that the products have no aliasing. In time: the classical method of Runge and
 * Kutta, then damping by a factor of each degree. */
#ifndef TUTORIAL_SOLVER_H
#define TUTORIAL_SOLVER_H

#include <tenon.h>

enum { kStages = 4 };

typedef struct Solver {
  MPI_Comm comm;
  TenonInt degrees, rows, columns;
  double dt;
  TenonLayout spectral;        /* [1, 1, orders, degrees, 2], orders split among the processes */
  TenonInt *order, low, count; /* the orders at this process's places low .. low + count - 1 */
  double* coriolis;            /* f in each row of this process */
  TenonLayer synthesis;        /* (divergence 0, vorticity; vorticity) -> (wind; vorticity) */
  TenonLayer analysis;         /* flux -> (divergence, vorticity) */
  TenonLayer damping;
  TenonDTensor input, fields, flux, output;
  TenonDTensor dInput, dFields, dFlux, dOutput;
  TenonDTensor rate, sum, stage[kStages], work;
} Solver;

/* `damping` is the rate at which the highest degree decays. Collective. */
TenonErrorCode SolverCreate(TenonPartition processes, TenonInt degrees, double dt, double damping,
                            Solver* solver);
TenonErrorCode SolverDestroy(Solver* solver);

/* Coefficients of one field. Collective. */
TenonErrorCode SolverCreateField(const Solver* solver, TenonDTensor* z);

/* z <- S(z). `stages` (kStages fields) receives the arguments of the rates, which the adjoint
 * needs; it may be solver->stage. Collective. */
TenonErrorCode SolverStep(Solver* solver, TenonDTensor z, TenonDTensor stages[]);
/* w <- S'(z)* w: from dL/dS(z) to dL/dz. Collective. */
TenonErrorCode SolverAdjoint(Solver* solver, const TenonDTensor stages[], TenonDTensor w);

#endif
