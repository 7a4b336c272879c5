/* SPDX-License-Identifier: BSD-2-Clause */
/* The two networks of the tutorial, from images [batch, 1, 28, 28] to logits [batch, 10]. */
#ifndef NETWORK_H
#define NETWORK_H

#include <tenon.h>

/* LeNet-5 on a process grid of two axes: the images are split by rows over axis 0 and by columns
 * over axis 1, convolution weights are stored on the root, and each affine weight is split over
 * both axes (Hewett and Grady 2020, Section 5 and Table 1). */
TenonErrorCode NetworkLeNet5(MPI_Comm comm, TenonLayer* network);

/* A linear classifier, for comparison. */
TenonErrorCode NetworkLinear(MPI_Comm comm, TenonLayer* network);

#endif
