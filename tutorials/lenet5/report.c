/* SPDX-License-Identifier: BSD-2-Clause */
/* Gathers parameters on rank 0, prints the shapes of their blocks, and writes them to a file
 * (report.h). */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxDims = 8 };

TenonErrorCode CollectorCreate(MPI_Comm comm, TenonLayout from, TenonDataType type, Collector* c) {
  const int one[1] = {1};
  const int root[1] = {0};
  TenonInt shape[kMaxDims];
  TenonPartition alone;
  TenonLayout whole;
  int ndim;

  TenonCall(TenonLayoutGetDim(from, &ndim));
  TenonCall(TenonLayoutGetShape(from, shape));
  TenonCall(TenonPartitionCreateFromRanks(comm, 1, one, root, &alone));
  TenonCall(TenonLayoutCreateSharded(alone, ndim, shape, "B", &whole));
  TenonCall(TenonLinearOpCreateConversion(from, whole, type, &c->gather));
  TenonCall(TenonDTensorCreate(whole, type, &c->whole));
  TenonCall(TenonLayoutDestroy(&whole));
  TenonCall(TenonPartitionDestroy(&alone));
  return TENON_SUCCESS;
}

TenonErrorCode CollectorGet(Collector* c, TenonDTensor x, const void** values, TenonInt* count) {
  TenonDataType type;
  const void* array;

  TenonCall(TenonLinearOpApply(c->gather, x, c->whole));
  TenonCall(TenonDTensorGetDataType(c->whole, &type));
  TenonCall(TenonDTensorGetArrayRead(c->whole, type, &array));
  *values = array;
  TenonCall(TenonDTensorRestoreArrayRead(c->whole, &array));
  TenonCall(TenonDTensorGetLocalSize(c->whole, count));
  return TENON_SUCCESS;
}

TenonErrorCode CollectorDestroy(Collector* c) {
  TenonCall(TenonLinearOpDestroy(&c->gather));
  TenonCall(TenonDTensorDestroy(&c->whole));
  return TENON_SUCCESS;
}

/* "(60,200)", or "-" for an empty box. */
static void BoxText(int ndim, const TenonInt low[], const TenonInt high[], char* text,
                    size_t capacity) {
  size_t used = 0;
  int d;

  for (d = 0; d < ndim; ++d)
    if (high[d] == low[d]) {
      snprintf(text, capacity, "-");
      return;
    }
  for (d = 0; d < ndim; ++d)
    used += (size_t)snprintf(text + used, capacity - used, "%s%lld", d ? "," : "(",
                             (long long)(high[d] - low[d]));
  snprintf(text + used, capacity - used, ")");
}

TenonErrorCode ReportParameters(MPI_Comm comm, TenonLayer network) {
  enum { kText = 32 };
  char mine[kText], name[kText];
  char* all = NULL;
  int count, rank, size, i, r;

  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  all = malloc((size_t)size * kText);
  TenonCall(TenonLayerGetParameterCount(network, &count));
  if (rank == 0) {
    printf("parameters stored on each rank:\n%-16s", "");
    for (r = 0; r < size; ++r)
      printf("rank %-11d", r);
    printf("\n");
  }
  for (i = 0; i < count; ++i) {
    TenonInt low[kMaxDims], high[kMaxDims];
    TenonDTensor parameter;
    TenonLayout layout;
    int ndim;

    TenonCall(TenonLayerGetParameter(network, i, &parameter));
    TenonCall(TenonObjectGetName((TenonObject)parameter, name, kText, NULL));
    TenonCall(TenonDTensorGetLayout(parameter, &layout));
    TenonCall(TenonLayoutGetDim(layout, &ndim));
    TenonCall(TenonDTensorGetBox(parameter, low, high));
    BoxText(ndim, low, high, mine, kText);
    MPI_Gather(mine, kText, MPI_CHAR, all, kText, MPI_CHAR, 0, comm);
    if (rank == 0) {
      printf("%-16s", name);
      for (r = 0; r < size; ++r)
        printf("%-16s", all + (size_t)r * kText);
      printf("\n");
    }
    TenonCall(TenonLayoutDestroy(&layout));
    TenonCall(TenonDTensorDestroy(&parameter));
  }
  free(all);
  return TENON_SUCCESS;
}

void TextAdd(Text* text, const char* format, ...) {
  char piece[128];
  va_list arguments;
  TenonInt length;

  va_start(arguments, format);
  length = vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  if (text->length + length > text->capacity) {
    text->capacity = 2 * (text->length + length);
    text->chars = realloc(text->chars, (size_t)text->capacity);
    if (!text->chars)
      TenonAbort(TENON_ERR_MEMORY);
  }
  memcpy(text->chars + text->length, piece, (size_t)length);
  text->length += length;
}

static TenonErrorCode AddParameter(MPI_Comm comm, TenonLayer network, int index, Text* text) {
  const void* values;
  Collector collector;
  TenonDTensor parameter;
  TenonLayout layout;
  TenonInt count, i;

  TenonCall(TenonLayerGetParameter(network, index, &parameter));
  TenonCall(TenonDTensorGetLayout(parameter, &layout));
  TenonCall(CollectorCreate(comm, layout, TENON_FLOAT32, &collector));
  TenonCall(CollectorGet(&collector, parameter, &values, &count));
  for (i = 0; i < count; ++i)
    TextAdd(text, "%.9g\n", ((const float*)values)[i]);
  TenonCall(CollectorDestroy(&collector));
  TenonCall(TenonLayoutDestroy(&layout));
  TenonCall(TenonDTensorDestroy(&parameter));
  return TENON_SUCCESS;
}

TenonErrorCode ReportWriteParameters(MPI_Comm comm, TenonLayer network, const char* path) {
  Text text = {NULL, 0, 0};
  int count, rank, i;

  MPI_Comm_rank(comm, &rank);
  TenonCall(TenonLayerGetParameterCount(network, &count));
  for (i = 0; i < count; ++i)
    TenonCall(AddParameter(comm, network, i, &text));
  if (rank == 0)
    TenonCall(TenonWriteFile(path, text.chars, text.length));
  free(text.chars);
  return TENON_SUCCESS;
}
