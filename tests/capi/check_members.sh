#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_members.sh PYTHON SOURCE SCRATCH
# The committed members of tenon.hpp are those that generate.py makes from the headers. A declaration of which it does
# not know what it becomes in C++ ends it with a message that names the function.
set -euo pipefail
python=$1 source=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/include"
export PYTHONDONTWRITEBYTECODE=1
generate=$source/src/interfaces/cxx/generate.py
"$python" "$generate" "$source/include" "$scratch/made" "$scratch/every_member.cpp"
if ! diff -r "$source/include/tenon/cxx/generated" "$scratch/made" >"$scratch/difference" ||
  ! diff "$source/tests/capi/every_member.cpp" "$scratch/every_member.cpp" >>"$scratch/difference"; then
  head -n 20 "$scratch/difference"
  echo "fault: the members of tenon.hpp are not what the headers give; run: src/interfaces/cxx/generate.py" \
    "include include/tenon/cxx/generated tests/capi/every_member.cpp"
  exit 1
fi

# refused WORDS < DECLARATION: the generator ends with a message that has the words.
refused() {
  {
    echo 'typedef struct TenonObject_s* TenonObject;'
    echo 'typedef struct TenonLayer_s* TenonLayer;'
    cat
  } >"$scratch/include/odd.h"
  local said
  if said=$("$python" "$generate" "$scratch/include" "$scratch/odd" "$scratch/odd.cpp" 2>&1) ||
    [[ $said != *TenonLayer*$1* ]]; then
    printf 'fault: not refused with "%s":\n%s\nThe script says:\n%s\n' "$1" "$(cat "$scratch/include/odd.h")" "$said"
    exit 1
  fi
}
refused 'cannot read the argument' <<'HEADER'
/** @brief Does something.
 *  @param[in] layer  layer
 *  @param[in] value  an argument of a type that no rule knows */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, long double value) TENON_NOEXCEPT;
HEADER
refused 'no kind for the argument values' <<'HEADER'
/** @brief Does something.
 *  @param[in] layer   layer
 *  @param[in] values  [2] truth values, of which C++ has no list */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, const TenonBool values[]) TENON_NOEXCEPT;
HEADER
refused 'no argument tells the length "some"' <<'HEADER'
/** @brief Does something.
 *  @param[in] layer   layer
 *  @param[in] values  [some] numbers */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, const int values[]) TENON_NOEXCEPT;
HEADER
refused 'neither "new ..." nor' <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] other  layer of which nobody knows who destroys it */
TENON_EXTERN TenonErrorCode TenonLayerGetOther(TenonLayer layer, TenonLayer* other) TENON_NOEXCEPT;
HEADER
refused 'changed in place' <<'HEADER'
/** @brief Does something.
 *  @param[in]     layer  layer
 *  @param[in,out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
refused 'default is taken or a keyword' <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetDefault(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
refused 'is TenonLayerGetSize already' <<'HEADER'
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
refused 'is TenonObjectGetSize already' <<'HEADER'
/** @brief Returns something.
 *  @param[in]  object  object
 *  @param[out] value   number */
TENON_EXTERN TenonErrorCode TenonObjectGetSize(TenonObject object, int* value) TENON_NOEXCEPT;
/** @brief Returns something.
 *  @param[in]  layer  layer
 *  @param[out] value  number */
TENON_EXTERN TenonErrorCode TenonLayerGetSize(TenonLayer layer, int* value) TENON_NOEXCEPT;
HEADER
