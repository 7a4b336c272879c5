/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tutorial shows beside its losses. */
#ifndef REPORT_H
#define REPORT_H

#include <tenon.h>

/* A copy of distributed tensors of one layout on rank 0 alone. */
typedef struct Collector {
  TenonLinearOp gather;
  TenonDTensor whole;
} Collector;

/* Collective. */
TenonErrorCode CollectorCreate(MPI_Comm comm, TenonLayout from, TenonDataType type, Collector* c);
/* The value of x, in the order of its indices, on rank 0; NULL elsewhere. Valid until the next
 * call. Collective. */
TenonErrorCode CollectorGet(Collector* c, TenonDTensor x, const void** values, TenonInt* count);
TenonErrorCode CollectorDestroy(Collector* c);

/* Prints the part of each parameter that each rank stores, as Table 1 of Hewett and Grady 2020.
 * Collective. */
TenonErrorCode ReportParameters(MPI_Comm comm, TenonLayer network);

/* Rank 0 writes all parameters to a file, one number a line. Collective. */
TenonErrorCode ReportWriteParameters(MPI_Comm comm, TenonLayer network, const char* path);

#endif
