/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows as in flow.h. Coefficients [1, 1, orders, degrees, 2] are set and read by their order and
 * degree on each process. */
#include "flow.h"

#include <math.h>

enum { kWaveDegree = 5, kWaveOrder = 4, kLowest = 2, kHighest = 8 };

static const double kPi = 3.14159265358979323846, kRotation = 6.28318530717958647692;
static const double kSolidBody = 0.3; /* rotation of all air, relative to the ground */

/* The real and the imaginary part of one coefficient. */
typedef void (*Coefficient)(TenonInt m, TenonInt l, const double* setting, double parts[2]);

static TenonErrorCode Fill(const Solver* s, Coefficient coefficient, const double* setting,
                           TenonDTensor z) {
  TenonInt place, l;
  void* array;

  TenonCall(TenonDTensorGetArray(z, TENON_FLOAT64, &array));
  for (place = 0; place < s->count; ++place)
    for (l = 0; l < s->degrees; ++l) {
      double* parts = (double*)array + 2 * (place * s->degrees + l);
      const TenonInt m = s->order[s->low + place];

      parts[0] = parts[1] = 0;
      if (l >= m)
        coefficient(m, l, setting, parts);
      if (m == 0)
        parts[1] = 0; /* order 0 is real */
    }
  TenonCall(TenonDTensorRestoreArray(z, &array));
  return TENON_SUCCESS;
}

/* The harmonic moves with an angular velocity that depends on its degree. */
static void WaveCoefficient(TenonInt m, TenonInt l, const double* time, double parts[2]) {
  const double speed =
      kSolidBody - 2 * (kRotation + kSolidBody) / (kWaveDegree * (kWaveDegree + 1));
  const double phase = -kWaveOrder * speed * *time;

  if (m == 0 && l == 1)
    parts[0] = 2 * kSolidBody * sqrt(4 * kPi / 3);
  if (m == kWaveOrder && l == kWaveDegree) {
    parts[0] = 0.7 * cos(phase) + 0.2 * sin(phase);
    parts[1] = 0.7 * sin(phase) - 0.2 * cos(phase);
  }
}

static void StartCoefficient(TenonInt m, TenonInt l, const double* number, double parts[2]) {
  const double phase =
      1.7 * (double)(l * l) + 2.3 * (double)m + 3.1 * *number * (double)(l + m + 1);

  if (l < kLowest || l > kHighest)
    return;
  parts[0] = 0.6 * cos(phase);
  parts[1] = 0.6 * sin(phase);
}

TenonErrorCode FlowWave(const Solver* s, double time, TenonDTensor z) {
  return Fill(s, WaveCoefficient, &time, z);
}

TenonErrorCode FlowStart(const Solver* s, int number, TenonDTensor z) {
  const double setting = number;

  return Fill(s, StartCoefficient, &setting, z);
}

/* |v|^2 / 2 integrated over the sphere is the sum of |z|^2 / (2 l (l + 1)), where m > 0 counts for
 * m < 0 too. */
TenonErrorCode FlowEnergy(const Solver* s, TenonDTensor z, double energy[]) {
  const void* array;
  TenonInt place, l;

  for (l = 0; l < s->degrees; ++l)
    energy[l] = 0;
  TenonCall(TenonDTensorGetArrayRead(z, TENON_FLOAT64, &array));
  for (place = 0; place < s->count; ++place)
    for (l = 1; l < s->degrees; ++l) {
      const double* parts = (const double*)array + 2 * (place * s->degrees + l);
      const double times = s->order[s->low + place] == 0 ? 1 : 2;

      energy[l] +=
          times * (parts[0] * parts[0] + parts[1] * parts[1]) / (2. * (double)(l * (l + 1)));
    }
  TenonCall(TenonDTensorRestoreArrayRead(z, &array));
  MPI_Allreduce(MPI_IN_PLACE, energy, (int)s->degrees, MPI_DOUBLE, MPI_SUM, s->comm);
  return TENON_SUCCESS;
}

/* To the points and back with fewer degrees. */
TenonErrorCode FlowCreateTruncation(const Solver* s, TenonInt degrees, TenonLayer* layer) {
  const TenonInt size[2] = {s->rows, s->columns};
  TenonLayer part;

  TenonCall(TenonLayerCreateSequential(s->comm, layer));
  TenonCall(TenonLayerCreateType(s->comm, "inversesht", &part));
  TenonCall(TenonObjectSetIntegers((TenonObject)part, "degrees", 1, &s->degrees));
  TenonCall(TenonObjectSetIntegers((TenonObject)part, "size", 2, size));
  TenonCall(TenonLayerSequentialAdd(*layer, part));
  TenonCall(TenonLayerDestroy(&part));
  TenonCall(TenonLayerCreateType(s->comm, "sht", &part));
  TenonCall(TenonObjectSetIntegers((TenonObject)part, "degrees", 1, &degrees));
  TenonCall(TenonLayerSequentialAdd(*layer, part));
  TenonCall(TenonLayerDestroy(&part));
  TenonCall(TenonLayerSetDataType(*layer, TENON_FLOAT64));
  TenonCall(TenonLayerSetUp(*layer, s->spectral));
  TenonCall(TenonLayerSetTraining(*layer, TENON_FALSE));
  return TENON_SUCCESS;
}
