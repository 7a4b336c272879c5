/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts and ends Tenon, from C. */
#include <stddef.h>
#include <tenon.h>

int main(int argc, char** argv) {
  if (TenonInitialize(&argc, &argv, NULL) != TENON_SUCCESS)
    return 1;
  return TenonFinalize() == TENON_SUCCESS ? 0 : 1;
}
