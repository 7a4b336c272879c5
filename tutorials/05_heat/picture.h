/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture at the end: the field, the radiation from the closure, and the error of the field. */
#ifndef TUTORIAL_PICTURE_H
#define TUTORIAL_PICTURE_H

#include "closure.h"

/* Writes <name>.dat and <name>.gp, and <name>.png if gnuplot is installed. Collective. */
TenonErrorCode PictureWrite(const Closure* closure, const char* name, double time, double* truth,
                            double* field, double* answer);

#endif
