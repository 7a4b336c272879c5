/* SPDX-License-Identifier: BSD-2-Clause */
/* Vorticities for the solver: the wave of Rossby and Haurwitz, whose exact solution is known, a
 * flow of many waves, the truncation of a flow to fewer degrees, and energies by degree. */
#ifndef TUTORIAL_FLOW_H
#define TUTORIAL_FLOW_H

#include "solver.h"

/* z <- the wave after some time: a rotation of all air, and one harmonic, which moves unchanged.
 * Collective. */
TenonErrorCode FlowWave(const Solver* solver, double time, TenonDTensor z);
/* z <- waves of low degrees; other ones for another number. Collective. */
TenonErrorCode FlowStart(const Solver* solver, int number, TenonDTensor z);
/* energy[l] <- the kinetic energy of degree l, on all processes. Collective. */
TenonErrorCode FlowEnergy(const Solver* solver, TenonDTensor z, double energy[]);

/* A layer from the coefficients of a solver to fewer degrees. Collective. */
TenonErrorCode FlowCreateTruncation(const Solver* solver, TenonInt degrees, TenonLayer* layer);

#endif
