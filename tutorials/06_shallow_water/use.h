/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the models from a start that was not used for training: errors, stability, spectrum and
 * cost. */
#ifndef TUTORIAL_USE_H
#define TUTORIAL_USE_H

#include "experiment.h"

/* Runs the truth from this start and stores its samples in x->unseen. Collective. */
TenonErrorCode UseTruth(Experiment* x);
/* Prints the errors of the velocity, the steps until a blow-up, and the spectrum. With -fields it
 * also writes the fields, and with -measure it prints the time of a step. Collective. */
TenonErrorCode Use(Experiment* x);

#endif
