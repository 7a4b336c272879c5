/* SPDX-License-Identifier: BSD-2-Clause */
/* The models from a start that no training has seen: errors, stability, spectrum, cost. */
#ifndef TUTORIAL_USE_H
#define TUTORIAL_USE_H

#include "experiment.h"

/* Runs the truth from the other start and keeps its samples. Collective. */
TenonErrorCode UseTruth(Experiment* x);
/* Prints the errors of the velocity, the steps to a blow-up, and the spectrum; with -fields also
 * writes the fields, with -measure prints the time of a step. Collective. */
TenonErrorCode Use(Experiment* x);

#endif
