/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes vorticities for picture.py, which draws them on globes. */
#ifndef TUTORIAL_PICTURE_H
#define TUTORIAL_PICTURE_H

#include "solver.h"

/* Writes NAME.txt: a line for each of some rows and columns, from the north, with the vorticity of
 * the truth, of the bare model, and of the model with the closure. Collective. */
TenonErrorCode PictureWrite(const Solver* solver, TenonDTensor truth, TenonDTensor bare,
                            TenonDTensor closed, const char* name);

#endif
