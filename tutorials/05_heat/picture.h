/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture at the end: the field, what the closure adds to its tendency, and its error. */
#ifndef TUTORIAL_PICTURE_H
#define TUTORIAL_PICTURE_H

#include "closure.h"

/* Writes <name>.dat and <name>.gp, and runs gnuplot on them where it is installed, which makes
 * <name>.png. Collective. */
TenonErrorCode PictureWrite(const Closure* closure, const char* name, double* truth, double* field,
                            double* answer);

#endif
