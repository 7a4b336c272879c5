/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the images and labels of MNIST into distributed tensors. A failure to read is found on each
 * rank by itself, so the ranks agree on the largest error before anything else is collective. */
#include "images.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPath = 600 };

/* Reads the header of an IDX file of bytes: two zero bytes, type 8, the rank, big-endian extents.
 * The file must have exactly as many bytes as that says. Returns NULL otherwise. */
static FILE* OpenIdx(const char* path, int ndim, TenonInt shape[]) {
  FILE* file = fopen(path, "rb");
  unsigned char head[16];
  TenonInt bytes = 1;
  int d;

  if (!file)
    return NULL;
  if (fread(head, 1, (size_t)(4 + 4 * ndim), file) != (size_t)(4 + 4 * ndim) || head[0] != 0 ||
      head[1] != 0 || head[2] != 8 || head[3] != ndim) {
    fclose(file);
    return NULL;
  }
  for (d = 0; d < ndim; ++d) {
    const unsigned char* at = head + 4 + 4 * d;

    shape[d] = (TenonInt)at[0] << 24 | (TenonInt)at[1] << 16 | (TenonInt)at[2] << 8 | at[3];
    bytes *= shape[d];
  }
  if (fseek(file, 0, SEEK_END) != 0 || ftell(file) != 4 + 4 * ndim + bytes ||
      fseek(file, 4 + 4 * ndim, SEEK_SET) != 0) {
    fclose(file);
    return NULL;
  }
  return file;
}

/* Reads this rank's rows and columns of each image. */
static int ReadPixels(FILE* file, const TenonInt shape[3], Images* images) {
  const TenonInt rows = images->high[2] - images->low[2],
                 columns = images->high[3] - images->low[3];
  const size_t size = (size_t)(shape[1] * shape[2]);
  unsigned char* image = malloc(size);
  unsigned char* to = images->pixels = malloc((size_t)(shape[0] * rows * columns) + 1);
  TenonInt n, r;

  for (n = 0; image && to && n < shape[0]; ++n) {
    if (fread(image, 1, size, file) != size)
      break;
    for (r = 0; r < rows; ++r, to += columns)
      memcpy(to, image + (images->low[2] + r) * shape[2] + images->low[3], (size_t)columns);
  }
  free(image);
  return images->pixels && n == shape[0];
}

static TenonErrorCode CreateTensors(MPI_Comm comm, const TenonInt shape[3], const int grid[2],
                                    Images* images) {
  const TenonInt extents[4] = {images->batch, 1, shape[1], shape[2]};
  TenonPartition partition;
  TenonLayout labels;

  TenonCall(TenonPartitionCreate(comm, 2, grid, &partition));
  TenonCall(TenonLayoutCreateSharded(partition, 4, extents, "S2,S3", &images->layout));
  TenonCall(TenonLayoutCreateSharded(partition, 1, extents, "B,B", &labels));
  TenonCall(TenonDTensorCreate(images->layout, TENON_FLOAT32, &images->x));
  TenonCall(TenonDTensorCreate(labels, TENON_INT64, &images->classes));
  TenonCall(TenonDTensorGetBox(images->x, images->low, images->high));
  TenonCall(TenonLayoutDestroy(&labels));
  TenonCall(TenonPartitionDestroy(&partition));
  return TENON_SUCCESS;
}

/* An error of any rank is one of all; the lowest rank that has one says which file it is about. */
static int FailedAnywhere(MPI_Comm comm, int failed, const char* path) {
  int rank, first;

  MPI_Comm_rank(comm, &rank);
  first = failed ? rank : 0x7fffffff;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == rank)
    fprintf(stderr, "lenet5: '%s' cannot be read, or is not a complete IDX file of bytes\n", path);
  return first != 0x7fffffff;
}

TenonErrorCode ImagesOpen(MPI_Comm comm, const char* folder, const char* part, TenonInt batch,
                          const int grid[2], TenonInt seed, Images* images) {
  char path[kPath], labelPath[kPath];
  TenonInt shape[3] = {0, 1, 1}, count = 0;
  FILE *file, *labels;

  memset(images, 0, sizeof *images);
  images->batch = batch;
  images->seed = seed;
  images->epoch = -1;
  snprintf(path, kPath, "%s/%s-images-idx3-ubyte", folder, part);
  snprintf(labelPath, kPath, "%s/%s-labels-idx1-ubyte", folder, part);
  file = OpenIdx(path, 3, shape);
  labels = OpenIdx(labelPath, 1, &count);
  if (FailedAnywhere(comm, !file, path) ||
      FailedAnywhere(comm, !labels || count != shape[0], labelPath))
    return TENON_ERR_FILE;
  TenonCall(CreateTensors(comm, shape, grid, images));
  images->count = count;
  images->labels = malloc((size_t)count + 1);
  images->order = malloc((size_t)(count + 1) * sizeof *images->order);
  if (FailedAnywhere(comm, !ReadPixels(file, shape, images), path) ||
      FailedAnywhere(comm,
                     !images->order || !images->labels ||
                         fread(images->labels, 1, (size_t)count, labels) != (size_t)count,
                     labelPath))
    return TENON_ERR_FILE;
  fclose(labels);
  fclose(file);
  return TENON_SUCCESS;
}

TenonInt ImagesBatches(const Images* images) {
  return images->count / images->batch;
}

/* SplitMix64 (Steele et al. 2014). */
static uint64_t NextBits(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* A new order for each epoch, by seed and epoch alone, so it is the same on all ranks. */
static void DrawOrder(Images* images, TenonInt epoch) {
  uint64_t state = (uint64_t)images->seed << 32 ^ (uint64_t)epoch;
  TenonInt i;

  for (i = 0; i < images->count; ++i)
    images->order[i] = i;
  for (i = images->count - 1; images->seed != 0 && i > 0; --i) {
    const TenonInt j = (TenonInt)(NextBits(&state) % (uint64_t)(i + 1)), last = images->order[i];

    images->order[i] = images->order[j];
    images->order[j] = last;
  }
  images->epoch = epoch;
}

TenonErrorCode ImagesGetBatch(Images* images, TenonInt epoch, TenonInt batch) {
  const TenonInt rows = images->high[2] - images->low[2],
                 columns = images->high[3] - images->low[3];
  void *pixels, *classes;
  TenonInt n, i;

  if (images->epoch != epoch)
    DrawOrder(images, epoch);
  TenonCall(TenonDTensorGetArray(images->x, TENON_FLOAT32, &pixels));
  TenonCall(TenonDTensorGetArray(images->classes, TENON_INT64, &classes));
  for (n = 0; n < images->batch; ++n) {
    const TenonInt sample = images->order[batch * images->batch + n];
    const unsigned char* from = images->pixels + sample * rows * columns;
    float* to = (float*)pixels + n * rows * columns;

    for (i = 0; i < rows * columns; ++i)
      to[i] = (float)from[i] / 255;
    ((int64_t*)classes)[n] = images->labels[sample];
  }
  TenonCall(TenonDTensorRestoreArray(images->classes, &classes));
  TenonCall(TenonDTensorRestoreArray(images->x, &pixels));
  return TENON_SUCCESS;
}

TenonErrorCode ImagesClose(Images* images) {
  free(images->order);
  free(images->pixels);
  free(images->labels);
  TenonCall(TenonDTensorDestroy(&images->classes));
  TenonCall(TenonDTensorDestroy(&images->x));
  TenonCall(TenonLayoutDestroy(&images->layout));
  return TENON_SUCCESS;
}
