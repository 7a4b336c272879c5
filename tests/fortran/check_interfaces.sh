#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_interfaces.sh PYTHON SOURCE SCRATCH
# The page with the calls of the Fortran module is that which the headers give. An argument that the generator does not know
# ends it with a message that names the function.
set -euo pipefail
python=$1 source=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/include"
export PYTHONDONTWRITEBYTECODE=1
"$python" "$source/src/fortran/page.py" "$source/include" "$scratch/calls.md"
if ! diff "$source/doc/fortran_calls.md" "$scratch/calls.md" >"$scratch/difference"; then
  head -n 20 "$scratch/difference"
  echo "fault: doc/fortran_calls.md is not what the headers give; run:" \
    "src/fortran/page.py include doc/fortran_calls.md"
  exit 1
fi
# Rows known from elsewhere: an optional argument goes behind the others, one written by hand, and one with lists.
for call in 'tenon_layer_test_adjoint(layer, seed [, x] [, tangent] [, adjoint] [, relative])' \
  'tenon_place(x, interior(..) [, array(..)] [, order(:)])' 'tenon_initialize([help])' \
  'tenon_layout_create_from_boxes(comm, low(:), high(:), layout [, shape(:)])'; do
  if ! grep -qF "| \`$call\` |" "$scratch/calls.md"; then
    echo "fault: no row of doc/fortran_calls.md is $call"
    exit 1
  fi
done

cat >"$scratch/include/odd.h" <<'HEADER'
typedef struct TenonObject_s* TenonObject;
/** @brief Does something.
 *  @param[in] value  an argument of a type that no rule knows */
TENON_EXTERN TenonErrorCode TenonOddCall(long double value) TENON_NOEXCEPT;
HEADER
if said=$("$python" "$source/src/fortran/generate.py" "$scratch/include" "$scratch/odd" 2>&1) ||
  [[ $said != *TenonOddCall* ]]; then
  printf 'fault: an argument that is not known passes; the script says:\n%s\n' "$said"
  exit 1
fi
