/* SPDX-License-Identifier: BSD-2-Clause */
/* The right-hand side F of solver.h once more, as a network of layers without anything to train: of
 * means between cells, sides and corners of the C grid, products, and differences. Its derivatives
 * are the library's, so that nobody writes an adjoint. */
#ifndef TUTORIAL_EQUATIONS_H
#define TUTORIAL_EQUATIONS_H

#include "grid.h"

/* Creates the network, from a field to F of it, both in grid->plain. Collective. */
TenonErrorCode EquationsCreate(const Grid* grid, TenonLayer* equations);

#endif
