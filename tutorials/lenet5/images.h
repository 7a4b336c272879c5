/* SPDX-License-Identifier: BSD-2-Clause */
/* Labelled images in the files of MNIST, in distributed batches: each rank stores of every image
 * the rows and columns that its part of a batch has, and all ranks draw the samples of an epoch in
 * the same order. It shows how a program fills tensors with data of its own. */
#ifndef IMAGES_H
#define IMAGES_H

#include <tenon.h>

typedef struct Images {
  TenonInt count, batch;          /* images in the files, and in a batch */
  TenonInt seed;                  /* of the order of an epoch; 0: the order of the files */
  TenonInt low[4], high[4];       /* this rank's part of a batch: image, channel, row, column */
  TenonInt epoch;                 /* that `order` is of; -1: none yet */
  TenonInt* order;                /* [count] */
  unsigned char *pixels, *labels; /* [count, rows, columns] of this rank, [count] */
  TenonLayout layout;             /* of a batch of images, [batch, 1, height, width] */
  TenonDTensor x;                 /* float32, pixel / 255 */
  TenonDTensor classes;           /* int64, [batch], on all ranks */
} Images;

/* Opens FOLDER/PART-images-idx3-ubyte and FOLDER/PART-labels-idx1-ubyte. Images are split by rows
 * and columns over the process grid. Collective; a bad file is an error on all ranks. */
TenonErrorCode ImagesOpen(MPI_Comm comm, const char* folder, const char* part, TenonInt batch,
                          const int grid[2], TenonInt seed, Images* images);

/* The number of complete batches in an epoch. */
TenonInt ImagesBatches(const Images* images);

/* Fills x and classes with a batch of an epoch, both counted from 0. */
TenonErrorCode ImagesGetBatch(Images* images, TenonInt epoch, TenonInt batch);

TenonErrorCode ImagesClose(Images* images);

#endif
