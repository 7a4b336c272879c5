/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin for plugin_host.c: a shared library that registers the operator type "weigh",
 * y[i,j] = unit (i + 1) x[i,j] on float64 matrices, where i is the global row. The parameters of an
 * operator are the address of its unit, which the operator copies to its context. */
#include <tenon/dtensor.h>
#include <tenon/ext/linearop.h>

#include <stdlib.h>

static TenonErrorCode create(TenonLayout domain, TenonLayout range, TenonDataType domainType,
                             TenonDataType rangeType, void* parameters, void** context) {
  double* unit = NULL;
  (void)domain;
  (void)range;
  if (domainType != TENON_FLOAT64 || rangeType != TENON_FLOAT64)
    return TENON_ERR_DATATYPE;
  unit = (double*)malloc(sizeof *unit);
  if (unit == NULL)
    return TENON_ERR_MEMORY;
  *unit = *(const double*)parameters;
  *context = unit;
  return TENON_SUCCESS;
}

/* Applies the operator. It is diagonal and real, so this is its adjoint too. */
static TenonErrorCode weigh(TenonDTensor x, TenonDTensor y, void* context) {
  const double unit = *(const double*)context;
  const void* from = NULL;
  void* to = NULL;
  TenonInt low[2], high[2], cell = 0, row, column;
  TenonCall(TenonDTensorGetBox(x, low, high));
  TenonCall(TenonDTensorGetArrayRead(x, TENON_FLOAT64, &from));
  TenonCall(TenonDTensorGetArray(y, TENON_FLOAT64, &to));
  for (row = low[0]; row < high[0]; ++row)
    for (column = low[1]; column < high[1]; ++column, ++cell)
      ((double*)to)[cell] = unit * (double)(row + 1) * ((const double*)from)[cell];
  TenonCall(TenonDTensorRestoreArray(y, &to));
  TenonCall(TenonDTensorRestoreArrayRead(x, &from));
  return TENON_SUCCESS;
}

/* The function that the host calls after loading this library. */
TENON_EXTERN TenonErrorCode registerOperators(void) TENON_NOEXCEPT;

TenonErrorCode registerOperators(void) {
  const TenonLinearOpFunctions functions = {create, weigh, weigh, free};
  return TenonLinearOpRegister("weigh", &functions);
}
