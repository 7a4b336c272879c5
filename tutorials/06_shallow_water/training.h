/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ways of training, with checkpoints. */
#ifndef TUTORIAL_TRAINING_H
#define TUTORIAL_TRAINING_H

#include "experiment.h"

/* Trains x->oneStep while the truth runs, and x->inLoop, from these weights on, through kWindow
 * steps of the coarse solver. With -checkpoint continues where the last run has ended. `ended` is
 * true if -stop ended the training. Collective. */
TenonErrorCode Train(Experiment* x, TenonBool* ended);

#endif
