/* SPDX-License-Identifier: BSD-2-Clause */
/* Trains both closures, and writes checkpoints. */
#ifndef TUTORIAL_TRAINING_H
#define TUTORIAL_TRAINING_H

#include "experiment.h"

/* Trains x->oneStep while the truth runs; then x->inLoop, which begins with the weights of
 * x->oneStep, through kWindow steps of the coarse solver. With -checkpoint the training continues
 * where the last run has ended. `ended` is true if -stop ended the training. Collective. */
TenonErrorCode Train(Experiment* x, TenonBool* ended);

#endif
