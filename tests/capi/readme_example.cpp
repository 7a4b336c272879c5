// SPDX-License-Identifier: BSD-2-Clause
// The README's example compiles as C++ as well.
#include "readme_example.c"
