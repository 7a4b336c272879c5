/* SPDX-License-Identifier: BSD-2-Clause */
/* Gathering and reporting of parameters. */
#ifndef REPORT_H
#define REPORT_H

#include <tenon.h>

/* Gathers distributed tensors of one layout on rank 0. */
typedef struct Collector {
  TenonLinearOp gather;
  TenonDTensor whole;
} Collector;

/* Collective. */
TenonErrorCode CollectorCreate(MPI_Comm comm, TenonLayout from, TenonDataType type, Collector* c);
/* The value of x on rank 0, in row-major order; NULL elsewhere. Valid until the next call.
 * Collective. */
TenonErrorCode CollectorGet(Collector* c, TenonDTensor x, const void** values, TenonInt* count);
TenonErrorCode CollectorDestroy(Collector* c);

/* Prints the shape of the block of each parameter that each rank stores, as in Table 1 of Hewett
 * and Grady 2020. Collective. */
TenonErrorCode ReportParameters(MPI_Comm comm, TenonLayer network);

/* A text that grows, to be written by TenonWriteFile(). Begins as {NULL, 0, 0}; free chars. */
typedef struct Text {
  char* chars;
  TenonInt length, capacity;
} Text;

/* Appends at most 127 characters, in the format of printf. */
void TextAdd(Text* text, const char* format, ...);

/* Writes all parameters to a file on rank 0, one number per line. Collective. */
TenonErrorCode ReportWriteParameters(MPI_Comm comm, TenonLayer network, const char* path);

#endif
