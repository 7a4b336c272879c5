/* SPDX-License-Identifier: BSD-2-Clause */
/* The right-hand side F of solver.h as a network of layers without trainable parameters: means
 * between cells, sides and corners of the C grid, products, and differences. The library computes
 * the derivatives of the network, so no adjoint is written by hand. */
#ifndef TUTORIAL_EQUATIONS_H
#define TUTORIAL_EQUATIONS_H

#include "grid.h"

/* Creates the network q -> F(q). Both fields have the layout grid->plain. Collective. */
TenonErrorCode EquationsCreate(const Grid* grid, TenonLayer* equations);

#endif
