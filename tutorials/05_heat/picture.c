/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the fields of picture.h: gathers them on process 0, which writes the numbers and a script
 * for gnuplot, and runs gnuplot if it is installed. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

enum { kFields = 3, kText = 600 };

/* Gathers a field on process 0, by one conversion to a layout on the root only. */
static TenonErrorCode Gather(const Closure* c, TenonLinearOp toRoot, TenonDTensor whole,
                             double* field, double* cells) {
  const void* values;
  TenonInt count, i;

  TenonCall(ClosureWrap(c, c->u, field));
  TenonCall(TenonLinearOpApply(toRoot, c->u, whole));
  TenonCall(TenonDTensorGetLocalSize(whole, &count));
  TenonCall(TenonDTensorGetArrayRead(whole, TENON_FLOAT64, &values));
  for (i = 0; i < count; ++i)
    cells[i] = ((const double*)values)[i];
  TenonCall(TenonDTensorRestoreArrayRead(whole, &values));
  return TENON_SUCCESS;
}

static TenonErrorCode WriteData(const char* path, double cells[kFields][kRows * kColumns]) {
  enum { kLine = 80 };
  static char text[(kRows + 1) * (kColumns + 1) * kLine];
  int length = snprintf(text, kLine, "# row column field closure error\n");
  int i, j;

  for (i = 0; i < kRows; ++i) {
    for (j = 0; j < kColumns; ++j) {
      const int n = i * kColumns + j;

      length += snprintf(text + length, kLine, "%d %d %.6e %.6e %.6e\n", i, j, cells[1][n],
                         cells[2][n], cells[1][n] - cells[0][n]);
    }
    length += snprintf(text + length, kLine, "\n");
  }
  TenonCall(TenonWriteFile(path, text, length));
  return TENON_SUCCESS;
}

/* Values are dimensionless (heat.h), lengths count cells. A palette whose brightness grows evenly
 * for fields, and one that is white at 0 for the error, whose range is as long on both sides. */
static TenonErrorCode WriteScript(const char* path, const char* name, double time) {
  char text[5 * kText];
  const int length = snprintf(
      text, sizeof text,
      "set terminal png truecolor size 1700,440\nset output '%s.png'\ndata = '%s.dat'\n"
      "set multiplot layout 1,3 title 'heated plate at time %.0f'\n"
      "set size ratio -1\nunset key\nset autoscale fix\nset format cb '%%g'\nset rmargin 9\n"
      "set xlabel 'x / cell'\nset ylabel 'y / cell'\n"
      "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')\n"
      "set title 'solver with the closure'\nset cblabel 'temperature'\n"
      "plot data using 2:1:3 with image\n"
      "set title 'radiation from the closure'\nset cblabel 'temperature per time'\n"
      "plot data using 2:1:4 with image\n"
      "stats data using 5 nooutput\nm = abs(STATS_min) > STATS_max ? abs(STATS_min) : STATS_max\n"
      "set cbrange [-m:m]\nset palette defined (-1 '#2166ac', 0 '#f7f7f7', 1 '#b2182b')\n"
      "set title 'error of the solver with the closure'\nset cblabel 'temperature'\n"
      "plot data using 2:1:5 with image\n",
      name, name, time);

  TenonCall(TenonWriteFile(path, text, length));
  return TENON_SUCCESS;
}

/* To be called on process 0. */
static TenonErrorCode Draw(const char* name, double time, double cells[kFields][kRows * kColumns]) {
  char data[kText], script[kText], command[2 * kText];

  snprintf(data, kText, "%s.dat", name);
  snprintf(script, kText, "%s.gp", name);
  TenonCall(WriteData(data, cells));
  TenonCall(WriteScript(script, name, time));
  snprintf(command, sizeof command, "command -v gnuplot > /dev/null && gnuplot '%s'", script);
  if (system(command) != 0)
    fprintf(stderr, "05_heat: no picture without gnuplot; the fields are in %s\n", data);
  return TENON_SUCCESS;
}

TenonErrorCode PictureWrite(const Closure* c, const char* name, double time, double* truth,
                            double* field, double* answer) {
  static double cells[kFields][kRows * kColumns];
  double* fields[kFields];
  TenonLayout root = NULL;
  TenonLinearOp toRoot = NULL;
  TenonDTensor whole = NULL;
  int rank, i;

  fields[0] = truth;
  fields[1] = field;
  fields[2] = answer;
  MPI_Comm_rank(c->heat->comm, &rank);
  TenonCall(TenonLayoutCreateLike(c->layout, &root));
  TenonCall(TenonLayoutSetProperties(root, "R,R,R,R"));
  TenonCall(TenonLayoutSetUp(root));
  TenonCall(TenonLinearOpCreateConversion(c->layout, root, TENON_FLOAT64, &toRoot));
  TenonCall(TenonDTensorCreate(root, TENON_FLOAT64, &whole));
  for (i = 0; i < kFields; ++i)
    TenonCall(Gather(c, toRoot, whole, fields[i], cells[i]));
  if (rank == 0)
    TenonCall(Draw(name, time, cells));
  TenonCall(TenonDTensorDestroy(&whole));
  TenonCall(TenonLinearOpDestroy(&toRoot));
  TenonCall(TenonLayoutDestroy(&root));
  return TENON_SUCCESS;
}
